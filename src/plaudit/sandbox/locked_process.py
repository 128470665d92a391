"""A locked-down process as whoever uses it sees it: descriptors, and somebody who can end it and tell its time."""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.tiers import Tier

__all__ = ["Budget", "LockedProcess", "ProcessHost"]


@dataclass(frozen=True, slots=True)
class LockedProcess:
    """A process that waits for its program, as descriptors of ours and a number in its host's eyes."""

    channel: int
    process: int
    stdin: int
    stdout: int
    stderr: int
    number: int

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them, in the order in which they are handed on."""
        return (self.channel, self.process, self.stdin, self.stdout, self.stderr)

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)


class ProcessHost(Protocol):
    """Who holds locked-down processes: a server, or for a judge the client it works for."""

    tier: Tier

    @property
    def lost(self) -> bool:
        """Whether nothing can be asked of it any more."""

    def end(self, process: LockedProcess, limits: RunLimits) -> None:
        """Kill a process, and have it buried."""

    def ending_of(self, process: LockedProcess) -> int:
        """How a process that is dead ended: its exit code, or minus the signal that killed it."""

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        """A function that tells the processor seconds that a process has used."""

    clock_is_near: bool  # whether asking the clock costs next to nothing


class Budget:
    """How long a whole verdict may take on the wall; programs that really compute get more."""

    FACTOR = 10.0  # of the processor time used: a busy machine must not turn right answers wrong

    def __init__(self, wall_s: float = float("inf"), used_s: Callable[[], float] = lambda: 0.0) -> None:
        self._end, self._used_s = time.monotonic() + wall_s, used_s
        self._extended = 0.0

    def left_s(self) -> float:
        """The seconds that are left."""
        left = self._end + self._extended - time.monotonic()
        if left <= 0:
            self._extended = self.FACTOR * self._used_s()
            left = self._end + self._extended - time.monotonic()
        return left
