"""Make forks of the server cheap: fewer mappings, and page tables that hold what programs use.

A fork copies every mapping, and an exit takes each apart again. Shared libraries come in five mappings each that differ
in protection alone; two do as well, since a program's process guards nothing from its own program. Where the kernel
does not allow it, nothing is lost.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from plaudit.sandbox.inside.walls.kernel import Kernel

__all__ = ["share_code"]

HOT = ("libpython", "bin/python", "libc.so", "libc-", "_ctypes", "libffi", "_json", "ld-linux")
READ, WRITE, EXECUTE = 1, 2, 4
BITS = {"r": READ, "w": WRITE, "x": EXECUTE}


@dataclass(frozen=True, slots=True)
class Mapping:
    """One private mapping of a file."""

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
        lines = [line.split(maxsplit=5) for line in file]
    return [
        _mapping(place, modes, path)
        for place, modes, *_, path in (line for line in lines if len(line) == 6)
        if modes[3] == "p" and path.startswith("/")
    ]


def _mapping(place: str, modes: str, path: str) -> Mapping:
    start, end = place.split("-")
    return Mapping(int(start, 16), int(end, 16), sum(BITS.get(letter, 0) for letter in modes), path)
