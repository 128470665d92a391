"""One scorer for any reward and any number of samples, in this process or on workers.

Outputs come in the order of the samples, and a bounded number of samples is in memory at once, whatever the source. A
scorer may be used again and again; as a context manager it leaves no process behind.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import NamedTuple, Protocol

import msgspec

from plaudit.contract.boundary import Style
from plaudit.contract.function import RewardFunction, Rewarding
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.inline import InlineBackend
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.shipping import Shipment
from plaudit.engine.supply import Supply
from plaudit.engine.unit import Done, Limits
from plaudit.errors import InvalidReward, InvalidTrajectory, did_you_mean
from plaudit.loading import load
from plaudit.trajectory import Trajectory

__all__ = ["Backend", "Scored", "Scorer", "score"]


class Backend(Protocol):
    """Where units are scored."""

    def run(self, supply: Supply) -> Iterator[Done]: ...
    def shutdown(self) -> None: ...


class Scored(NamedTuple):
    """A trajectory and what the reward said about it."""

    trajectory: Trajectory
    output: RewardOutput


class Scorer:
    """Scores trajectories with a reward: `Scorer("math", workers=2, deadline_s=1.0)`."""

    def __init__(
        self,
        reward: Rewarding | str,
        *,
        backend: str = "processes",
        workers: int | None = None,
        deadline_s: float | None = None,
        memory_mb: int | None = None,
        batch_size: int | None = None,
        group_size: int | None = None,
    ) -> None:
        for name, value in (("workers", workers), ("batch_size", batch_size), ("group_size", group_size)):
            if value is not None and value < 1:
                raise InvalidReward(f"{name} must be at least 1, got {value}")
        if backend not in BACKENDS:
            raise InvalidReward(f"no backend named {backend!r}{did_you_mean(backend, BACKENDS)}")
        self.reward = load(reward)
        self.limits = Limits(deadline_s, memory_mb)
        self.workers = workers or os.cpu_count() or 1
        self._batch_size, self._group_size = batch_size, group_size
        self._backend = BACKENDS[backend](self, reward)
        self._lock = threading.Lock()

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; the samples of a group may stand anywhere."""
        return [scored.output for scored in self.score_stream(trajectories, interleaved=True)]

    def score_stream(
        self, trajectories: Iterable[Trajectory], *, first: int = 0, interleaved: bool = False
    ) -> Iterator[Scored]:
        """Trajectories with their outputs, in order, a bounded number at a time; messages number them from `first`.

        A group reward needs the samples of a group side by side, or a `group_size`; where groups are `interleaved`, the
        whole stream is read before they are scored.
        """
        waiting: dict[int, Trajectory] = {}
        supply = Supply(
            _noted(trajectories, waiting),
            self.reward.scope,
            size=self._batch_size,
            group_size=self._group_size,
            interleaved=interleaved,
        )
        ready: dict[int, RewardOutput] = {}
        with self._lock:
            for done in self._results(supply):
                ready.update(zip(done.places, done.outputs, strict=True))
                while supply.taken in ready:
                    place = supply.taken
                    trajectory, output = waiting.pop(place), ready.pop(place)
                    supply.taken += 1
                    yield Scored(trajectory, _named(output, trajectory, first + place))

    async def ascore(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """`score` without holding up the event loop."""
        return await asyncio.to_thread(self.score, trajectories)

    def close(self) -> None:
        """End all workers."""
        self._backend.shutdown()

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _results(self, supply: Supply) -> Iterator[Done]:
        for done in self._backend.run(supply):
            supply.observe(done.outputs)
            yield done
            yield from supply.late
            supply.late.clear()
        yield from supply.late


def _inline(scorer: Scorer, reward: Rewarding | str) -> Backend:
    if scorer.limits != Limits():
        raise InvalidReward("inline scoring cannot stop a reward: for deadline_s or memory_mb use backend='processes'")
    return InlineBackend(scorer.reward)


def _processes(scorer: Scorer, reward: Rewarding | str) -> Backend:
    by_sample = scorer.reward.style is Style.SAMPLE and not scorer.reward.is_async
    return ProcessBackend(Shipment.of(reward), scorer.workers, scorer.limits, by_sample=by_sample)


BACKENDS: dict[str, Callable[[Scorer, Rewarding | str], Backend]] = {"inline": _inline, "processes": _processes}


def _noted(trajectories: Iterable[Trajectory], waiting: dict[int, Trajectory]) -> Iterator[Trajectory]:
    for place, trajectory in enumerate(trajectories):
        if not isinstance(trajectory, Trajectory):
            raise InvalidTrajectory(
                f"sample {place} is a {type(trajectory).__name__}, not a Trajectory; "
                "for plain data use plaudit.Trajectory.from_dict(...)"
            )
        waiting[place] = trajectory
        yield trajectory


def _named(output: RewardOutput, trajectory: Trajectory, place: int) -> RewardOutput:
    if output.status is Status.OK:
        return output
    return msgspec.structs.replace(output, reason=f"{trajectory.named(place)}: {output.reason}")


def score(
    reward: Rewarding | str,
    trajectories: Iterable[Trajectory],
    *,
    backend: str = "inline",
    workers: int | None = None,
    deadline_s: float | None = None,
    memory_mb: int | None = None,
) -> list[RewardOutput]:
    """One output per trajectory, in order; what could not be scored says so in its status and reason.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes. Deadlines need
    `backend="processes"`; to score again and again, keep a `Scorer`.
    """
    listed = list(trajectories)
    with Scorer(reward, backend=backend, workers=workers, deadline_s=deadline_s, memory_mb=memory_mb) as scorer:
        return scorer.score(listed)
