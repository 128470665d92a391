"""Lay the memory of a new server out for large pages, before anything else is done in it.

Python takes memory in pieces of 1 MiB, which shared libraries would come between. So a number of pieces is taken at
once, from where a large page begins, and freed but for a little of each, which keeps it. Where this cannot be had,
nothing is lost but time at each fork.
"""

import ctypes
import mmap

__all__ = ["LARGE_PAGE", "end_layout", "prepare_layout"]

LARGE_PAGE, PIECE = 1 << 21, 1 << 20
PIECES = 10
SMALL, RECORD = 512, 33  # the largest objects that lie in pieces, and what of a bytes object is not its content
_kept: list[object] = []


def prepare_layout() -> None:
    """Take memory in a row for what will be allocated."""
    _align_heap()
    place = _reserve(PIECE)
    _kept.pop()
    _reserve(PIECE + place % LARGE_PAGE)
    blocks = [bytes(SMALL - RECORD) for _ in range(PIECES * PIECE // SMALL)]
    _kept.append(list({id(block) // PIECE: block for block in blocks}.values()))


def end_layout() -> None:
    """Have the heap end where a large page does."""
    _align_heap()


def _align_heap() -> None:
    sbrk = ctypes.PyDLL(None).sbrk
    sbrk.restype, sbrk.argtypes = ctypes.c_long, [ctypes.c_long]
    sbrk(-sbrk(0) % LARGE_PAGE)


def _reserve(length: int) -> int:
    """The address of so much memory, which nobody uses."""
    memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _kept.append(memory)
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
