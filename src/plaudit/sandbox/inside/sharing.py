"""Share the interpreter's own code with children at once, instead of page by page.

Saves each child some eighty page faults, a tenth of its cost. Where the kernel does not allow it, nothing is lost.
"""

import contextlib

from plaudit.sandbox.inside.kernel import Kernel

__all__ = ["share_code"]

FILES = ("libpython", "bin/python", "libc.so", "libc-", "_ctypes", "libffi", "_json", "ld-linux")
BITS = {"r": 1, "w": 2, "x": 4}


def share_code(kernel: Kernel) -> None:
    """Have forks copy the page tables of the files that every program runs through."""
    with open("/proc/self/maps") as file:
        mappings = [line.split(maxsplit=5) for line in file]
    for place, modes, *_, path in (mapping for mapping in mappings if len(mapping) == 6):
        if modes[0] == "r" and modes[1:4:2] == "-p" and any(name in path for name in FILES):
            start, end = (int(number, 16) for number in place.split("-"))
            protection = sum(BITS.get(letter, 0) for letter in modes[:3])
            with contextlib.suppress(OSError):  # an older kernel, or one that forbids changing code
                kernel.copy_page_table_at_fork(start, end - start, protection)
