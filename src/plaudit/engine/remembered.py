"""Score only what is not known yet: look samples up in the cache, and score equal ones once.

A stream is taken in portions; each is looked up, its unknown samples are scored, and what came of them is stored before
the portion is given out. Rewards that look across samples are not cached: a group is known only as a whole.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.engine.cache import Cache
from plaudit.engine.keys import SampleKeys
from plaudit.engine.scored import Scored, named
from plaudit.engine.stats import ScorerStats
from plaudit.trajectory import Trajectory

__all__ = ["Remembered"]

PORTION = 4096


class Remembered:
    """A reward's samples in a cache; `reason` says why they cannot be there, and is empty otherwise."""

    def __init__(self, reward: RewardFunction, cache: Cache, stats: ScorerStats) -> None:
        self._keys = SampleKeys(reward)
        self._cache, self._stats = cache, stats
        self.reason = self._keys.reason or ("it looks across samples" if reward.scope != "sample" else "")

    def stream(
        self, trajectories: Iterable[Trajectory], score: Callable[[list[Trajectory]], Iterable[Scored]], first: int
    ) -> Iterator[Scored]:
        """Every sample with its output, in order; `score` is called for those that are not known."""
        source = iter(trajectories)
        while portion := list(islice(source, PORTION)):
            for place, output in enumerate(self._outputs(portion, score)):
                yield Scored(portion[place], named(output, portion[place], first + place))
            first += len(portion)

    def _outputs(
        self, portion: list[Trajectory], score: Callable[[list[Trajectory]], Iterable[Scored]]
    ) -> list[RewardOutput]:
        keys = self._keys.of(portion)
        known: dict[bytes, RewardOutput] = self._cache.get_many(key for key in keys if key is not None)
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
