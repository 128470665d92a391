"""Move libraries into memory of the server's own: one mapping in large pages where there were a hundred of files.

A fork copies every mapping and every small page, and an exit takes each apart again; of large pages there are few. All
bytes keep their addresses. What is moved can be read, written and executed, since a process of the sandbox guards
nothing from the program in it. Where this cannot be done, forks are slower and nothing else is lost.
"""

import os
import platform
from dataclasses import dataclass

from plaudit.sandbox.inside.layout import LARGE_PAGE
from plaudit.sandbox.inside.sharing import EXECUTE, READ, WRITE, Mapping, read_mappings
from plaudit.sandbox.inside.walls.kernel import MOVE_TO, Kernel

__all__ = ["move_libraries"]

LEAST, MOST = 1 << 20, 8 << 20  # of a region that is worth it, and of a library whose copy would take too much memory


@dataclass(slots=True)
class Region:
    """Memory without gaps that is to be moved."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def move_libraries(kernel: Kernel) -> None:
    """Put a copy in the place of every region that holds libraries."""
    if platform.machine() != "x86_64" or len(os.listdir("/proc/self/task")) > 1:
        return  # other processors want to be told of new code, other threads would write while it is copied
    try:
        for region in _regions(kernel):
            if region.length >= LEAST:
                _round_out(kernel, region)
                _replace(kernel, region)
    except (OSError, AttributeError):  # a kernel that forbids to change code, a C library without contexts
        return


def _regions(kernel: Kernel) -> list[Region]:
    """Libraries and the private memory between them; gaps are closed with empty memory."""
    regions: list[Region] = []
    with open("/proc/self/maps") as file:
        mappings = [mapping for mapping in read_mappings(file.readlines()) if _can_move(mapping)]
    for mapping in mappings:
        last = regions[-1] if regions else None
        if last and mapping.start - last.end < LARGE_PAGE and kernel.reserve(last.end, mapping.start):
            last.end = mapping.end
        else:
            regions.append(Region(mapping.start, mapping.end))
    return regions


def _can_move(mapping: Mapping) -> bool:
    """Whether it is a library, or memory without a name; the heap and the stack grow, and the kernel has its own."""
    is_library = mapping.path.startswith("/") and not mapping.path.endswith("(deleted)") and mapping.length <= MOST
    return bool(mapping.protection & READ) and (is_library or not mapping.path)


def _round_out(kernel: Kernel, region: Region) -> None:
    """Let a region begin and end where large pages do, if there is room."""
    start, end = region.start // LARGE_PAGE * LARGE_PAGE, -(-region.end // LARGE_PAGE) * LARGE_PAGE
    if kernel.reserve(start, region.start):
        region.start = start
    if kernel.reserve(region.end, end):
        region.end = end


def _replace(kernel: Kernel, region: Region) -> None:
    """Copy a region and put the copy in its place, without a step of Python between: its own data is in there."""
    start, length = region.start, region.length
    room = kernel.map_memory(length + LARGE_PAGE)
    copy = room + (start - room) % LARGE_PAGE
    kernel.prefer_large_pages(copy, length)
    kernel.protect(copy, length, READ | WRITE | EXECUTE)
    kernel.call_in_a_row(("memmove", copy, start, length), ("mremap", copy, length, length, MOVE_TO, start))
    kernel.unmap(room, copy - room)
    kernel.unmap(copy + length, room + LARGE_PAGE - copy)
