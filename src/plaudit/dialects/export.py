"""A reward of ours as another trainer calls it: an object with a name that can be pickled and scores on the engine.

It is given what builds a scorer, so nothing here knows the engine. Workers start with the first call and do not travel:
a copy in another process starts its own.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from plaudit.contract.output import RewardOutput
from plaudit.errors import ScoringFailed
from plaudit.trajectory import Trajectory

__all__ = ["ExportedReward", "OnUnscored", "SupportsScore"]


class SupportsScore(Protocol):
    """What scores: an engine's scorer."""

    def score(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]: ...
    def close(self) -> None: ...


class OnUnscored(StrEnum):
    """What a trainer is given for a sample that was not scored."""

    NONE = "none"
    NAN = "nan"
    MEAN = "mean"  # the mean of what was scored in the same call, of the same group where there are groups
    RAISE = "raise"


class ExportedReward:
    """The base of exported rewards; `close()` ends its workers."""

    def __init__(
        self,
        name: str,
        build_scorer: Callable[[], SupportsScore],
        on_unscored: OnUnscored,
        group_size: int | None = None,
    ) -> None:
        self.__name__ = name
        self.build_scorer, self.on_unscored, self.group_size = build_scorer, on_unscored, group_size
        self._scorer: SupportsScore | None = None
        self._lock = threading.Lock()

    def score(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs, in order."""
        with self._lock:
            self._scorer = self._scorer or self.build_scorer()
        return self._scorer.score(trajectories)

    def values(self, trajectories: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> list[float | None]:
        """The number of each sample, and what the policy says where there is none."""
        failed = [output for output in outputs if output.reward is None]
        if failed and self.on_unscored is OnUnscored.RAISE:
            raise ScoringFailed(f"{len(failed)} of {len(outputs)} samples were not scored: {failed[0].reason}")
        if not failed or self.on_unscored is OnUnscored.NONE:
            return [output.reward for output in outputs]
        groups: dict[Any, list[float]] = {}
        for trajectory, output in zip(trajectories, outputs, strict=True):
            if output.reward is not None:
                groups.setdefault(trajectory.group_key, []).append(output.reward)
        return [
            self._instead(groups.get(trajectory.group_key, [])) if output.reward is None else output.reward
            for trajectory, output in zip(trajectories, outputs, strict=True)
        ]

    def _instead(self, scored: list[float]) -> float:
        is_mean = self.on_unscored is OnUnscored.MEAN and scored
        return sum(scored) / len(scored) if is_mean else math.nan

    def close(self) -> None:
        """End the workers; the next call starts new ones."""
        with self._lock:
            scorer, self._scorer = self._scorer, None
        if scorer is not None:
            scorer.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_scorer", "_lock")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _scorer=None, _lock=threading.Lock())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__})"
