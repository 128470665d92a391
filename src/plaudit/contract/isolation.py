"""What keeps calls apart: copies of their samples, a context of their own, and process settings that are put back."""

import os
import signal
import sys
import threading
import time
import warnings
from _locale import LC_ALL, setlocale  # these modules are in C; the public ones take long to import
from _signal import ITIMER_REAL, getitimer, getsignal  # type: ignore[import-not-found]  # signal's make enum members
from _socket import getdefaulttimeout, setdefaulttimeout
from collections.abc import Callable, Sequence
from contextvars import copy_context
from copy import copy, deepcopy
from decimal import getcontext, setcontext
from sys import get_int_max_str_digits, getrecursionlimit
from typing import Any

from msgspec.structs import force_setattr

from plaudit.trajectory import Trajectory

__all__ = ["ProcessState", "call_in_context", "copy_plain", "own_copy", "own_decimal_context"]

LEAST_S = 0.05
_UNCHANGEABLE = frozenset({str, int, float, bool, bytes, complex, type(None)})


def copy_plain(value: Any) -> Any:
    """A copy of lists, tuples, dicts and other values at any depth; what cannot be copied (a lock) is shared."""
    kind = type(value)
    if kind in _UNCHANGEABLE:
        return value
    if kind is dict:
        return {key: item if type(item) in _UNCHANGEABLE else copy_plain(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in _UNCHANGEABLE else copy_plain(item) for item in value]
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 - objects of any class refuse in their own way
        return value


def own_copy(trajectory: Trajectory) -> Trajectory:
    """A copy that shares no container with the sample: what a function changes in it is seen by nobody else."""
    copied: Trajectory = trajectory.__copy__()  # type: ignore[attr-defined]  # of every msgspec.Struct
    force_setattr(copied, "metadata", copy_plain(trajectory.metadata) if trajectory.metadata else {})
    force_setattr(copied, "columns", copy_plain(trajectory.columns) if trajectory.columns else {})
    if type(trajectory.prompt) is not str:
        force_setattr(copied, "prompt", copy_plain(trajectory.prompt))
    if type(trajectory.ground_truth) is not str:
        force_setattr(copied, "ground_truth", copy_plain(trajectory.ground_truth))
    if trajectory.steps or trajectory.tokens is not None:
        force_setattr(copied, "steps", copy_plain(trajectory.steps))
        force_setattr(copied, "tokens", copy_plain(trajectory.tokens))
    return copied


def call_in_context(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a sync function with context variables of its own, as every async task has, and a decimal context."""
    return copy_context().run(_call, function, *arguments)


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    setcontext(getcontext().copy())
    return function(*arguments)


def own_decimal_context() -> None:
    """Give this task a copy of its decimal context: tasks share the object with the code that started them."""
    setcontext(getcontext().copy())


class _Moment(float):
    """A time that is compared with a tolerance."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Moment) and abs(self - other) < LEAST_S

    __hash__ = float.__hash__


_ALARM, _CHILD, _INTERRUPT, _TERMINATE = map(int, (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM))
_ENVIRONMENT: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]  # os.environ takes long to compare


def _read_settings() -> tuple[Any, ...]:
    """The settings that a function may change, in the order of `_WRITERS`. They are read after every call."""
    seconds = getitimer(ITIMER_REAL)[0]
    return (
        _Moment(time.monotonic() + seconds) if seconds else None,
        (getsignal(_ALARM), getsignal(_CHILD), getsignal(_INTERRUPT), getsignal(_TERMINATE)),
        _read_folder(),
        _ENVIRONMENT,
        sys.path,
        getrecursionlimit(),
        get_int_max_str_digits(),
        setlocale(LC_ALL),
        getdefaulttimeout(),
        warnings.filters,
        (sys.stdin, sys.stdout, sys.stderr),
    )


def _read_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _set_folder(folder: str) -> None:
    if os.path.isdir(folder):
        os.chdir(folder)


def _set_alarm(rings_at: float | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.0 if rings_at is None else max(LEAST_S, rings_at - time.monotonic()))


def _set_handlers(handlers: tuple[Any, ...]) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread can set handlers, so this call has not
    for number, handler in zip((_ALARM, _CHILD, _INTERRUPT, _TERMINATE), handlers, strict=True):
        if handler is not None:  # one that was not set by Python
            signal.signal(number, handler)


def _set_environment(values: dict[bytes, bytes]) -> None:
    for name in _ENVIRONMENT.keys() - values.keys():
        del os.environb[name]
    os.environb.update(values)
    time.tzset()


def _set_import_path(path: list[str]) -> None:
    sys.path[:] = path


def _set_warning_filters(filters: Sequence[Any]) -> None:
    warnings.resetwarnings()  # Python forgets what it decided by the filters
    warnings.filters[:] = filters  # type: ignore[index]  # a list, which typeshed calls a sequence


def _set_streams(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


_WRITERS: tuple[Callable[[Any], object], ...] = (
    _set_alarm,  # first: it must not ring while the other settings are put back
    _set_handlers,
    _set_folder,
    _set_environment,
    _set_import_path,
    sys.setrecursionlimit,
    sys.set_int_max_str_digits,
    lambda name: setlocale(LC_ALL, name),
    setdefaulttimeout,
    _set_warning_filters,
    _set_streams,
)


class ProcessState:
    """The settings of the process as they were when this was made."""

    def __init__(self) -> None:
        self._settings = tuple(map(copy, _read_settings()))

    def restore(self) -> None:
        """Put back what has changed."""
        now = _read_settings()
        if now != self._settings:
            for write, value, then in zip(_WRITERS, now, self._settings, strict=True):
                if value != then:
                    write(then)
