"""The processes below this one, whether they end, and the files that this one has open."""

import contextlib
import os
import time
from pathlib import Path


def descendants(root: int | None = None) -> set[int]:
    """All processes below `root` or this one, once none is being started: servers fork when nobody waits for it."""
    seen: set[int] | None = None
    while seen != (seen := _below(root or os.getpid())):
        time.sleep(0.2)
    return seen


def _below(root: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
            except OSError:
                continue
    found: set[int] = set()
    wanted = {root}
    while wanted:
        wanted = {child for child, parent in parents.items() if parent in wanted} - found
        found |= wanted
    return found


def open_files() -> set[tuple[str, str]]:
    """Numbers and targets of the open descriptors. Others may close meanwhile, so compare with `<=`, not `==`."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return {(number, target) for number, target in found if not target.startswith("/proc/")}


def gone(processes: set[int], patience_s: float = 10.0) -> bool:
    """Whether all of them have ended, after a while."""
    deadline = time.monotonic() + patience_s
    while any(_is_alive(pid) for pid in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _is_alive(pid: int) -> bool:
    try:
        return _stat(pid)[0] != "Z"
    except OSError:
        return False


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
