"""Programs that try to do harm, from `harms.txt` and `scratch_harms.txt`: `## name`, then the program.

Words in angle brackets (`<victim>`) are filled in with things that must not be touched. Each is run after PRELUDE:
`attempt` notes a deed that succeeded, and `report()` must give an empty list, unless the program is killed first.
"""

import re
from pathlib import Path

__all__ = ["FILE_HARMS", "HARMS", "PRELUDE", "SCRATCH_HARMS"]

PRELUDE = """
import os, sys
done = []
def attempt(name, deed):
    try:
        value = deed()
    except BaseException:
        return None
    done.append(name)
    return value
def syscall(number, *arguments):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def report():
    return done
"""


def _read(file: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)\n", Path(__file__).with_name(file).read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


HARMS = _read("harms.txt")
SCRATCH_HARMS = _read("scratch_harms.txt")
# Those of the first kind that scratch space could help with.
FILE_HARMS = {name: source for name, source in HARMS.items() if "os." in source or "open(" in source or "flood" in name}
