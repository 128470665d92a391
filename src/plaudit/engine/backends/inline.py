"""Score in this process: no start-up, no deadline, for rewards that are known to be quick."""

from collections.abc import Iterator

from plaudit.contract.boundary import score_samples
from plaudit.contract.function import RewardFunction
from plaudit.engine.stream import Supply
from plaudit.engine.unit import Done

__all__ = ["InlineBackend"]


class InlineBackend:
    """Scores each unit as it is asked for."""

    def __init__(self, reward: RewardFunction) -> None:
        self._reward = reward

    def run(self, supply: Supply) -> Iterator[Done]:
        while unit := supply.take():
            yield unit.done(score_samples(self._reward, unit.trajectories))

    def shutdown(self) -> None:
        """Nothing to end."""
