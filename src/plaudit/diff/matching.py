"""Bring the outputs of two rewards together: score the same samples with both, or read two scored files.

Lines of two files are the same sample where their ids are, or, without ids, where prompt and response at the same place
are equal; anything else is an error that names the line.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from plaudit.contract.function import Rewarding
from plaudit.diff.difference import THRESHOLD, Difference, DifferenceBuilder
from plaudit.engine import Scorer
from plaudit.errors import RolloutsError
from plaudit.loading import Loaded
from plaudit.rollouts import Rollout, ScoredRollout, read_rollouts
from plaudit.trajectory import Trajectory

__all__ = ["compare_files", "compare_rewards"]


def compare_rewards(
    old: Rewarding | Loaded | str,
    new: Rewarding | Loaded | str,
    trajectories: Iterable[Trajectory],
    *,
    threshold: float = THRESHOLD,
    backend: str = "inline",
    deadline_s: float | None = None,
    workers: int | None = None,
) -> Difference:
    """Score the same samples with both rewards and say what differs."""
    samples = list(trajectories)
    builder = DifferenceBuilder(threshold=threshold)
    sides = []
    for reward in (old, new):
        with Scorer(reward, backend=backend, deadline_s=deadline_s, workers=workers) as scorer:
            sides.append(scorer.score(samples))
    for trajectory, first, second in zip(samples, *sides, strict=True):
        builder.add(trajectory, first, second)
    return builder.difference()


def compare_files(
    old: str | Path, new: str | Path, *, threshold: float = THRESHOLD, columns: Mapping[str, str] | None = None
) -> Difference:
    """Compare what two scored files say of the same samples."""
    builder = DifferenceBuilder(threshold=threshold)
    first, second = (_read_scored(path, columns) for path in (old, new))
    for line, (left, right) in enumerate(_pairs(first, second, old, new), start=1):
        if not _is_same(left, right):
            raise RolloutsError(
                f"line {line} of {new} is another sample than in {old}; compare files of the same rollouts in the same "
                "order, or give every line an id"
            )
        builder.add(right.trajectory, left.output, right.output)
    return builder.difference()


def _read_scored(path: str | Path, columns: Mapping[str, str] | None) -> Iterator[ScoredRollout]:
    for line, rollout in enumerate(read_rollouts(path, columns=columns), start=1):
        if rollout.output is None:
            raise RolloutsError(f"{path}:{line}: not scored; score it first: plaudit score REWARD {path}")
        yield Rollout(rollout.trajectory, rollout.output)


def _pairs(
    first: Iterator[ScoredRollout], second: Iterator[ScoredRollout], old: str | Path, new: str | Path
) -> Iterator[tuple[ScoredRollout, ScoredRollout]]:
    """By id where the first line has one, and then in any order; else by place."""
    opening = next(first, None)
    if opening is not None and opening.trajectory.id is not None:
        known = {each.trajectory.id: each for each in (opening, *first)}
        for right in second:
            left = known.pop(right.trajectory.id, None)
            if left is None:
                raise RolloutsError(f"{new} has a sample with the id {right.trajectory.id!r}, which {old} lacks")
            yield left, right
        if known:
            raise RolloutsError(
                f"{new} lacks {len(known):,} samples of {old}, the first with the id {next(iter(known))!r}"
            )
        return
    opened = first if opening is None else iter([opening, *first])
    for left, right in zip_longest(opened, second):
        if left is None or right is None:
            raise RolloutsError(f"{old} and {new} have different numbers of lines; compare files of the same rollouts")
        yield left, right


def _is_same(left: ScoredRollout, right: ScoredRollout) -> bool:
    one, other = left.trajectory, right.trajectory
    return one.response == other.response and one.prompt_text == other.prompt_text
