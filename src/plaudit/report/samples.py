"""Pick a few telling samples of a run while it streams by: the lowest, the highest, those not scored, or named ones.

Only the samples picked are kept, so a run may be larger than the memory.
"""

import enum
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

__all__ = ["DEFAULT_PICKS", "Pick", "PickedSample", "pick_samples"]


class Pick(enum.StrEnum):
    """Which samples to look at."""

    FAILED = "failed"
    LOWEST = "lowest"
    HIGHEST = "highest"
    FIRST = "first"


DEFAULT_PICKS = (Pick.FAILED, Pick.LOWEST, Pick.HIGHEST)
"""The default choice of samples."""


@dataclass(frozen=True, slots=True)
class PickedSample:
    """One sample of a run, and why it was picked."""

    index: int
    trajectory: Trajectory
    output: RewardOutput
    why: str


def pick_samples(
    scored: Iterable[tuple[Trajectory, RewardOutput]],
    count: int,
    picks: Sequence[Pick] = DEFAULT_PICKS,
    chosen: Sequence[str] = (),
) -> list[PickedSample]:
    """`count` samples, in turn from each of `picks`; or every sample whose id or place is in `chosen`."""
    if chosen:
        wanted = set(chosen)
        return [
            PickedSample(index, trajectory, output, "chosen")
            for index, (trajectory, output) in enumerate(scored)
            if str(index) in wanted or str(trajectory.id) in wanted
        ]
    piles = {pick: _Pile(pick, count) for pick in picks}
    for index, (trajectory, output) in enumerate(scored):
        for pile in piles.values():
            pile.add(index, trajectory, output)
    return _round_robin([pile.samples() for pile in piles.values()], count)


class _Pile:
    """The best `count` samples under one way of picking."""

    def __init__(self, pick: Pick, count: int) -> None:
        self._pick, self._count = pick, count
        self._heap: list[tuple[float, int, PickedSample]] = []

    def add(self, index: int, trajectory: Trajectory, output: RewardOutput) -> None:
        rank = self._rank(index, output)
        if rank is None:
            return
        sample = PickedSample(index, trajectory, output, self._pick.value)
        item = (rank, -index, sample)  # places differ, so samples are never compared
        if len(self._heap) < self._count:
            heapq.heappush(self._heap, item)
        elif item[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, item)

    def samples(self) -> list[PickedSample]:
        return [sample for _, _, sample in sorted(self._heap, key=lambda item: item[:2], reverse=True)]

    def _rank(self, index: int, output: RewardOutput) -> float | None:
        if self._pick is Pick.FIRST:
            return -float(index)
        if self._pick is Pick.FAILED:
            return None if output.ok else -float(index)
        if output.reward is None:
            return None
        return output.reward if self._pick is Pick.HIGHEST else -output.reward


def _round_robin(piles: list[list[PickedSample]], count: int) -> list[PickedSample]:
    """The first of each pile, then the second of each, and so on; no sample twice."""
    taken: dict[int, PickedSample] = {}
    for index in range(count):
        for pile in piles:
            if index < len(pile) and len(taken) < count:
                taken.setdefault(pile[index].index, pile[index])
    return list(taken.values())
