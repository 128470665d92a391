"""What the server and its workers say to each other, and what a worker leaves behind when it is lost.

A unit is one or more requests as they came in; the worker reads, scores and answers them, so that the server itself
touches no sample. While it scores, it keeps a journal in shared memory: whoever takes over knows what is done.
"""

import math
import mmap
import os
import struct
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.messages import Answers, encode_answer
from plaudit.serving.protocols.protocol import Scored

__all__ = [
    "UNBEGUN",
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
    verdicts: dict[int, bytes] = {}  # frames: the outputs of samples that cost a worker, by their places
    rest: bytes = b""  # one frame: the output of every sample that is not known
    singly: bool = False  # score sample by sample, although the reward takes batches


class Answer(msgspec.Struct, array_like=True):
    """What a worker answers: an HTTP status, the body, and how many samples have which status."""

    status: int
    body: bytes
    counts: dict[str, int] = {}
    packed: bool = False


_encoder = msgspec.msgpack.Encoder()
_units = msgspec.msgpack.Decoder(list[WireJob])
_answers = msgspec.msgpack.Decoder(tuple[list[Answer], bool])


def encode_unit(jobs: list[WireJob]) -> bytes:
    """A unit as bytes."""
    return _encoder.encode(jobs)


def read_unit(body: bytes) -> list[WireJob]:
    """The jobs of a unit."""
    return _units.decode(body)


def encode_answers(answers: list[Answer], *, last: bool = True) -> bytes:
    """Answers as bytes; more of the same unit follow unless they are the last."""
    return _encoder.encode((answers, last))


def read_answers(body: bytes) -> tuple[list[Answer], bool]:
    """The next answers to a unit, in order, and whether they are the last."""
    return _answers.decode(body)


_HEADER = struct.Struct("<IIId4x")  # number of the unit, bytes used, samples under way together, time of progress
_PLACE = struct.Struct("<III")  # jobs begun, samples done of the last of them, jobs to be begun at most (0: all)
_MOST_JOBS = struct.Struct("<I")
_HEADER_SIZE = _HEADER.size + _PLACE.size
_CAPACITY = 1 << 16
NOTABLE_S, WORTH_S = 0.0005, 0.005
QUICK_S = 0.00005  # samples that take less, with all that is done for them
UNBEGUN = (-1, -1)  # the place of a worker that has not begun its unit
_NEXT_JOB = struct.pack("<I", 0)  # an empty frame: the outputs of the next job follow


class Journal:
    """The worker's side: what is scored of the unit at hand, written without a system call.

    Of a reward that may be asked again, outputs are written once they are worth some milliseconds, less than a new
    worker costs: those that a lost one had not written are scored again, which is cheaper than writing each. While such
    a reward is `quick`, only how many samples are done is kept until `write_at`.
    """

    def __init__(self, descriptor: int, *, repeatable: bool) -> None:
        os.ftruncate(descriptor, _CAPACITY)
        self._memory = mmap.mmap(descriptor, _CAPACITY)
        self._view_place()
        self._used, self._capacity = 0, _CAPACITY
        self._repeatable = repeatable
        self._notable_s, self._worth_s = (NOTABLE_S, WORTH_S) if repeatable else (-1.0, -1.0)
        self._unwritten: list[Scored | None] = []  # None: the outputs of the next job follow
        self._note_at = self.write_at = 0.0  # when outputs that are there are noted, and written (of `time.monotonic`)
        self._unit = self._jobs = 0
        self._paced_at = 0.0  # when samples were last scored
        self.quick = False

    def begin(self) -> None:
        """A new unit; also what marks the process as alive."""
        self._used, self._unwritten = 0, []
        self._unit, self._jobs = self._unit + 1, 0
        self._place[0] = self._place[1] = self._place[2] = 0
        self._paced_at = self.expect(1)
        self.write_at = self._paced_at + self._worth_s

    def next_job(self) -> bool:
        """What follows belongs to the next job; False where that and all others were given to somebody else."""
        if 0 < self._place[2] <= self._jobs:
            return False
        self._unwritten.append(None)
        self._jobs += 1
        self._place[0], self._place[1] = self._jobs, 0
        if self._worth_s < 0:
            self._write()
            self.expect(1)
        return True

    def expect(self, samples: int) -> float:
        """So many samples are under way together now; the time."""
        now = time.monotonic()
        _HEADER.pack_into(self._memory, 0, self._unit, self._used, samples, now)
        self._note_at = now + self._notable_s
        return now

    def follow(self, scoring: Iterable[Scored]) -> list[Scored]:
        """The outputs of samples that are scored one after the other; each is noted as soon as it is there."""
        outputs: list[Scored] = []
        add, clock, noted, done, due = outputs.append, time.monotonic, 0, self.done, self._note_at
        for place, output in enumerate(scoring, done[0] + 1):
            done[0] = place  # so many are done, for whoever takes over
            add(output)
            if clock() > due:
                self._note(outputs[noted:])
                noted, done, due = len(outputs), self.done, self._note_at
        self._unwritten += outputs[noted:]
        self._learn_pace(len(outputs))
        return outputs

    def add(self, outputs: list[Scored]) -> None:
        """Outputs of samples that kept `done` themselves."""
        if self._learn_pace(len(outputs)) > self._note_at:
            self._note(outputs)
        else:
            self._unwritten += outputs

    def _learn_pace(self, samples: int) -> float:
        """So many samples were scored since the last ones: are they quick? The time."""
        now, since = time.monotonic(), self._paced_at
        self.quick, self._paced_at = self._repeatable and now - since < QUICK_S * samples, now
        return now

    def _note(self, outputs: list[Scored]) -> None:
        """So many more outputs are there: that is progress, and written if all of them are worth it."""
        self._unwritten += outputs
        if time.monotonic() > self.write_at:
            self._write()
        self.expect(1)

    def _write(self) -> None:
        framed = b"".join([_NEXT_JOB if each is None else _frame(each) for each in self._unwritten])
        self._unwritten, self.write_at = [], time.monotonic() + self._worth_s
        start, self._used = _HEADER_SIZE + self._used, self._used + len(framed)
        end = _HEADER_SIZE + self._used
        if end > self._capacity:
            self._capacity = 2 * end
            self.done.release()  # memory cannot be resized while there is a view of it
            self._place.release()
            self._memory.resize(self._capacity)
            self._view_place()
        self._memory[start:end] = framed

    def _view_place(self) -> None:
        """Look at the numbers of `_PLACE` in the shared memory; `done` is how many samples of the job are.

        A child that the reward forks does not have it: one that comes back from the reward, and would go on with the
        samples in our name, ends there.
        """
        self._memory.madvise(mmap.MADV_DONTFORK)
        self._place = memoryview(self._memory)[_HEADER.size : _HEADER_SIZE].cast("I")
        self.done = self._place[1:2]


def _frame(scored: Scored) -> bytes:
    return encode_answer(RewardOutput(scored) if isinstance(scored, float) else scored)


class JournalView:
    """The server's side of a journal."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("plaudit-journal", os.MFD_CLOEXEC)

    def progress(self, unit: int) -> tuple[int, float, tuple[int, int]]:
        """How many samples of a unit are under way together, since when at the earliest, and at which place.

        Times are those of `time.monotonic`. A place is a job and how many of its samples are done. A worker that has
        not begun the unit, on a busy machine, is not late: its time begins when it does, and its place is `UNBEGUN`.
        """
        header = os.pread(self.descriptor, _HEADER_SIZE, 0)
        if len(header) < _HEADER_SIZE or _HEADER.unpack_from(header)[0] != unit:
            return 1, math.inf, UNBEGUN
        _, _, samples, since = _HEADER.unpack_from(header)
        jobs, done, _ = _PLACE.unpack_from(header, _HEADER.size)
        return samples, since, (jobs - 1, done)

    def limit_to(self, jobs: int) -> None:
        """Tell the worker to begin no more than so many jobs of its unit."""
        os.pwrite(self.descriptor, _MOST_JOBS.pack(jobs), _HEADER_SIZE - _MOST_JOBS.size)

    def read(self, unit: int) -> tuple[list[bytes], tuple[int, int]]:
        """Of a unit: the outputs that were written of each job, as frames, and the place that the worker was at.

        That is `UNBEGUN` where it had not begun.
        """
        content = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        if len(content) < _HEADER_SIZE or _HEADER.unpack_from(content)[0] != unit:
            return [], UNBEGUN
        jobs, done, _ = _PLACE.unpack_from(content, _HEADER.size)
        place, end = _HEADER_SIZE, _HEADER_SIZE + _HEADER.unpack_from(content)[1]
        parts: list[bytearray] = []
        while place < end:
            length = 4 + int.from_bytes(content[place : place + 4], "little")
            if length == 4:
                parts.append(bytearray())
            else:
                parts[-1] += content[place : place + length]
            place += length
        return [bytes(part) for part in parts], (jobs - 1, done)

    def close(self) -> None:
        os.close(self.descriptor)


def decode_outputs(frames: bytes) -> list[Any]:
    """The outputs that stand in frames."""
    return Answers().feed(frames)
