"""Scratch space: one folder that a program may write to, with bounds, and empty for the next.

In namespaces it is a file system of its own, so the kernel keeps the bounds and a program that fills it is told so.
Elsewhere it is a folder on a disk that has no bounds: a janitor looks at it many times a second, also at files that are
deleted and still open, and ends a program that went past them. So a program can go past them for a moment.
"""

import contextlib
import errno
import os
import select
import signal
import stat
import time
from dataclasses import dataclass

from plaudit.sandbox.inside.walls.kernel import PR_SET_DUMPABLE, Kernel

__all__ = ["MAX_FILES", "MOUNTED", "OVER", "RIGHTS", "Scratch"]

MOUNTED = "/scratch"
MAX_FILES = 1024  # folders count
LOOK_MS = 20
STOP_TRIES = 50
CLEAN, OVER = 0, 1  # how a janitor ends when all is well
OUT, ERR, PROGRAM, FOLDER = range(4)  # the descriptors of a janitor

# Landlock's names for what may be done in a folder.
WRITE, READ, LIST, MAKE_FOLDER, MAKE_FILE, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8, 1 << 14
REMOVE_FOLDER, REMOVE_FILE, MOVE = 1 << 4, 1 << 5, 1 << 13
# No links, devices, pipes or sockets, and nothing can be executed.
RIGHTS = WRITE | READ | LIST | MAKE_FOLDER | MAKE_FILE | TRUNCATE | REMOVE_FOLDER | REMOVE_FILE | MOVE


@dataclass(frozen=True, slots=True)
class Scratch:
    """An open folder of one server, for one program after the other."""

    folder: int
    most_bytes: int
    path: str = ""  # of a folder on a disk

    def __post_init__(self) -> None:
        """What is in it will be deleted: a folder that anybody else has put something into is not taken."""
        if found := os.listdir(self.folder):
            raise FileExistsError(f"a scratch folder must be new, and {self.path or MOUNTED} has {found[0]!r} in it")

    def start_janitor(self, kernel: Kernel, pid: int, descriptors: tuple[int, int, int], output_bytes: int) -> int:
        """A process that watches a program and, when it is dead, empties the folder; its number.

        The descriptors are what the program prints to and its process, which may be gone before the janitor looks.
        Names of files are a program's words, so it is not the server that reads them.
        """
        janitor = kernel.fork()()
        if janitor == 0:
            try:
                kernel.die_with_parent()
                for number, descriptor in enumerate((*descriptors, self.folder)):
                    os.dup2(descriptor, number)
                os.closerange(FOLDER + 1, 1 << 16)
                went_over = self._watch(pid, output_bytes)
                _sweep()
                os._exit(OVER if went_over else CLEAN)
            finally:
                os._exit(2)
        return janitor

    def try_watching(self, kernel: Kernel) -> None:
        """Raise OSError where a janitor could not see which files a program has open."""
        if not self.path:
            return
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            kernel.prctl(PR_SET_DUMPABLE, 1)
            os.write(writing, b"1")
            signal.pause()
        try:
            os.read(reading, 1)
            os.listdir(f"/proc/{pid}/task/{pid}/fd")
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(reading)
            os.close(writing)

    def remove(self) -> None:
        """Have nothing left on a disk."""
        if self.path:
            with contextlib.suppress(OSError):  # the judge tries as well
                os.rmdir(self.path)

    def _watch(self, pid: int, output_bytes: int) -> bool:
        """Wait for a program's end; kill it when it goes past its bounds, which is True."""
        waiting = select.poll()
        waiting.register(PROGRAM, select.POLLIN)
        while not waiting.poll(LOOK_MS):
            printed = max(os.fstat(OUT).st_size, os.fstat(ERR).st_size)
            if printed >= output_bytes or (self.path and self._is_over(pid)):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(PROGRAM, signal.SIGKILL)
                waiting.poll()
                return True
        return False

    def _is_over(self, pid: int) -> bool:
        """Whether there is too much; the program stands still meanwhile, or it could move files out of sight."""
        try:
            signal.pidfd_send_signal(PROGRAM, signal.SIGSTOP)
            _wait_until_stopped(pid)
            sizes = _sizes_in_folder() | _sizes_of_deleted(pid)
        except (FileNotFoundError, ProcessLookupError):
            return False  # it has just ended
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            return True  # folders in folders, deeper than any path can say
        finally:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(PROGRAM, signal.SIGCONT)
        return sum(sizes.values()) > self.most_bytes or len(sizes) >= MAX_FILES


def _wait_until_stopped(pid: int) -> None:
    for _ in range(STOP_TRIES):
        with open(f"/proc/{pid}/stat", "rb") as file:
            if file.read().rpartition(b")")[2].split()[0] in (b"T", b"Z", b"X"):
                return
        time.sleep(0.0002)


def _sizes_in_folder() -> dict[int, int]:
    """The size of every file and folder, by its number; holes in files count as if they were full."""
    os.fchdir(FOLDER)
    sizes, waiting = {}, ["."]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen = entry.stat(follow_symlinks=False)
                sizes[seen.st_ino] = _size(seen)
                if stat.S_ISDIR(seen.st_mode):
                    waiting.append(entry.path)
    return sizes


def _sizes_of_deleted(pid: int) -> dict[int, int]:
    """The size of files that a program holds open and has deleted, which no folder tells of."""
    sizes: dict[int, int] = {}
    device = os.fstat(FOLDER).st_dev
    for thread in os.listdir(f"/proc/{pid}/task"):  # each may have files of its own
        place = f"/proc/{pid}/task/{thread}/fd"
        with contextlib.suppress(PermissionError):  # it is about to begin, or has ended
            found = [os.stat(f"{place}/{name}") for name in os.listdir(place)]
            sizes |= {seen.st_ino: _size(seen) for seen in found if seen.st_dev == device and seen.st_nlink == 0}
    return sizes


def _size(seen: os.stat_result) -> int:
    return max(seen.st_size, 512 * seen.st_blocks)


def _sweep() -> None:
    """Delete everything in the folder; nobody may be at work in it.

    The working directory goes along, so no path is too long.
    """
    os.fchdir(FOLDER)
    inside: list[str] = []
    waiting = [os.listdir()]
    while waiting[-1] or inside:
        if not waiting[-1]:
            waiting.pop()
            os.chdir("..")
            os.rmdir(inside.pop())
            continue
        name = waiting[-1].pop()
        if stat.S_ISDIR(os.lstat(name).st_mode):
            os.chdir(name)
            inside.append(name)
            waiting.append(os.listdir())
        else:
            os.unlink(name)
