"""Score only what the cache does not hold.

A stream is read in portions; the cache is asked for each portion, and what is missing is scored and stored before the
portion is released. A group, or a batch, is stored as a whole under the key of all its samples.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from plaudit.contract.contents import rewards_within
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.engine.caching.cache import Cache, Outputs
from plaudit.engine.caching.identity import DIGEST_SIZE, NotIdentified, RewardIdentity, identify
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.rollouts import ScoredRollout
from plaudit.trajectory import Trajectory

PORTION = 4096
Score: TypeAlias = Callable[[list[Trajectory]], Iterable[ScoredRollout]]
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Trajectory)


class CachedScores:
    """A reward's outputs in a cache; `stats.uncached` holds the reason if they cannot be there.

    Workers get the reward when they start, so it is identified once; a reward that stays in this process may change, so
    its settings are read again for each run.
    """

    def __init__(self, reward: RewardFunction, cache: Cache, stats: ScorerStats, *, stays: bool) -> None:
        self._reward, self._cache, self._stats, self._stays = reward, cache, stats, stays
        self._identity = RewardIdentity(reward)
        self._digest = self._identify()

    def is_usable(self) -> bool:
        """Whether the current version of the reward can be cached."""
        if self._stays:
            self._digest = self._identify()
        return bool(self._digest)

    def run(self, stream: OrderedStream, score: Score) -> Iterator[ScoredRollout]:
        """The samples of a stream with their outputs, in order; `score` is called for those that are not cached."""
        digest = self._digest
        while units := _next_portion(stream):
            indexes = [index for unit in units for index in unit.indices]
            stream.accept(UnitResult(indexes, self._outputs(digest, list(_entries(units)), score)))
            yield from stream.release()
        yield from stream.release()  # skipped samples
        stream.raise_error()

    def _identify(self) -> bytes:
        """The digest of the reward; empty if it cannot be cached."""
        changing = [part.name for part in rewards_within(self._reward) if part.deterministic is False]
        self._stats.uncached = f"{changing[0]} declares deterministic=False" if changing else self._cache.note
        if self._stats.uncached:
            return b""
        try:
            return self._identity.digest()
        except NotIdentified as error:
            self._stats.uncached = str(error)
            return b""

    def _outputs(self, digest: bytes, entries: list[list[Trajectory]], score: Score) -> list[RewardOutput]:
        keys = [entry_key(digest, samples) for samples in entries]
        cached: dict[bytes | int, Outputs] = dict(self._cache.get_many(key for key in keys if key).items())
        merges_equal = self._reward.deterministic is True
        slots = [key if key and (merges_equal or key in cached) else index for index, key in enumerate(keys)]
        missing = {slot: index for index, slot in enumerate(slots) if slot not in cached}
        run = score([sample for index in missing.values() for sample in entries[index]])
        fresh = iter([rollout.output for rollout in run])
        scored = {slot: [next(fresh) for _ in entries[index]] for slot, index in missing.items()}
        self._cache.put_many({key: scored[slots[index]] for index in missing.values() if (key := keys[index])})
        self._stats.uncached = self._cache.note
        self._stats.cached += sum(len(samples) for samples, slot in zip(entries, slots, strict=True) if slot in cached)
        duplicates = [slot for index, slot in enumerate(slots) if missing.get(slot, index) != index]
        self._stats.duplicates += sum(len(scored[slot]) for slot in duplicates)
        outputs = cached | scored
        return [output for slot in slots for output in outputs[slot]]


def entry_key(digest: bytes, samples: Sequence[Trajectory]) -> bytes | None:
    """The key of whole samples; None if one holds something that cannot be identified."""
    key = hashlib.blake2b(key=digest, digest_size=DIGEST_SIZE)
    try:
        for sample in samples:
            key.update(_hash(sample))
    except (NotIdentified, RecursionError):
        return None
    return key.digest()


def _hash(sample: Trajectory) -> bytes:
    try:
        content = _encoder.encode(sample)
        if _decoder.decode(content) == sample:
            return hashlib.blake2b(content, digest_size=DIGEST_SIZE).digest()
    except (TypeError, OverflowError, ValueError):  # no msgpack type, large integers, lone surrogates
        pass
    return identify(sample)


def _entries(units: Iterable[Unit]) -> Iterator[list[Trajectory]]:
    """The samples that share a cache entry: a group, a batch, or a single sample."""
    for unit in units:
        yield from [unit.trajectories] if unit.whole else ([sample] for sample in unit.trajectories)


def _next_portion(stream: OrderedStream) -> list[Unit]:
    units: list[Unit] = []
    while sum(map(len, units)) < PORTION and (unit := stream.cut()):
        units.append(unit)
    return units
