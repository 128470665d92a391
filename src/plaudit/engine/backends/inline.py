"""Score in this process: no start-up, no deadline, for rewards that are known to be quick."""

from collections import deque

from plaudit.contract.contents import warm_up
from plaudit.contract.function import RewardFunction
from plaudit.contract.scoring import score_samples
from plaudit.engine.backends.backend import BackendSettings, Limits
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.errors import InvalidSettings

__all__ = ["InlineBackend"]


class InlineBackend:
    """Scores one unit after the other when results are collected."""

    survives_fork = True

    def __init__(self, reward: RewardFunction, settings: BackendSettings) -> None:
        if settings.limits != Limits():
            raise InvalidSettings(
                "inline scoring cannot stop a reward: for deadline_s or memory_mb use backend='processes'"
            )
        settings.stats.workers = 1
        self._reward, self._is_warm = reward, False
        self._units: deque[Unit] = deque()

    def wants_more(self, units: int, samples: int) -> bool:
        return not units and not self._units

    def submit(self, unit: Unit) -> None:
        self._units.append(unit)

    def collect(self, timeout_s: float) -> list[UnitResult]:
        if not self._units:
            return []
        if not self._is_warm:
            warm_up(self._reward)
            self._is_warm = True
        unit = self._units.popleft()
        return [unit.result(score_samples(self._reward, unit.trajectories))]

    def discard(self, stream: OrderedStream) -> None:
        self._units = deque(unit for unit in self._units if unit.stream is not stream)

    def shutdown(self) -> None:
        """Nothing to end."""
