"""Move shared libraries into memory of the server's own: one mapping in large pages instead of a hundred of files.

A fork copies every mapping and every page-table entry, and an exit frees each; with large pages there are few. All
bytes keep their addresses. The pages become readable, writable and executable: the child is untrusted anyway. Where
this is not possible, forks are slower and nothing else changes.
"""

import ctypes
import os
from collections.abc import Sequence
from typing import Any

LEAST, MOST = 1 << 20, 8 << 20  # of a region that is worth it, and of a library whose copy would take too much memory
LARGE_PAGE = 1 << 21
READ, WRITE, EXECUTE = 1, 2, 4
MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_FAILED = 0x02, 0x20, 0x10_0000, (1 << 64) - 1
MADV_HUGEPAGE = 14
MREMAP_TO = 3  # of mremap: to an address, replacing what is there
CONTEXT, STACK = 1 << 13, 1 << 16  # bytes; a context is smaller than that wherever Linux runs
LINK, STACK_POINTER, STACK_LENGTH = 8, 16, 32  # offsets in a context: the next one, its stack, the length of that


def move_libraries() -> None:
    """Replace every region that holds libraries by a copy."""
    if os.uname().machine != "x86_64" or len(os.listdir("/proc/self/task")) > 1:
        return  # other processors need to be told of new code, other threads would write while it is copied
    try:
        memory = _Memory()
        for start, end in _regions(memory):
            if end - start >= LEAST:
                first, last = start // LARGE_PAGE * LARGE_PAGE, -(-end // LARGE_PAGE) * LARGE_PAGE
                _replace(
                    memory,
                    first if memory.reserve(first, start) else start,
                    last if memory.reserve(end, last) else end,
                )
    except (OSError, AttributeError):  # a kernel that forbids changing code, a C library without contexts
        return


def _regions(memory: "_Memory") -> list[tuple[int, int]]:
    """Libraries and the private memory between them; gaps are filled with empty memory."""
    regions: list[tuple[int, int]] = []
    with open("/proc/self/maps") as file:
        lines = [[*line.split(maxsplit=5), ""] for line in file]
    for addresses, modes, _, _, _, path, *_ in lines:
        start, end = (int(address, 16) for address in addresses.split("-"))
        if not _can_move(modes, path.strip(), end - start):
            continue
        if regions and start - regions[-1][1] < LARGE_PAGE and memory.reserve(regions[-1][1], start):
            regions[-1] = (regions[-1][0], end)
        else:
            regions.append((start, end))
    return regions


def _can_move(modes: str, path: str, length: int) -> bool:
    """Whether it is a library, or memory without a name; the heap and the stack grow, and the kernel has its own."""
    is_library = path.startswith("/") and not path.endswith("(deleted)") and length <= MOST
    return modes[0] == "r" and modes[3] == "p" and (is_library or not path)


def _replace(memory: "_Memory", start: int, end: int) -> None:
    """Copy a region and put the copy in its place, without a step of Python between: its own data is in there."""
    length = end - start
    room = memory.map(length + LARGE_PAGE)
    copy = room + (start - room) % LARGE_PAGE
    memory.call("madvise", copy, length, MADV_HUGEPAGE)
    memory.call("mprotect", copy, length, READ | WRITE | EXECUTE)
    memory.call_in_sequence([("memmove", copy, start, length), ("mremap", copy, length, length, MREMAP_TO, start)])
    for left, size in ((room, copy - room), (copy + length, room + LARGE_PAGE - copy)):
        if size:
            memory.call("munmap", left, size)


class _Memory:
    """The calls of the C library that map memory."""

    def __init__(self) -> None:
        self._c, self._bare = ctypes.CDLL(None, use_errno=True), ctypes.PyDLL(None)
        self._c.mmap.restype = ctypes.c_ulong

    def call(self, name: str, *arguments: int) -> None:
        """Call a function that gives 0 on success."""
        if getattr(self._c, name)(*map(ctypes.c_ulong, arguments)):
            raise OSError(ctypes.get_errno(), name)

    def map(self, length: int, start: int = 0) -> int:
        """The address of new memory, at `start` where that is not 0; OSError if that is in use."""
        flags = MAP_PRIVATE | MAP_ANONYMOUS | (MAP_FIXED_NOREPLACE if start else 0)
        arguments = (start, length, READ | WRITE, flags, -1, 0)
        address: int = self._c.mmap(*map(ctypes.c_ulong, arguments))
        if address == MAP_FAILED:
            raise OSError(ctypes.get_errno(), "mmap")
        if start and address != start:  # a kernel that ignores the flag
            self.call("munmap", address, length)
            raise OSError(0, "mmap: the addresses are in use")
        return address

    def reserve(self, start: int, end: int) -> bool:
        """Whether nothing was mapped between two addresses; there is empty memory then."""
        try:
            return start == end or self.map(end - start, start) == start
        except OSError:
            return False

    def call_in_sequence(self, calls: Sequence[tuple[Any, ...]]) -> None:
        """Call functions of the C library one after the other without Python in between.

        Each call runs in its own `ucontext`, which continues with the next one; AttributeError if the library has none.
        """
        c, here = self._bare, ctypes.create_string_buffer(CONTEXT)
        contexts, stacks = [here], [ctypes.create_string_buffer(STACK) for _ in calls]
        for (name, *arguments), stack in zip(reversed(calls), stacks, strict=True):
            context = ctypes.create_string_buffer(CONTEXT)
            c.getcontext(context)
            start = ctypes.addressof(context)
            for offset, value in ((LINK, contexts[-1]), (STACK_POINTER, stack)):
                ctypes.c_void_p.from_address(start + offset).value = ctypes.addressof(value)
            ctypes.c_size_t.from_address(start + STACK_LENGTH).value = STACK
            function = ctypes.cast(getattr(c, name), ctypes.c_void_p)
            c.makecontext(context, function, len(arguments), *map(ctypes.c_ulong, arguments))
            contexts.append(context)
        c.swapcontext(here, contexts[-1])
