"""How a run reports its progress, and how a signal asks it to stop."""

import signal
import threading
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any, Protocol

__all__ = ["NoProgress", "Progress", "StopSignals"]


class Progress(Protocol):
    """Receives the events of a run: the command line draws them, a notebook may plot them. It changes nothing."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken; step 0 is the evaluation before the first."""

    def note(self, text: str) -> None:
        """Something else that the user should know."""


class NoProgress:
    """Reports nothing."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        pass

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class StopSignals:
    """SIGTERM and Ctrl-C end a run after the step it is at, with a checkpoint; a second Ctrl-C ends it at once.

    While entered in the main thread, the signals only set `requested_by`.
    """

    def __init__(self) -> None:
        self.requested_by: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested_by is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested_by = signal.Signals(number).name
