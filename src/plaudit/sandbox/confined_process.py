"""A confined process from outside: its protections, its limits, its descriptors, and the host that can end it.

Tiers are detected by trial, not from the version of the kernel. The system-call filter alone already denies every path,
socket and process; Landlock and namespaces are second and third protections behind it.

Processor time is what counts; `wall_s` is only a backstop, since on a busy machine a clock on the wall turns right
answers into wrong ones. Both apply to each load and each call, not to all of them together.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from plaudit.errors import InvalidSettings

ADD_SEALS, SEALS = 1033, 0b1111  # no writing, growing, shrinking or further sealing; Python names these on Linux only


class Tier(IntEnum):
    """Kinds of protection, weakest first; a higher tier has those below it as well."""

    NONE = 0
    SECCOMP = 1
    LANDLOCK = 2
    NAMESPACES = 3

    @property
    def label(self) -> str:
        """The tier in words."""
        return ("none", "seccomp", "Landlock + seccomp", "namespaces + Landlock + seccomp")[self]


@dataclass(frozen=True, slots=True)
class Protection:
    """One protection: active or not, and what was seen when it was tried."""

    name: str
    active: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Protections:
    """Every protection around the programs of one server."""

    confinement: tuple[Protection, ...]

    def active(self, name: str) -> bool:
        """Whether the protection of that name is active."""
        return any(one.name == name and one.active for one in self.confinement)

    @property
    def tier(self) -> Tier:
        """The highest tier that is active with all below it."""
        names = ("seccomp", "Landlock", "namespaces")
        return Tier(next((level for level, name in enumerate(names) if not self.active(name)), len(names)))


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one program: seconds per load or call, address space, bytes printed, bytes returned, scratch space.

    With `scratch_mb` the working directory is an empty folder for so many MiB, in 1,023 files at most.
    """

    cpu_s: float = 2.0
    wall_s: float = 10.0
    memory_mb: int = 512
    output_bytes: int = 16 << 20
    result_bytes: int = 16 << 20
    scratch_mb: int = 0

    def __post_init__(self) -> None:
        for name in ("cpu_s", "wall_s", "memory_mb", "output_bytes", "result_bytes"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InvalidSettings(f"{name} must be a positive number, got {getattr(self, name)!r}")
        if self.scratch_mb < 0:
            raise InvalidSettings(f"scratch_mb must be 0 (no scratch space) or more, got {self.scratch_mb!r}")
        if self.wall_s < self.cpu_s:
            raise InvalidSettings(f"wall_s={self.wall_s:g} would end a program before cpu_s={self.cpu_s:g} does")


@dataclass(frozen=True, slots=True)
class LockedProcess:
    """A confined process that waits for its program, as descriptors of ours and its number at its host."""

    channel: int
    process: int
    stdin: int
    stdout: int
    stderr: int
    number: int

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them, in the order in which they are handed over."""
        return (self.channel, self.process, self.stdin, self.stdout, self.stderr)

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def write_sealed(descriptor: int, content: bytes) -> None:
    """Write content to a file in memory, which cannot be changed any more."""
    left, offset = memoryview(content), 0
    while left:
        written = os.pwrite(descriptor, left, offset)
        left, offset = left[written:], offset + written
    fcntl.fcntl(descriptor, ADD_SEALS, SEALS)


class ProcessHost(Protocol):
    """The owner of confined processes: a server, or, for a judge, the client that the judge works for."""

    tier: Tier
    clock_is_local: bool  # whether reading the clock costs next to nothing

    @property
    def lost(self) -> bool:
        """Whether it can take no further requests."""

    def end(self, process: LockedProcess) -> None:
        """Kill a process, and have it reaped."""

    def exit_code_of(self, process: LockedProcess) -> int:
        """The exit code of a dead process, or minus the number of the signal that killed it."""

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        """A function that gives the processor seconds that a process has used."""


class Budget:
    """The time limit of a whole verdict on the wall clock; programs that use the processor get more."""

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
