"""Scratch space: one folder that a program may write to, with bounds, and empty for the next.

In namespaces it is a file system of its own, so the kernel keeps the bounds and a program that fills it is told so.
Elsewhere it is a folder on a disk that has no bounds: a janitor looks at it many times a second and ends a program that
goes past them. Files can then not be deleted or renamed, since a deleted file that is still open fills a disk unseen.
"""

import contextlib
import os
import select
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from plaudit.sandbox.inside.kernel import Kernel

__all__ = ["MAX_FILES", "MOUNTED", "OVER", "Scratch"]

MOUNTED = "/scratch"
MAX_FILES = 1024  # folders count
LOOK_MS = 20
CLEAN, OVER = 0, 1  # how a janitor ends when all is well
OUT, ERR, PROGRAM, FOLDER = range(4)  # the descriptors of a janitor

# Landlock's names for what may be done in a folder.
WRITE, READ, LIST, MAKE_FOLDER, MAKE_FILE, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8, 1 << 14
REMOVE_FOLDER, REMOVE_FILE, MOVE = 1 << 4, 1 << 5, 1 << 13


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

    @property
    def watched(self) -> bool:
        """Whether no file system of its own keeps its bounds."""
        return bool(self.path)

    @property
    def rights(self) -> int:
        """What Landlock is to allow in it: no links, devices, pipes or sockets, and nothing can be executed."""
        rights = WRITE | READ | LIST | MAKE_FOLDER | MAKE_FILE | TRUNCATE
        return rights if self.watched else rights | REMOVE_FOLDER | REMOVE_FILE | MOVE

    def start_janitor(self, kernel: Kernel, pid: int, out: int, err: int, output_bytes: int) -> int:
        """A process that watches a program and, when it is dead, empties the folder; its number.

        Names of files are a candidate's words, so it is not the server that reads them.
        """
        janitor = kernel.fork()
        if janitor == 0:
            try:
                kernel.die_with_parent()
                for number, descriptor in enumerate((out, err, os.pidfd_open(pid), self.folder)):
                    os.dup2(descriptor, number)
                os.closerange(FOLDER + 1, 1 << 16)
                went_over = self._watch(output_bytes)
                self._sweep()
                os._exit(OVER if went_over else CLEAN)
            finally:
                os._exit(2)
        return janitor

    def remove(self) -> None:
        """Have nothing left on a disk."""
        if self.path:
            with contextlib.suppress(OSError):  # the judge tries as well
                os.rmdir(self.path)

    def _sweep(self) -> None:
        """Delete everything in the folder; nobody may be at work in it."""
        for name, seen in self._walk():
            (os.rmdir if stat.S_ISDIR(seen.st_mode) else os.unlink)(name)

    def _watch(self, output_bytes: int) -> bool:
        """Wait for a program's end; kill it when it goes past its bounds, which is True."""
        waiting = select.poll()
        waiting.register(PROGRAM, select.POLLIN)
        while not waiting.poll(LOOK_MS):
            printed = max(os.fstat(OUT).st_size, os.fstat(ERR).st_size)
            if printed >= output_bytes or (self.watched and self._is_over()):
                signal.pidfd_send_signal(PROGRAM, signal.SIGKILL)
                waiting.poll()
                return True
        return False

    def _is_over(self) -> bool:
        """Whether there is too much; holes in files count as if they were full."""
        size = count = 0
        for _, seen in self._walk():
            size, count = size + max(seen.st_size, 512 * seen.st_blocks), count + 1
        return size > self.most_bytes or count >= MAX_FILES

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Every entry, folders after what is in them; the working directory goes along, so no path is too long."""
        os.fchdir(FOLDER)
        inside: list[tuple[str, os.stat_result]] = []
        waiting = [os.listdir()]
        while waiting[-1] or inside:
            if not waiting[-1]:
                waiting.pop()
                os.chdir("..")
                yield inside.pop()
                continue
            name = waiting[-1].pop()
            seen = os.lstat(name)
            if stat.S_ISDIR(seen.st_mode):
                os.chmod(name, 0o700)  # it may have been made without any rights
                os.chdir(name)
                inside.append((name, seen))
                waiting.append(os.listdir())
            else:
                yield name, seen
