"""One scorer for any reward and any number of samples, in this process or on workers.

Outputs come in the order of the samples, and a bounded number of samples is in memory at once, whatever the source. A
scorer may be used again and again, from several threads, for several streams at a time; as a context manager it leaves
no process behind.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from plaudit.contract.calling import several
from plaudit.contract.contents import count_workers
from plaudit.contract.function import RewardFunction, RewardLike
from plaudit.contract.output import RewardOutput
from plaudit.contract.scoring import Style, scope_of
from plaudit.engine.backends.backend import Backend, BackendSettings, Limits
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.backends.ray import RayBackend
from plaudit.engine.caching.cache import Cache
from plaudit.engine.caching.cached_scores import PORTION, CachedScores
from plaudit.engine.dispatcher import Dispatcher, InlineRunner, StreamRunner
from plaudit.engine.shipping import Shipment
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import Cutting, OrderedStream, Sample, UnitSize
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.loading import Loaded, resolve
from plaudit.rollouts import ScoredRollout, read_rollouts

Samples: TypeAlias = Iterable[Sample] | str | os.PathLike[str]
"""Trajectories, dicts that hold them, or the path of a rollouts file."""

INLINE = "inline"
BACKENDS: dict[str, Callable[[Shipment, BackendSettings], Backend]] = {"processes": ProcessBackend, "ray": RayBackend}


class Scorer:
    """Scores trajectories with a reward: `Scorer("math", workers=2, deadline_s=1.0)`.

    `reward` is a reward, a function, a spec string, or what `plaudit.loading.resolve` gives; `backend` is "processes",
    "inline" or "ray", the last on this machine or on the cluster at `address`. `cache` is a file to keep scores in, or
    an open `Cache`.
    """

    def __init__(
        self,
        reward: RewardLike | Loaded | str,
        *,
        backend: str = "processes",
        workers: int | None = None,
        deadline_s: float | None = None,
        memory_mb: int | None = None,
        cache: Cache | str | Path | None = None,
        batch_size: int | None = None,
        group_size: int | None = None,
        address: str | None = None,
    ) -> None:
        for name, value in (("workers", workers), ("batch_size", batch_size), ("group_size", group_size)):
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise InvalidSettings(f"{name} must be at least 1, got {value!r}")
        if backend not in (INLINE, *BACKENDS):
            raise InvalidSettings(f"no backend named {backend!r}{did_you_mean(backend, [INLINE, *BACKENDS])}")
        if address is not None and backend != "ray":
            raise InvalidSettings(f"address={address!r} is for backend='ray'; the backend is {backend!r}")
        loaded = reward if isinstance(reward, Loaded) else resolve(reward)
        self.reward: RewardFunction = loaded.reward
        self.loaded, self.deadline_s = loaded, deadline_s
        self.stats = ScorerStats(workers=count_workers(self.reward, workers))
        settings = BackendSettings(self.stats.workers, Limits(deadline_s, memory_mb), address, self.stats)
        self._scope, self._together = scope_of(self.reward), _together(self.reward)
        self._size = UnitSize(batch_size, self._together)
        self._group_size = group_size
        self.cache = Cache(cache) if isinstance(cache, str | Path) else cache
        self._owns_cache = isinstance(cache, str | Path)
        self._cached = (
            None if self.cache is None else CachedScores(self.reward, self.cache, self.stats, stays=backend == INLINE)
        )
        self._runner = self._build_runner(backend, loaded, settings)

    def _build_runner(self, backend: str, loaded: Loaded, settings: BackendSettings) -> StreamRunner:
        if backend != INLINE:
            return Dispatcher(lambda: BACKENDS[backend](Shipment.of(loaded), settings), self.stats, self._size)
        if settings.limits != Limits():
            raise InvalidSettings(
                "inline scoring cannot stop a reward: for deadline_s or memory_mb use backend='processes'"
            )
        return InlineRunner(self.reward, self.stats, self._size)

    def score(self, trajectories: Samples) -> list[RewardOutput]:
        """One output per trajectory, in order; the samples of a group may be at any positions."""
        return [scored.output for scored in self.score_stream(trajectories, interleaved=True)]

    def score_stream(self, trajectories: Samples, *, interleaved: bool = False) -> Iterator[ScoredRollout]:
        """Trajectories with their outputs, in order, a bounded number at a time.

        A group reward needs the samples of a group side by side, or a `group_size`; where groups are `interleaved`, the
        whole stream is read before they are scored. When the source raises, what it gave before is scored first.
        """
        return self._run(trajectories, interleaved, threading.Event())

    async def ascore(self, trajectories: Samples) -> list[RewardOutput]:
        """`score` without holding up the event loop; when it is cancelled, scoring stops."""
        stop = threading.Event()

        def outputs() -> list[RewardOutput]:
            return [scored.output for scored in self._run(trajectories, True, stop)]

        try:
            return await asyncio.to_thread(outputs)
        finally:
            stop.set()

    def close(self) -> None:
        """End all workers; close a cache that was given as a path, but not one that was given open.

        A stream that another thread is still reading raises `ScoringFailed` there.
        """
        self._runner.close()
        if self.cache is not None and self._owns_cache:
            self.cache.close()

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _run(self, trajectories: Samples, interleaved: bool, stop: threading.Event) -> Iterator[ScoredRollout]:
        if isinstance(trajectories, str | os.PathLike):
            trajectories = (rollout.trajectory for rollout in read_rollouts(trajectories))
        source: Iterable[Sample] = several(trajectories)

        def run(samples: Iterable[Sample], interleaved: bool = True) -> Iterator[ScoredRollout]:
            cutting = Cutting(self._scope, self._size, self._group_size, interleaved, self._together)
            return self._runner.run(OrderedStream(samples, cutting, stop))

        if self._cached is None or not self._cached.is_usable():
            return run(source, interleaved)
        cutting = Cutting(self._scope, UnitSize(PORTION), self._group_size, interleaved)
        return self._cached.run(OrderedStream(source, cutting, stop), run)


def score(
    reward: RewardLike | str,
    trajectories: Samples,
    *,
    backend: str = INLINE,
    workers: int | None = None,
    deadline_s: float | None = None,
    memory_mb: int | None = None,
    cache: Cache | str | Path | None = None,
) -> list[RewardOutput]:
    """One output per trajectory, in order; a sample that could not be scored has a status and a reason.

    Trajectories may be dicts, as the lines of a rollouts file, or the path of such a file. `reward` is a reward, a
    plain function, or a spec string as `plaudit.load` takes. Deadlines need `backend="processes"`; to score again and
    again, keep a `Scorer`.
    """
    with Scorer(
        reward, backend=backend, workers=workers, deadline_s=deadline_s, memory_mb=memory_mb, cache=cache
    ) as scorer:
        return scorer.score(trajectories)


def _together(reward: Any) -> int:
    """The least number of samples of a unit: the number of concurrent calls of a function, or its largest batch."""
    if reward.call_style is Style.COMPOUND:
        return max(map(_together, reward.parts))
    calls = reward.concurrency if reward.is_async and reward.call_style is Style.SAMPLE else 1
    return max(calls, 1 if reward.call_style is Style.SAMPLE else reward.max_batch or 1)
