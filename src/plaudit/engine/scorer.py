"""One scorer for any reward and any number of samples, in this process or on workers.

Outputs come in the order of the samples, and a bounded number of samples is in memory at once, whatever the source. A
scorer may be used again and again; as a context manager it leaves no process behind.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol

from plaudit.contract.boundary import Style
from plaudit.contract.function import Rewarding
from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.inline import InlineBackend
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.backends.ray import RayBackend
from plaudit.engine.caching.cache import Cache
from plaudit.engine.caching.cached_scores import PORTION, Remembered
from plaudit.engine.shipping import Shipment
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import Supply
from plaudit.engine.unit import Done, Limits
from plaudit.errors import InvalidSettings, InvalidTrajectory, did_you_mean
from plaudit.loading import load
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.trajectory import Trajectory

__all__ = ["Backend", "Scorer", "score"]


BATCH = 256  # for rewards that are written for batches
BATCH_UNDER_DEADLINE = 16  # a batch may take its samples' deadlines together: keep that short


class Backend(Protocol):
    """Where units are scored."""

    def run(self, supply: Supply) -> Iterator[Done]: ...
    def shutdown(self) -> None: ...


class Scorer:
    """Scores trajectories with a reward: `Scorer("math", workers=2, deadline_s=1.0)`.

    `reward` is a reward, a function, or a spec string; `backend` is "processes", "inline" or "ray", the last on this
    machine or on the cluster at `address`. `cache` is a file to keep scores in, or an open `Cache`.
    """

    def __init__(
        self,
        reward: Rewarding | str,
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
            if value is not None and value < 1:
                raise InvalidSettings(f"{name} must be at least 1, got {value}")
        if backend not in BACKENDS:
            raise InvalidSettings(f"no backend named {backend!r}{did_you_mean(backend, BACKENDS)}")
        if address is not None and backend != "ray":
            raise InvalidSettings(f"address={address!r} is for backend='ray'; the backend is {backend!r}")
        self.reward = load(reward)
        self.limits = Limits(deadline_s, memory_mb)
        self.workers = workers or os.cpu_count() or 1
        self.address = address
        self.by_sample = self.reward.style is Style.SAMPLE and not self.reward.is_async
        self.stats = ScorerStats(workers=self.workers)
        self.cache = Cache(cache) if isinstance(cache, str | Path) else cache
        self._owns_cache = isinstance(cache, str | Path)
        self._batch_size, self._group_size = batch_size, group_size
        self._unit_size: int | None = None  # as the samples scored so far made it
        self._remembered = None if self.cache is None else Remembered(self.reward, self.cache, self.stats)
        self._backend = BACKENDS[backend](self, reward)
        self._lock = threading.Lock()

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; the samples of a group may stand anywhere."""
        return [scored.output for scored in self.score_stream(trajectories, interleaved=True)]

    def score_stream(self, trajectories: Iterable[Trajectory], *, interleaved: bool = False) -> Iterator[ScoredRollout]:
        """Trajectories with their outputs, in order, a bounded number at a time.

        A group reward needs the samples of a group side by side, or a `group_size`; where groups are `interleaved`, the
        whole stream is read before they are scored.
        """
        if self._remembered is None or self._remembered.reason:
            return self._run(trajectories, interleaved=interleaved)
        return self._recalled(trajectories, self._remembered, interleaved=interleaved)

    def _recalled(
        self, trajectories: Iterable[Trajectory], remembered: Remembered, *, interleaved: bool
    ) -> Iterator[ScoredRollout]:
        """Outputs in order, from the cache where it has them."""
        waiting: dict[int, Trajectory] = {}
        supply = self._supply(trajectories, waiting, interleaved=interleaved, size=PORTION)
        done = remembered.results(supply, lambda missing: self._run(missing, interleaved=True))
        yield from _in_order(_with_late(done, supply), supply, waiting)

    def _run(self, trajectories: Iterable[Trajectory], *, interleaved: bool) -> Iterator[ScoredRollout]:
        """Outputs in order."""
        waiting: dict[int, Trajectory] = {}
        supply = self._supply(trajectories, waiting, interleaved=interleaved, size=self._batch_size)
        with self._lock:
            yield from _in_order(_with_late(self._results(supply), supply), supply, waiting)

    def _supply(
        self, trajectories: Iterable[Trajectory], waiting: dict[int, Trajectory], *, interleaved: bool, size: int | None
    ) -> Supply:
        """The samples in units; each stands in `waiting` under its place until its output is there."""
        return Supply(
            _noted(trajectories, waiting),
            self.reward.scope,
            size=size,
            least=self._least(),
            group_size=self._group_size,
            interleaved=interleaved,
            begin_with=self._unit_size,
        )

    def _least(self) -> int:
        """How many samples a unit should hold at least, however long they take."""
        if self.reward.is_async:
            return self.reward.concurrency  # they wait together
        if self.reward.style is Style.SAMPLE:
            return 1
        return BATCH if self.limits.deadline_s is None else BATCH_UNDER_DEADLINE

    async def ascore(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """`score` without holding up the event loop."""
        return await asyncio.to_thread(self.score, trajectories)

    def close(self) -> None:
        """End all workers; a cache that was given as a path is closed, one that was given is left open."""
        self._backend.shutdown()
        if self.cache is not None and self._owns_cache:
            self.cache.close()

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _results(self, supply: Supply) -> Iterator[Done]:
        began = time.perf_counter()
        for done in self._backend.run(supply):
            supply.observe(done.outputs)
            self.stats.scored += len(done.outputs)
            self.stats.busy_s += sum(output.latency_s or 0.0 for output in done.outputs)
            self.stats.queued_s.append(done.queued_s)
            self.stats.wall_s += time.perf_counter() - began
            self._unit_size = supply.size
            yield done
            began = time.perf_counter()


def _inline(scorer: Scorer, reward: Rewarding | str) -> Backend:
    if scorer.limits != Limits():
        raise InvalidSettings(
            "inline scoring cannot stop a reward: for deadline_s or memory_mb use backend='processes'"
        )
    scorer.stats.workers = 1
    return InlineBackend(scorer.reward)


def _processes(scorer: Scorer, reward: Rewarding | str) -> Backend:
    return ProcessBackend(
        Shipment.of(reward), scorer.workers, scorer.limits, by_sample=scorer.by_sample, stats=scorer.stats
    )


def _ray(scorer: Scorer, reward: Rewarding | str) -> Backend:
    return RayBackend(
        Shipment.of(reward), scorer.workers, scorer.limits, by_sample=scorer.by_sample, address=scorer.address
    )


BACKENDS: dict[str, Callable[[Scorer, Rewarding | str], Backend]] = {
    "inline": _inline,
    "processes": _processes,
    "ray": _ray,
}


def _with_late(results: Iterable[Done], supply: Supply) -> Iterator[Done]:
    """The results, and what the supply could not put in any unit."""
    for done in results:
        yield done
        yield from supply.late
        supply.late.clear()
    yield from supply.late


def _in_order(results: Iterable[Done], supply: Supply, waiting: dict[int, Trajectory]) -> Iterator[ScoredRollout]:
    """Samples with their outputs as soon as all before them are there."""
    ready: dict[int, RewardOutput] = {}
    for done in results:
        ready.update(zip(done.places, done.outputs, strict=True))
        while (output := ready.pop(supply.taken, None)) is not None:
            trajectory = waiting.pop(supply.taken)
            supply.taken += 1
            yield Rollout(trajectory, output)


def _noted(trajectories: Iterable[Trajectory], waiting: dict[int, Trajectory]) -> Iterator[Trajectory]:
    for place, trajectory in enumerate(trajectories):
        if not isinstance(trajectory, Trajectory):
            raise InvalidTrajectory(
                f"sample {place} is a {type(trajectory).__name__}, not a Trajectory; "
                "for plain data use plaudit.Trajectory.from_dict(...)"
            )
        waiting[place] = trajectory
        yield trajectory


def score(
    reward: Rewarding | str,
    trajectories: Iterable[Trajectory],
    *,
    backend: str = "inline",
    workers: int | None = None,
    deadline_s: float | None = None,
    memory_mb: int | None = None,
    cache: Cache | str | Path | None = None,
) -> list[RewardOutput]:
    """One output per trajectory, in order; what could not be scored says so in its status and reason.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes. Deadlines need
    `backend="processes"`; to score again and again, keep a `Scorer`.
    """
    listed = list(trajectories)
    with Scorer(
        reward, backend=backend, workers=workers, deadline_s=deadline_s, memory_mb=memory_mb, cache=cache
    ) as scorer:
        return scorer.score(listed)
