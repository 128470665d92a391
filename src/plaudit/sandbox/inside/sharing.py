"""Make forks of the server cheap: fewer mappings, page tables that hold what programs use, and memory in large pages.

A fork copies every mapping, and an exit takes each apart again. Shared libraries come in five mappings each that differ
in protection alone; two do as well, since a program's process guards nothing from its own program. Memory in pages of
2 MiB is shared some ten times faster; what is written is still copied in pages of 4 KiB. Where the kernel does not
allow it, nothing is lost.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from plaudit.sandbox.inside.layout import LARGE_PAGE, end_layout
from plaudit.sandbox.inside.walls.kernel import Kernel

__all__ = ["gather_pages", "open_map", "share_code"]

HOT = ("libpython", "bin/python", "libc.so", "libc-", "_ctypes", "libffi", "_json", "ld-linux")
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


def share_code(kernel: Kernel, warm_up: Callable[[], None]) -> None:
    """Join the mappings of each library, and have forks copy the page tables of what `warm_up` runs through."""
    with contextlib.suppress(OSError):  # a kernel that forbids changing code
        _join(kernel)
    code = [mapping for mapping in _mappings() if mapping.protection == READ | EXECUTE]
    for mapping in code:
        with contextlib.suppress(OSError):
            kernel.forget_pages(mapping.start, mapping.length)
    warm_up()
    for mapping in code:
        if any(name in mapping.path for name in HOT):
            with contextlib.suppress(OSError):
                kernel.copy_page_table_at_fork(mapping.start, mapping.length, mapping.protection)


def open_map() -> int:
    """A descriptor by which this process can read its mappings when it can open no file any more."""
    return os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)


def gather_pages(kernel: Kernel, descriptor: int) -> None:
    """Move memory into large pages, as told by what `open_map` gave, which is closed."""
    end_layout()
    with open(descriptor) as file:
        mappings = _read_mappings(file.readlines())
    for mapping in mappings:
        if mapping.protection == READ | WRITE and not mapping.path.startswith("/"):
            first, end = -(-mapping.start // LARGE_PAGE), mapping.end // LARGE_PAGE
            for page in range(first, end):
                with contextlib.suppress(OSError):  # an old kernel, or no large page to be had
                    kernel.gather(page * LARGE_PAGE, LARGE_PAGE)


def _join(kernel: Kernel) -> None:
    """Neighbours that hold constants or code become code, those that hold data become data: the kernel joins them."""
    mappings = _mappings()
    for before, after in pairwise(mappings):
        if before.protection == READ and before.path == after.path and before.end == after.start:
            is_data = after.protection & WRITE
            kernel.protect(before.start, before.length, READ | WRITE if is_data else READ | EXECUTE)


def _mappings() -> list[Mapping]:
    """The private mappings of files of this process, in order."""
    with open("/proc/self/maps") as file:
        mappings = _read_mappings(file.readlines())
    return [mapping for mapping in mappings if mapping.path.startswith("/")]


def _read_mappings(lines: list[str]) -> list[Mapping]:
    """The private mappings that the kernel tells of, in order."""
    parts = [[*line.split(maxsplit=5), ""][:6] for line in lines]
    return [_read_mapping(place, modes, path.strip()) for place, modes, _, _, _, path in parts if modes[3] == "p"]


def _read_mapping(place: str, modes: str, path: str) -> Mapping:
    start, end = place.split("-")
    return Mapping(int(start, 16), int(end, 16), sum(BITS.get(letter, 0) for letter in modes), path)
