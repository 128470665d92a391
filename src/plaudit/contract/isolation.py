"""What keeps calls apart: copies of their samples, and process settings that are put back after each."""

import _signal  # type: ignore[import-not-found]  # signal.getsignal makes an enum member of what it returns
import contextlib
import os
import signal
import sys
import threading
import time
from copy import deepcopy
from typing import Any

from msgspec.structs import force_setattr

from plaudit.trajectory import Trajectory

__all__ = ["ProcessState", "copy_plain", "own_copy"]

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


_SIGNALS = tuple(getattr(signal, name) for name in ("SIGALRM", "SIGCHLD", "SIGINT", "SIGTERM") if hasattr(signal, name))


class ProcessState:
    """Working folder, recursion limit, signal handlers and alarm, as they were when this was made."""

    def __init__(self) -> None:
        self._folder = _folder()
        self._depth = sys.getrecursionlimit()
        self._handlers = [_signal.getsignal(number) for number in _SIGNALS]
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        self._alarm_at = time.monotonic() + left if left else None

    def restore(self) -> None:
        """Put back what has changed, but for signal handlers."""
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        left, now_left = 0.0, signal.getitimer(signal.ITIMER_REAL)[0]
        if self._alarm_at is not None:
            left = max(LEAST_S, self._alarm_at - time.monotonic())
        if now_left if self._alarm_at is None else abs(now_left - left) > LEAST_S:
            signal.setitimer(signal.ITIMER_REAL, left)  # the function has set or stopped the alarm
        if _folder() != self._folder and self._folder is not None:
            with contextlib.suppress(OSError):  # it was removed
                os.chdir(self._folder)

    def restore_handlers(self) -> None:
        """Put back signal handlers; looking at them takes longer than a quick function."""
        for number, handler in zip(_SIGNALS, self._handlers, strict=True):
            if _signal.getsignal(number) is not handler and handler is not None and _is_main_thread():
                signal.signal(number, handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
