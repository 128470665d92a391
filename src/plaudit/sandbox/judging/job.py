"""What travels between a user's process and a judge process: jobs there, verdicts back.

Both ends are ours, and neither runs model-written code; the frames are msgpack all the same.
"""

import os
import select
import struct
import time

import msgspec

from plaudit.sandbox.judging.suites import Suite
from plaudit.sandbox.limits import RunLimits

__all__ = ["Job", "read_frame", "write_frame"]

CHUNK = 1 << 16
_LENGTH = struct.Struct("!I")


class Job(msgspec.Struct, frozen=True):
    """One program and the tests to judge it by.

    `stop_early` ends at the first failure; `in_process` runs the tests inside the program's process, where they can be
    forged; `fuzz` is how many inputs to make up and compare with `reference`.
    """

    source: str
    suites: list[Suite]
    limits: RunLimits = RunLimits()
    stop_early: bool = True
    in_process: bool = False
    reference: str = ""
    fuzz: int = 0
    judge_cpu_s: float = 10.0


def write_frame(fd: int, payload: bytes = b"") -> None:
    """Write one frame, whole."""
    view = memoryview(_LENGTH.pack(len(payload)) + payload)
    while view:
        view = view[os.write(fd, view) :]


def read_frame(fd: int, deadline: float | None = None) -> bytes:
    """The next frame; EOFError when the other side is gone, TimeoutError past the deadline (of `time.monotonic`).

    Frames are never sent ahead of an answer, so what is there is this one.
    """
    received = bytearray()
    while len(received) < _LENGTH.size or len(received) < _LENGTH.size + _LENGTH.unpack_from(received)[0]:
        if deadline is not None and not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError("no frame within the deadline")
        part = os.read(fd, CHUNK)
        if not part:
            raise EOFError("the other side is gone")
        received += part
    return bytes(memoryview(received)[_LENGTH.size :])
