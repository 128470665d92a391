"""What the server and its workers say to each other, and what a worker leaves behind when it is lost.

A unit is one or more requests as they came in; the worker reads, scores and answers them, so that the server itself
touches no sample. While it scores, it keeps a journal in shared memory: whoever takes over knows what is done.
"""

import mmap
import os
import struct
import time
from typing import Any

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.messages import Answers, encode_answer

__all__ = [
    "Answer",
    "Journal",
    "JournalView",
    "WireJob",
    "decode_outputs",
    "encode_answers",
    "encode_unit",
    "read_answers",
    "read_unit",
]


class WireJob(msgspec.Struct, array_like=True):
    """One request on its way to a worker; `known` holds the outputs that a lost worker had reached, as frames."""

    protocol: str
    body: bytes
    packed: bool = False
    known: bytes = b""
    rest: bytes = b""  # one frame: the output of every sample that is not known
    singly: bool = False  # score sample by sample, although the reward takes batches


class Answer(msgspec.Struct, array_like=True):
    """What a worker answers: an HTTP status, the body, samples by status, and the time that scoring took."""

    status: int
    body: bytes
    counts: dict[str, int] = {}
    seconds: float = 0.0
    packed: bool = False


_encoder = msgspec.msgpack.Encoder()
_units = msgspec.msgpack.Decoder(list[WireJob])
_answers = msgspec.msgpack.Decoder(list[Answer])


def encode_unit(jobs: list[WireJob]) -> bytes:
    """A unit as bytes."""
    return _encoder.encode(jobs)


def read_unit(body: bytes) -> list[WireJob]:
    """The jobs of a unit."""
    return _units.decode(body)


def encode_answers(answers: list[Answer]) -> bytes:
    """Answers as bytes."""
    return _encoder.encode(answers)


def read_answers(body: bytes) -> list[Answer]:
    """The answers to a unit."""
    return _answers.decode(body)


_HEADER = struct.Struct("<IId")  # bytes used, samples under way together, time of the last progress
_CAPACITY = 1 << 16
_NEXT_JOB = struct.pack("<I", 0)  # an empty frame: the outputs of the next job follow


class Journal:
    """The worker's side: what is scored of the unit at hand, written without a system call."""

    def __init__(self, descriptor: int) -> None:
        os.ftruncate(descriptor, _CAPACITY)
        self._memory = mmap.mmap(descriptor, _CAPACITY)
        self._used = 0

    def begin(self) -> None:
        """A new unit; also what marks the process as alive."""
        self._used = 0
        self.expect(1)

    def next_job(self) -> None:
        """What follows belongs to the next job."""
        self._add(_NEXT_JOB)

    def expect(self, samples: int) -> None:
        """So many samples are under way together now."""
        _HEADER.pack_into(self._memory, 0, self._used, samples, time.monotonic())

    def add(self, output: RewardOutput) -> None:
        """One more sample is done."""
        self._add(encode_answer(output))

    def _add(self, framed: bytes) -> None:
        start = _HEADER.size + self._used
        end = start + len(framed)
        if end > len(self._memory):
            self._memory.resize(2 * end)
        self._memory[start:end] = framed
        self._used += len(framed)
        _HEADER.pack_into(self._memory, 0, self._used, 1, time.monotonic())


class JournalView:
    """The server's side of a journal."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("plaudit-journal", os.MFD_CLOEXEC)

    def progress(self) -> tuple[int, float]:
        """How many samples are under way together, and since when (of `time.monotonic`)."""
        header = os.pread(self.descriptor, _HEADER.size, 0)
        if len(header) < _HEADER.size:
            return 1, 0.0
        _, samples, since = _HEADER.unpack(header)
        return samples, since

    def finished(self) -> list[bytes]:
        """What is done of each job that was begun, as frames; the last of them is the one it was at."""
        header = os.pread(self.descriptor, _HEADER.size, 0)
        if len(header) < _HEADER.size:
            return []
        used = _HEADER.unpack(header)[0]
        content, place = os.pread(self.descriptor, used, _HEADER.size), 0
        parts: list[bytearray] = []
        while place < used:
            end = place + 4 + int.from_bytes(content[place : place + 4], "little")
            if end == place + 4:
                parts.append(bytearray())
            else:
                parts[-1] += content[place:end]
            place = end
        return [bytes(part) for part in parts]

    def close(self) -> None:
        os.close(self.descriptor)


def decode_outputs(frames: bytes) -> list[Any]:
    """The outputs that stand in frames."""
    return Answers().feed(frames)
