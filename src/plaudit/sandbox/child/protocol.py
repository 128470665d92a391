"""The protocol between a server and its client: how it is started, its requests, and the channel of a process."""

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from plaudit.sandbox.child.confinement.profiles import PROGRAM, Profile

# Give a process; reap one; reap one and say how it ended; put a file; hand one over; end.
TAKE, REAP, STATUS, PLACE, FETCH, QUIT = b"T", b"R", b"S", b"P", b"F", b"Q"
LIMITS = struct.Struct("<QQQ")  # bytes of memory, processor seconds, bytes of a file
CHANNEL = 3  # the descriptor of a program's end of its channel
READY = b"K"  # the first byte on it, written before the program has been seen

FLAVOURS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "numpy": (
        "numpy", "numpy.char", "numpy.fft", "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma", "numpy.polynomial",
        "numpy.random", "numpy.rec", "numpy.strings", "numpy.testing",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The start settings of a server: modules to import, protections of its children, and paths of files."""

    paths: Sequence[str]  # where modules besides the standard library are
    modules: Sequence[str]
    at_most: int
    control: int
    profile: Profile = PROGRAM
    folder: str = ""  # the work folder of commands where none can be mounted
    zones: str = ""  # the folder of time zone data
    core: int | None = None

    def to_json(self) -> str:
        """The settings as the one argument of the server's process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ServerSettings":
        """The settings from that argument."""
        values = json.loads(text)
        return cls(**{**values, "profile": Profile(**values["profile"])})
