"""Score any number of trajectories with any reward, failures as data.

Streams are scored in chunks so that memory stays bounded; rewards that look across samples (scope "group" or "batch")
need all samples at hand, so for them the whole stream is read first.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from plaudit.contract.boundary import evaluate
from plaudit.contract.function import RewardFunction, Rewarding
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory
from plaudit.loading import load
from plaudit.trajectory import Trajectory

__all__ = ["Scored", "score", "score_stream"]


class Scored(NamedTuple):
    """A trajectory and what the reward said about it."""

    trajectory: Trajectory
    output: RewardOutput


def score(reward: Rewarding | str, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
    """One output per trajectory, in order; what could not be scored says so in its status and reason.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes.
    """
    listed = [_checked(trajectory, index) for index, trajectory in enumerate(trajectories)]
    return evaluate(load(reward), listed, first=0)


def score_stream(
    reward: Rewarding | str, trajectories: Iterable[Trajectory], *, chunk: int = 256, first: int = 0
) -> Iterator[Scored]:
    """Trajectories with their outputs, in order, a chunk at a time; `first` numbers the first sample in messages."""
    loaded = load(reward)
    samples = iter(_checked(trajectory, first + place) for place, trajectory in enumerate(trajectories))
    while batch := _next_batch(loaded, samples, chunk):
        yield from map(Scored, batch, evaluate(loaded, batch, first=first))
        first += len(batch)


def _next_batch(reward: RewardFunction, samples: Iterator[Trajectory], chunk: int) -> list[Trajectory]:
    return list(islice(samples, chunk if reward.scope == "sample" else None))


def _checked(trajectory: Trajectory, index: int) -> Trajectory:
    if not isinstance(trajectory, Trajectory):
        raise InvalidTrajectory(
            f"sample {index} is a {type(trajectory).__name__}, not a Trajectory; "
            "for plain data use plaudit.Trajectory.from_dict(...)"
        )
    return trajectory
