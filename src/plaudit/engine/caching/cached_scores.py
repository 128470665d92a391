"""Score only what is not known yet: look samples up in the cache, and score equal ones once.

A stream is taken in portions; each is looked up, its unknown samples are scored, and their outputs are stored before
the portion is released. Where a reward looks across samples, a group is known as a whole or not at all.
"""

from collections.abc import Callable, Iterable, Iterator

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.engine.caching.cache import Cache
from plaudit.engine.caching.keys import SampleKeys
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.rollouts import ScoredRollout
from plaudit.trajectory import Trajectory

__all__ = ["PORTION", "CachedScores"]

PORTION = 4096


class CachedScores:
    """A reward's samples in a cache; `stats.uncached` says why they cannot be there.

    The reward is identified now, as it travels to workers; where it `stays` in this process, its parameters and globals
    may change, so that it is identified again for each run.
    """

    def __init__(self, reward: RewardFunction, cache: Cache, stats: ScorerStats, *, stays: bool) -> None:
        self._reward, self._cache, self._stats, self._stays = reward, cache, stats, stays
        self._keys = SampleKeys(reward)
        stats.uncached = self._keys.reason

    def is_usable(self) -> bool:
        """Whether the reward, as it is now, can be identified."""
        if self._stays:
            self._keys = SampleKeys(self._reward)
            self._stats.uncached = self._keys.reason
        return not self._keys.reason

    def run(
        self, stream: OrderedStream, score: Callable[[list[Trajectory]], Iterable[ScoredRollout]]
    ) -> Iterator[ScoredRollout]:
        """The samples of a stream with their outputs, in order; `score` is called for those that are not known."""
        keys = self._keys
        while units := _next_portion(stream):
            samples = [sample for unit in units for sample in unit.trajectories]
            places = [place for unit in units for place in unit.places]
            cut = [keys.of(unit.trajectories) for unit in units]
            stream.accept(UnitResult(places, self._outputs(units, cut, samples, score)))
            yield from stream.release()
        yield from stream.release()  # what was skipped
        stream.raise_error()

    def _outputs(
        self,
        units: list[Unit],
        cut: list[list[bytes | None]],
        portion: list[Trajectory],
        score: Callable[[list[Trajectory]], Iterable[ScoredRollout]],
    ) -> list[RewardOutput]:
        keys = [key for of_unit in cut for key in of_unit]
        known: dict[bytes, RewardOutput] = self._cache.get_many(key for key in keys if key is not None)
        for unit, of_unit in zip(units, cut, strict=True):
            if unit.whole and not known.keys() >= set(of_unit):
                for key in of_unit:
                    known.pop(key, None)  # type: ignore[arg-type]  # None is no key, and is not there
        found = sum(key in known for key in keys)
        chosen = list(dict.fromkeys(key or place for place, key in enumerate(keys) if key not in known))
        sample_of = {key or place: place for place, key in reversed(list(enumerate(keys)))}
        fresh = [scored.output for scored in score([portion[sample_of[one]] for one in chosen])]
        outcome: dict[bytes | int, RewardOutput] = dict(known.items())
        outcome.update(zip(chosen, fresh, strict=True))
        self._cache.put_many({key: outcome[key] for key in chosen if isinstance(key, bytes)})
        self._stats.cached += found
        self._stats.duplicates += len(portion) - found - len(chosen)
        return [outcome[key or place] for place, key in enumerate(keys)]


def _next_portion(stream: OrderedStream) -> list[Unit]:
    units: list[Unit] = []
    while sum(map(len, units)) < PORTION and (unit := stream.cut()):
        units.append(unit)
    return units
