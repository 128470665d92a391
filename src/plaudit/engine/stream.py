"""One run over samples: cut into units of work, scored in any order, released in the order they came.

A unit holds about as many samples as take 10 ms, with the way to a worker and back, or a whole group. In a stream a
group ends where the next one begins, or when it has `group_size` samples; where groups are interleaved, all samples are
read first. A sample that comes after its group has ended is not scored, and says so. What was read before the source
raised is scored and released first.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, TypeAlias

from plaudit.contract.calling import read_sample
from plaudit.contract.output import RewardOutput, Status
from plaudit.normalize import Scope
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.trajectory import GroupKey, Trajectory

UNIT_S = 0.01
TRANSPORT_S = 1e-4  # what a sample costs beside its reward, rounded up so that quick ones are spread over all workers
FIRST_SIZE = 4
WINDOW = 16_384  # samples that may be read before the first of them is released
Sample: TypeAlias = Trajectory | Mapping[str, Any]
CONTIGUOUS = "keep the samples of a group together, or say group_size"


@dataclass(frozen=True, slots=True)
class Unit:
    """Samples that are scored together, with their indices in their stream."""

    indices: Sequence[int]
    trajectories: list[Trajectory]
    stream: "OrderedStream | None" = None
    whole: bool = False
    """Whether it is a group or a batch."""
    cut_at: float = field(default_factory=time.monotonic)

    def __len__(self) -> int:
        return len(self.trajectories)

    def result(self, outputs: list[RewardOutput], queued_s: float = 0.0) -> "UnitResult":
        """The outputs of the first samples of this unit, which waited so long before they were begun."""
        return UnitResult(self.indices[: len(outputs)], outputs, self.stream, queued_s)


@dataclass(frozen=True, slots=True)
class UnitResult:
    """Outputs with the indices of their samples in their stream."""

    indices: Sequence[int]
    outputs: list[RewardOutput]
    stream: "OrderedStream | None" = None
    queued_s: float = 0.0


class UnitSize:
    """The number of samples of the next unit: as many as take about 10 ms, estimated from the outputs so far."""

    def __init__(self, fixed: int | None = None, least: int = 1) -> None:
        self._is_fixed, self._least = fixed is not None, least
        self.now = fixed or max(least, FIRST_SIZE)

    def learn(self, outputs: Sequence[RewardOutput]) -> None:
        """Take in how long samples took."""
        if self._is_fixed:
            return
        seconds = sum(output.latency_s or 0.0 for output in outputs) / max(1, len(outputs))
        wanted = int(max(1.0, UNIT_S / max(seconds, TRANSPORT_S)))
        self.now = max(self._least, min(wanted, 2 * self.now))


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a stream is cut: what a reward looks at, how many samples make a unit, what makes a group.

    Groups are put together until a unit has `at_least` so many samples, for rewards that wait for many at once.
    """

    scope: Scope
    size: UnitSize
    group_size: int | None = None
    interleaved: bool = False
    at_least: int = 1


