"""The files that a command can see: a root of its own, where namespaces can be had, and what Landlock lets it open.

The root holds the given files and folders at their usual places, all read-only, the standard streams as `/dev` has
them, random numbers, and one work folder. Landlock allows the same list, so either wall alone hides everything else.
"""

import contextlib
import os
import stat
from collections.abc import Sequence

from plaudit.sandbox.inside.walls.kernel import Kernel
from plaudit.sandbox.inside.walls.lockdown import move_descriptor
from plaudit.sandbox.inside.walls.namespaces import (
    NODEV,
    NOEXEC,
    NOSUID,
    PLACES,
    PRIVATE,
    READ_ONLY,
    REMOUNT,
    become_root,
)

__all__ = ["WORK", "build_root", "file_rules"]

WORK = "/work"  # the work folder in a root of our own
BIND, RECURSIVE = 1 << 12, 1 << 14
MOST_FILES = 1 << 14
NULL = "/dev/null"
RANDOM = ("/dev/random", "/dev/urandom")  # or Java spends seconds of processor time on gathering randomness by itself
STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}

# Landlock's names for what may be done with files.
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
CHANGE = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14  # remove and make files and folders, move, truncate


def build_root(kernel: Kernel, reads: Sequence[str], work_mb: int) -> None:
    """Make a root that holds `reads` and a work folder of so many MiB; in a mount namespace of our own."""
    place = next(place for place in PLACES if os.path.isdir(place))
    kernel.mount("none", "/", "none", PRIVATE)
    parts = {path: os.open(path, os.O_PATH) for path in (*reads, *_devices())}  # before the new root covers any of them
    kernel.mount("plaudit", place, "tmpfs", NOSUID | NODEV, "size=256k,nr_inodes=2048,mode=755")
    root = os.open(place, os.O_PATH | os.O_DIRECTORY)
    for path, descriptor in parts.items():
        _bind(kernel, f"/proc/self/fd/{descriptor}", f"{place}{path}")
        os.close(descriptor)
    os.mkdir(place + WORK)
    kernel.mount("plaudit", place + WORK, "tmpfs", NOSUID | NODEV, f"size={work_mb}m,nr_inodes={MOST_FILES},mode=777")
    _add_streams(kernel, place)
    os.fchdir(root)
    os.close(root)
    become_root(kernel)
    kernel.mount("none", "/", "none", REMOUNT | READ_ONLY | NOSUID | NODEV)


def file_rules(kernel: Kernel, reads: Sequence[str], work: str, *, writes: bool) -> int:
    """A Landlock ruleset: what is in `reads` may be read and executed, the work folder read and, if so, written."""
    ruleset = move_descriptor(kernel.landlock_ruleset())
    rights = READ_FILE | READ_FOLDER | ((WRITE_FILE | CHANGE) if writes else 0)
    readable = [(path, EXECUTE | READ_FILE | READ_FOLDER) for path in reads]
    devices = [(path, READ_FILE | (WRITE_FILE if path == NULL else 0)) for path in _devices()]
    for path, allowed in [*readable, (work, rights), *devices]:
        descriptor = os.open(path, os.O_PATH)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        kernel.landlock_allow(ruleset, descriptor, allowed if is_folder else allowed & ~READ_FOLDER)
        os.close(descriptor)
    return ruleset


def _bind(kernel: Kernel, source: str, target: str) -> None:
    """Show a file or folder at a place in the new root."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    kernel.mount(source, target, "none", BIND | RECURSIVE)
    with contextlib.suppress(OSError):  # flags that the source has and that may not be taken off it
        flags = NOSUID if target.endswith((NULL, *RANDOM)) else NOSUID | NODEV | READ_ONLY
        kernel.mount("none", target, "none", REMOUNT | BIND | flags)


def _devices() -> list[str]:
    """The devices that commands may open; a container may have left some out."""
    return [NULL, *(path for path in RANDOM if os.path.exists(path))]


def _add_streams(kernel: Kernel, place: str) -> None:
    """`/dev/stdin` and its like, for programs that open them by name; a container may not allow it."""
    os.makedirs(f"{place}/dev", exist_ok=True)
    os.makedirs(f"{place}/proc", exist_ok=True)
    os.symlink("/proc/self/fd", f"{place}/dev/fd")
    for name, number in STREAMS.items():
        os.symlink(f"/proc/self/fd/{number}", f"{place}/dev/{name}")
    with contextlib.suppress(OSError):
        kernel.mount("proc", f"{place}/proc", "proc", NOSUID | NODEV | NOEXEC)
