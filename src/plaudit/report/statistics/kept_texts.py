"""Some of the rollouts of a run, whole groups of them, for the statistics that read responses.

Which groups are kept follows from their names alone, so the same run keeps the same ones. Where they grow beyond
the budget, half of the groups are let go.
"""

from collections.abc import Iterator

import msgspec

from plaudit.report.groups import DIGEST_BITS, group_digest
from plaudit.rollouts import Rollout, ScoredRollout

__all__ = ["KeptTexts"]

MOST_CHARACTERS, MOST_ROLLOUTS = 20_000_000, 10_000
_ALL = 1 << DIGEST_BITS


class KeptTexts:
    """Rollouts by row; `share` is that of the groups that are kept."""

    def __init__(self, characters: int = MOST_CHARACTERS, rollouts: int = MOST_ROLLOUTS) -> None:
        self._characters, self._rollouts = characters, rollouts
        self._size = 0
        self._limit = _ALL
        self._kept: dict[
            int, tuple[int, int, ScoredRollout]
        ] = {}  # by row: the group's digest, characters, the rollout

    def add(self, row: int, rollout: ScoredRollout) -> None:
        """Take one rollout; it is kept when its group is."""
        mark = group_digest(rollout.trajectory)
        if mark >= self._limit:
            return
        trajectory = rollout.trajectory
        size = len(trajectory.response) + len(trajectory.prompt_text) + 500
        self._kept[row] = (mark, size, Rollout(msgspec.structs.replace(trajectory, tokens=None), rollout.output))
        self._size += size
        while (self._size > self._characters or len(self._kept) > self._rollouts) and self._limit > 1:
            self._limit //= 2
            self._kept = {place: each for place, each in self._kept.items() if each[0] < self._limit}
            self._size = sum(size for _, size, _ in self._kept.values())

    def __iter__(self) -> Iterator[tuple[int, ScoredRollout]]:
        """The rows that are kept, with their rollouts."""
        return ((row, rollout) for row, (_, _, rollout) in self._kept.items())

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def share(self) -> float:
        return self._limit / _ALL
