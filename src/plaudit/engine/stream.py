"""Cut a stream of samples into units of work, and no faster than results are taken.

A unit holds about as many samples as take 10 ms, or a whole group. In a stream a group ends where the next one begins,
or when it has `group_size` samples; where groups are interleaved, all samples are read first. A sample that comes after
its group has ended is not scored, and says so.
"""

from collections.abc import Iterator
from itertools import islice

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.unit import Done, Unit
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = ["WINDOW", "Supply"]

UNIT_S = 0.01
FIRST_SIZE, MAX_SIZE = 4, 2048
WINDOW = 16_384


class Supply:
    """Units on demand: `take()` gives the next one, or None when there is none now."""

    def __init__(
        self,
        samples: Iterator[Trajectory],
        scope: Scope,
        *,
        size: int | None = None,
        least: int = 1,
        group_size: int | None = None,
        interleaved: bool = False,
        begin_with: int | None = None,
    ) -> None:
        self._samples = samples
        self._scope, self._fixed, self._group_size, self._interleaved = scope, size, group_size, interleaved
        self._least = least  # async rewards need enough samples at once to wait for them together
        self.size = size or max(least, begin_with or FIRST_SIZE)  # of the next unit
        self._groups: dict[str | int, list[tuple[int, Trajectory]]] = {}
        self._ended: set[str | int] = set()
        self.late: list[Done] = []
        self.exhausted = False
        self.read = 0
        self.taken = 0  # how many results the caller has taken

    def take(self) -> Unit | None:
        if self._groups and self.exhausted:
            return self._leftover()
        if self.exhausted or (self.read - self.taken >= WINDOW and not self._groups):
            return None
        if self._scope == "group":
            return self._group()
        first, samples = self.read, self._next(self.size if self._scope == "sample" else None)
        return Unit(range(first, self.read), samples, whole=self._scope == "batch") if samples else None

    def observe(self, outputs: list[RewardOutput]) -> None:
        """Learn how long samples take, to size the next units."""
        seconds = sum(output.latency_s or 0.0 for output in outputs) / max(1, len(outputs))
        if self._fixed is None:
            wanted = int(min(MAX_SIZE, max(1.0, UNIT_S / max(seconds, 1e-6))))
            self.size = max(self._least, min(wanted, 2 * self.size))

    def _next(self, count: int | None) -> list[Trajectory]:
        samples = list(islice(self._samples, count))
        self.exhausted = count is None or len(samples) < count
        self.read += len(samples)
        return samples

    def _group(self) -> Unit | None:
        """The next group that is complete; None at the end, when `late` tells what was left over."""
        while not self.exhausted:
            first, samples = self.read, self._next(None if self._interleaved else 1)
            for place, sample in enumerate(samples, first):
                key = sample.group_key
                if key in self._ended:
                    self.late.append(Done([place], [_unscored(f"group {key!r:.60} had ended before: {CONTIGUOUS}")]))
                    continue
                before = next((other for other in self._groups if other != key), None)
                self._groups.setdefault(key, []).append((place, sample))
                if self._interleaved:
                    continue
                if before is not None and self._group_size is None:
                    return self._ended_group(before)
                if len(self._groups[key]) == self._group_size:
                    return self._ended_group(key)
        return self._leftover()

    def _ended_group(self, key: str | int) -> Unit | None:
        self._ended.add(key)
        members = self._groups.pop(key)
        return Unit([place for place, _ in members], [sample for _, sample in members], whole=True)

    def _leftover(self) -> Unit | None:
        """The groups that are open at the end: complete ones one by one, incomplete ones as late."""
        for key, samples in list(self._groups.items()):
            if self._group_size in (None, len(samples)):
                return self._ended_group(key)
            reason = f"group {key!r:.60} is incomplete: {len(samples)} of {self._group_size} samples"
            self.late += [Done([place], [_unscored(reason)]) for place, _ in samples]
            del self._groups[key]
        return None


CONTIGUOUS = "keep the samples of a group together, or say group_size"


def _unscored(reason: str) -> RewardOutput:
    return RewardOutput.unscored(Status.SKIPPED, reason)
