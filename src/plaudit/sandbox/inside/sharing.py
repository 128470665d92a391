"""Read what a server has mapped, and gather its memory in large pages, which forks share some ten times faster.

What is written is still copied in pages of 4 KiB. Where the kernel does not allow it, nothing is lost.
"""

import contextlib
import os
from dataclasses import dataclass

from plaudit.sandbox.inside.layout import LARGE_PAGE, end_layout
from plaudit.sandbox.inside.walls.kernel import Kernel

__all__ = ["Mapping", "gather_pages", "open_map", "read_mappings"]

READ, WRITE, EXECUTE = 1, 2, 4
BITS = {"r": READ, "w": WRITE, "x": EXECUTE}


@dataclass(frozen=True, slots=True)
class Mapping:
    """One private mapping, of a file where it has a path."""

    start: int
    end: int
    protection: int
    path: str

    @property
    def length(self) -> int:
        return self.end - self.start


def open_map() -> int:
    """A descriptor by which this process can read its mappings when it can open no file any more."""
    return os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)


def gather_pages(kernel: Kernel, descriptor: int) -> None:
    """Move memory into large pages, as told by what `open_map` gave, which is closed."""
    end_layout()
    with open(descriptor) as file:
        mappings = read_mappings(file.readlines())
    for mapping in mappings:
        if mapping.protection & WRITE and not mapping.path.startswith("/"):
            first, end = -(-mapping.start // LARGE_PAGE), mapping.end // LARGE_PAGE
            for page in range(first, end):
                with contextlib.suppress(OSError):  # an old kernel, or no large page to be had
                    kernel.gather(page * LARGE_PAGE, LARGE_PAGE)


def read_mappings(lines: list[str]) -> list[Mapping]:
    """The private mappings that the kernel tells of, in order."""
    parts = [[*line.split(maxsplit=5), ""][:6] for line in lines]
    return [_read_mapping(place, modes, path.strip()) for place, modes, _, _, _, path in parts if modes[3] == "p"]


def _read_mapping(place: str, modes: str, path: str) -> Mapping:
    start, end = place.split("-")
    return Mapping(int(start, 16), int(end, 16), sum(BITS.get(letter, 0) for letter in modes), path)
