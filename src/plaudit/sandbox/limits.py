"""How much one program may use.

Processor time is what counts; `wall_s` is only a backstop, since on a busy machine a clock on the wall turns right
answers into wrong ones. Both hold for each load and each call, not for all of them together. Scratch space is off
unless asked for: with `scratch_mb`, the working directory is an empty folder for so many MiB, in 1,023 files at most.
"""

from dataclasses import dataclass

from plaudit.errors import InvalidSettings

__all__ = ["RunLimits"]


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one program: seconds per load or call, address space, bytes printed, bytes returned, scratch space."""

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
