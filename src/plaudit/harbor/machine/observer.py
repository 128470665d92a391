"""Which files the processes of a command look for, read, write and run, found or not."""

import contextlib
import os
import struct
from collections.abc import Iterator
from typing import TypeAlias

from plaudit.harbor.machine import kernel

Event: TypeAlias = tuple[int, int, str, str, list[str]]
"""A process, its parent, the use, the path or the command that failed, and the arguments of a program."""
MOST_EVENTS, MOST_ARGUMENTS, MOST_PATH = 20_000, 40, 4096
HERE = -100
UNSEEN = ("/proc", "/dev", "/sys", "/tmp/.plaudit")
# By call: its numbers on x86_64 and arm64, and which arguments are the folder, the path, and the flags or arguments.
CALLS: dict[str, tuple[int | None, int | None, int | None, int, int | None]] = {
    "open": (2, None, None, 0, 1), "openat": (257, 56, 0, 1, 2), "openat2": (437, 437, 0, 1, 2),
    "creat": (85, None, None, 0, None), "execve": (59, 221, None, 0, 1), "execveat": (322, 281, 0, 1, 2),
    "stat": (4, None, None, 0, None), "lstat": (6, None, None, 0, None), "newfstatat": (262, 79, 0, 1, None),
    "statx": (332, 291, 0, 1, None), "access": (21, None, None, 0, 1), "faccessat": (269, 48, 0, 1, 2),
    "faccessat2": (439, 439, 0, 1, 2), "readlink": (89, None, None, 0, None), "readlinkat": (267, 78, 0, 1, None),
    "exit_group": (231, 94, None, 0, None),
}  # fmt: skip


def _numbers() -> dict[int, str]:
    column = 0 if os.uname().machine == "x86_64" else 1
    pairs = ((call[column], name) for name, call in CALLS.items())
    return {number: name for number, name in pairs if number is not None}


def observe_this_process() -> int:
    """From now on each of `CALLS` waits until an observer has noted it."""
    return kernel.observe_calls(_numbers())


class Observer:
    """Notes each use of a path by each process once."""

    def __init__(self, listener: int) -> None:
        self.listener, self._names = listener, _numbers()
        self._events: dict[tuple[int, str, str], Event] = {}
        self._commands: dict[int, str] = {}

    @property
    def events(self) -> list[Event]:
        return list(self._events.values())

    def note(self) -> None:
        """Note the call that waits, and let it go on."""
        try:
            thread, number, (call, *arguments) = kernel.next_call(self.listener)
        except OSError:  # its process was killed
            return
        with contextlib.suppress(OSError, ValueError):
            self._add(thread, self._names[number], arguments)
        kernel.answer_call(self.listener, call)

    def _add(self, thread: int, name: str, arguments: list[int]) -> None:
        process, parent = _family(thread)
        if name == "exit_group":
            command = self._commands.get(process)
            if command and arguments[0] & 0xFF:
                self._events[process, "fail", command] = (process, parent, "fail", command, [])
            return
        _, _, folder, path, third = CALLS[name]
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
            written = os.fsdecode(_text(memory.fileno(), arguments[path]))
            value = 0 if third is None else arguments[third]
            if name == "openat2":
                [value] = struct.unpack("=Q", os.pread(memory.fileno(), 8, value))
            words = list(_words(memory.fileno(), value)) if "exec" in name else []
        place = HERE if folder is None else struct.unpack("=i", struct.pack("=I", arguments[folder] & 0xFFFFFFFF))[0]
        start = "root" if written.startswith("/") else "cwd" if place == HERE else f"fd/{place}"
        base = "/" if start == "root" else os.readlink(f"/proc/{thread}/{start}")
        full = os.path.normpath(os.path.join(base, written)).replace("//", "/")
        if not written or full.startswith(UNSEEN) or len(self._events) >= MOST_EVENTS:
            return
        use = _use(name, value)
        if use == "run":
            self._commands[process] = " ".join(words)
        self._events.setdefault((process, use, full), (process, parent, use, full, words))


def _use(name: str, flags: int) -> str:
    """`write` replaces the content, `change` may keep the old content, `find` checks whether a program can be run."""
    if "exec" in name:
        return "run"
    if "access" in name and flags & os.X_OK:
        return "find"
    if not name.startswith("open"):
        return "write" if name == "creat" else "look"
    if flags & os.O_DIRECTORY:
        return "list"
    if flags & os.O_ACCMODE == os.O_RDONLY:
        return "read"
    return "write" if flags & (os.O_TRUNC | os.O_EXCL) else "change"


def _family(thread: int) -> tuple[int, int]:
    """The process of a thread, and its parent."""
    with open(f"/proc/{thread}/status") as file:
        fields = dict(line.split(":", 1) for line in file if line.startswith(("Tgid", "PPid")))
    return int(fields["Tgid"]), int(fields["PPid"])


def _text(memory: int, address: int) -> bytes:
    return os.pread(memory, MOST_PATH, address).split(b"\0", 1)[0] if address else b""


def _words(memory: int, address: int) -> Iterator[str]:
    for index in range(MOST_ARGUMENTS):
        [pointer] = struct.unpack("=Q", os.pread(memory, 8, address + 8 * index))
        if not pointer:
            return
        yield _text(memory, pointer).decode(errors="replace")[:300]
