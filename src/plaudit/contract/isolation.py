"""Isolation of calls: copies of their samples, a separate context, and process settings that are restored."""

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from _locale import LC_ALL, setlocale  # public modules take long to import
from _signal import ITIMER_REAL, getitimer, getsignal  # type: ignore[import-not-found]  # signal's make enum members
from _socket import getdefaulttimeout, setdefaulttimeout
from collections.abc import Callable
from contextvars import copy_context
from copy import deepcopy
from decimal import getcontext, setcontext
from gc import disable, enable, isenabled
from os import getcwd
from sys import get_int_max_str_digits, getrecursionlimit
from typing import Any

from msgspec.structs import force_setattr

from plaudit.contract.calling import await_value
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory

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
    """A copy that shares no container with the sample, so changes by a function stay in the copy."""
    copied: Trajectory = trajectory.__copy__()  # type: ignore[attr-defined]  # of every msgspec.Struct
    try:
        force_setattr(copied, "metadata", copy_plain(trajectory.metadata) if trajectory.metadata else {})
        force_setattr(copied, "columns", copy_plain(trajectory.columns) if trajectory.columns else {})
        if type(trajectory.prompt) is not str:
            force_setattr(copied, "prompt", copy_plain(trajectory.prompt))
        if type(trajectory.ground_truth) is not str:
            force_setattr(copied, "ground_truth", copy_plain(trajectory.ground_truth))
        force_setattr(copied, "steps", copy_plain(trajectory.steps) if trajectory.steps else [])
        if trajectory.tokens is not None:
            force_setattr(copied, "tokens", copy_plain(trajectory.tokens))
    except RecursionError:
        raise InvalidTrajectory("the sample holds data that is nested too deeply, or that holds itself") from None
    return copied


def call_in_context(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a sync function in a separate context with its own decimal context; awaited if needed."""
    context = copy_context()
    for variable in context:
        if variable.name == "decimal_context":  # absent until this thread uses decimals: each call then makes its own
            context.run(own_decimal_context)
    value = context.run(function, *arguments)
    return value if type(value) is float else context.run(await_value, value)


def own_decimal_context() -> None:
    """Replace the decimal context by a copy: contexts that were copied share the object with the code around them."""
    setcontext(getcontext().copy())


_SIGNALS = (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGVTALRM)
_HANDLED = tuple(map(int, _SIGNALS))
_CPU_TIMERS = (signal.ITIMER_PROF, signal.ITIMER_VIRTUAL)
_ENVIRONMENT: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]  # os.environ takes long to compare


def _alarm_time() -> float | None:
    """The time at which the alarm fires, if one is set."""
    seconds = getitimer(ITIMER_REAL)[0]
    return time.monotonic() + seconds if seconds else None


def compute_gradients(wanted: bool = True) -> None:
    """Set torch's gradient mode of this thread, if torch is imported; while it is, it has no types yet."""
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "float32"):
        torch.set_grad_enabled(wanted)


def _settings() -> tuple[Any, ...]:
    """Settings of Python, the locale, and torch's gradient mode and default type: None until torch is imported."""
    torch: Any = sys.modules.get("torch")
    tensors = (torch.is_grad_enabled(), torch.get_default_dtype()) if hasattr(torch, "float32") else (None, None)
    return getrecursionlimit(), get_int_max_str_digits(), getdefaulttimeout(), isenabled(), setlocale(LC_ALL), *tensors


class ProcessState:
    """The settings of the process that a function may change, as they were when this was made."""

    _folder = ""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._alarm_at = _alarm_time()
        self._handlers = tuple(map(getsignal, _HANDLED))
        with contextlib.suppress(OSError):  # it was removed
            self._folder = getcwd()
        self._environment = _ENVIRONMENT.copy()
        self._import_path = list(sys.path)
        self._cpu_timers = [getitimer(each)[0] > 0.0 for each in _CPU_TIMERS]
        self._thread, self._settings = threading.get_ident(), _settings()
        self._filters = list(warnings.filters)
        self._streams = sys.stdin, sys.stdout, sys.stderr

    def restore(self) -> None:
        """Put back what has changed. It is called after every sample, so it looks before it writes.

        A process that the function forked, and that came back from the call, ends here: only its parent goes on.
        """
        if os.getpid() != self._process:
            os._exit(_exit_code(sys.exception()))
        if getitimer(ITIMER_REAL)[0] or self._alarm_at is not None:
            self._restore_alarm()  # first: it must not ring while the other settings are put back
        if tuple(map(getsignal, _HANDLED)) != self._handlers:
            self._restore_handlers()
        try:
            folder = getcwd()
        except OSError:  # it was removed
            folder = ""
        if folder != self._folder and os.path.isdir(self._folder):
            os.chdir(self._folder)
        if self._environment != _ENVIRONMENT:
            self._restore_environment()
        if _settings() != self._settings:
            self._restore_settings()
        if sys.path != self._import_path:
            sys.path[:] = self._import_path
        if warnings.filters != self._filters:
            warnings.resetwarnings()  # Python forgets what it decided by the filters
            warnings.filters[:] = self._filters  # type: ignore[index]  # a list, which typeshed calls a sequence
        if (sys.stdin, sys.stdout, sys.stderr) != self._streams:
            sys.stdin, sys.stdout, sys.stderr = self._streams

    def _restore_alarm(self) -> None:
        now, then = _alarm_time(), self._alarm_at
        if now is None and then is not None and then <= time.monotonic():
            self._alarm_at = None  # it has rung
        elif now is None or then is None or abs(now - then) > LEAST_S:
            signal.setitimer(ITIMER_REAL, 0.0 if then is None else max(LEAST_S, then - time.monotonic()))

    def _restore_handlers(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread can set handlers, so this call has not
        for timer, was_running in zip(_CPU_TIMERS, self._cpu_timers, strict=True):
            if not was_running:
                signal.setitimer(timer, 0.0)  # before its handler goes: without one its signal ends the process
        for number, handler in zip(_HANDLED, self._handlers, strict=True):
            if handler is not None:  # one that was not set by Python
                signal.signal(number, handler)

    def _restore_environment(self) -> None:
        for name in _ENVIRONMENT.keys() - self._environment.keys():
            del os.environb[name]
        os.environb.update(self._environment)
        time.tzset()

    def _restore_settings(self) -> None:
        depth, digits, timeout_s, collects, rules, gradients, kind = self._settings
        torch: Any = sys.modules.get("torch")
        sys.setrecursionlimit(depth)
        sys.set_int_max_str_digits(digits)
        setdefaulttimeout(timeout_s)
        (enable if collects else disable)()
        setlocale(LC_ALL, rules)
        if hasattr(torch, "float32"):  # a call may have imported it
            gradients, kind = (True, torch.float32) if kind is None else (gradients, kind)
            compute_gradients(gradients or threading.get_ident() != self._thread)
            torch.set_default_dtype(kind)
            self._settings = *self._settings[:-2], gradients, kind


def _exit_code(error: BaseException | None) -> int:
    """The exit code of a process that ends with this exception."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return int(error is not None)