class OrderedStream:
    """Samples on their way: `cut` gives units, `accept` takes their results, `release` gives what is next in order.

    Setting `stop` from any thread ends the run before its next unit.
    """

    def __init__(self, samples: Iterable[Sample], cutting: Cutting, stop: threading.Event | None = None) -> None:
        self._source, self._cutting = map(read_sample, samples, count()), cutting
        self._groups: dict[GroupKey, list[tuple[int, Trajectory]]] = {}
        self._ended: set[GroupKey] = set()
        self._waiting: deque[Trajectory] = deque()
        self._outputs: dict[int, RewardOutput] = {}
        self._error: Exception | None = None
        self._exhausted = False
        self._read = 0
        self._released = 0
        self.prepared: deque[Unit] = deque()  # cut, and not yet with a backend
        self.stop = stop or threading.Event()

    @property
    def is_finished(self) -> bool:
        """Whether everything was read and released."""
        return self._exhausted and self._released == self._read

    @property
    def has_ready(self) -> bool:
        """Whether the next sample has its output."""
        return self._released in self._outputs

    @property
    def unreleased(self) -> int:
        """The number of samples that were read and not released."""
        return self._read - self._released

    def cut(self) -> Unit | None:
        """The next unit, or None when there is none now."""
        if self._groups and self._exhausted:
            return self._cut_groups()
        if self._exhausted or (self.unreleased >= WINDOW and not self._groups):
            return None
        scope = self._cutting.scope
        if scope == "group":
            return self._cut_groups()
        first, samples = self._read, self._next(self._cutting.size.now if scope == "sample" else None)
        if scope == "batch" and self._error is not None:  # half a batch would be scored differently
            self._skip(range(first, self._read), "the source failed before the batch was complete")
            return None
        return Unit(range(first, self._read), samples, self, scope == "batch") if samples else None

    def accept(self, result: UnitResult) -> None:
        """Take outputs, in any order."""
        self._outputs.update(zip(result.indices, result.outputs, strict=True))

    def release(self) -> list[ScoredRollout]:
        """The scored samples, up to the first without an output."""
        outputs, waiting, index = self._outputs, self._waiting, self._released
        released = []
        while (output := outputs.pop(index, None)) is not None:
            released.append(Rollout(waiting.popleft(), output))
            index += 1
        self._released = index
        return released

    def raise_error(self) -> None:
        """Raise what the source raised, once everything before it was released."""
        if self._error is not None:
            raise self._error

    def _next(self, count: int | None) -> list[Trajectory]:
        samples: list[Any] = []
        try:
            samples.extend(islice(self._source, count))  # keeps what came before an exception
        except Exception as error:  # noqa: BLE001 - raised again when what came before it is released
            self._error = error
        self._exhausted = count is None or len(samples) < count
        self._read += len(samples)
        self._waiting.extend(samples)
        return samples

    def _cut_groups(self) -> Unit | None:
        """The next group, or as many as make a unit."""
        unit = self._cut_group()
        while unit is not None and len(unit) < self._cutting.at_least and (more := self._cut_group()) is not None:
            unit = replace(
                unit, indices=[*unit.indices, *more.indices], trajectories=[*unit.trajectories, *more.trajectories]
            )
        return unit

    def _cut_group(self) -> Unit | None:
        """The next group that is complete; None at the end, when leftovers were skipped."""
        group_size, interleaved = self._cutting.group_size, self._cutting.interleaved
        while not self._exhausted:
            first, samples = self._read, self._next(None if interleaved else 1)
            for index, sample in enumerate(samples, first):
                key = sample.group_key
                if key in self._ended:
                    self._skip([index], f"group {key!r:.60} had ended before: {CONTIGUOUS}")
                    continue
                before = next((other for other in self._groups if other != key), None)
                self._groups.setdefault(key, []).append((index, sample))
                if interleaved:
                    continue
                if before is not None and group_size is None:
                    return self._end_group(before)
                if len(self._groups[key]) == group_size:
                    return self._end_group(key)
        return self._cut_leftover()

    def _end_group(self, key: GroupKey) -> Unit:
        self._ended.add(key)
        members = self._groups.pop(key)
        return Unit([index for index, _ in members], [sample for _, sample in members], self, whole=True)

    def _cut_leftover(self) -> Unit | None:
        """The groups that are open at the end: complete ones one by one, incomplete ones are skipped."""
        expected = self._cutting.group_size
        for key, members in list(self._groups.items()):
            if expected == len(members) or (expected is None and self._error is None):
                return self._end_group(key)
            missing = "the source failed" if expected is None else f"{len(members)} of {expected} samples"
            self._skip([index for index, _ in members], f"group {key!r:.60} is incomplete: {missing}")
            del self._groups[key]
        return None

    def _skip(self, indices: Iterable[int], reason: str) -> None:
        self._outputs.update(dict.fromkeys(indices, RewardOutput.unscored(Status.SKIPPED, reason)))
