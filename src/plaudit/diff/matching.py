"""Bring the outputs of two rewards together: score the same samples with both, or read two scored files.

Lines of two files are the same sample where their ids are, or, without ids, where prompt and response at the same place
are equal; anything else is an error that names the line.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from pathlib import Path

from plaudit.contract.function import Rewarding
from plaudit.contract.output import RewardOutput
from plaudit.diff.difference import THRESHOLD, Difference, DifferenceBuilder
from plaudit.engine import Scorer
from plaudit.errors import RolloutsError
from plaudit.loading import Loaded
from plaudit.rollouts import Rollout, ScoredRollout, read_rollouts
from plaudit.trajectory import Trajectory

__all__ = ["ScoredPair", "compare_files", "compare_pairs", "compare_rewards", "pair_files", "pair_rewards"]

ScoredPair = tuple[Trajectory, RewardOutput, RewardOutput]
"""A sample with what the old reward and the new one say of it."""


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
    pairs = pair_rewards(old, new, trajectories, backend=backend, deadline_s=deadline_s, workers=workers)
    return compare_pairs(pairs, threshold=threshold)


def compare_files(
    old: str | Path, new: str | Path, *, threshold: float = THRESHOLD, columns: Mapping[str, str] | None = None
) -> Difference:
    """Compare what two scored files say of the same samples."""
    return compare_pairs(pair_files(old, new, columns=columns), threshold=threshold)


def compare_pairs(pairs: Iterable[ScoredPair], *, threshold: float = THRESHOLD) -> Difference:
    """Say what differs between samples that were scored twice."""
    builder = DifferenceBuilder(threshold=threshold)
    for trajectory, old, new in pairs:
        builder.add(trajectory, old, new)
    return builder.difference()


def pair_rewards(
    old: Rewarding | Loaded | str,
    new: Rewarding | Loaded | str,
    trajectories: Iterable[Trajectory],
    *,
    backend: str = "inline",
    deadline_s: float | None = None,
    workers: int | None = None,
) -> list[ScoredPair]:
    """Score the same samples with both rewards."""
    samples = list(trajectories)
    sides = []
    for reward in (old, new):
        with Scorer(reward, backend=backend, deadline_s=deadline_s, workers=workers) as scorer:
            sides.append(scorer.score(samples))
    return list(zip(samples, *sides, strict=True))


def pair_files(old: str | Path, new: str | Path, *, columns: Mapping[str, str] | None = None) -> Iterator[ScoredPair]:
    """The samples of two scored files, in the order of the new one."""
    first, second = (_read_scored(path, columns) for path in (old, new))
    for line, (left, right) in enumerate(_match(first, second, old, new), start=1):
        if not _is_same(left, right):
            raise RolloutsError(
                f"line {line} of {new} is another sample than in {old}; compare files of the same rollouts in the same "
                "order, or give every line an id"
            )
        yield right.trajectory, left.output, right.output


def _read_scored(path: str | Path, columns: Mapping[str, str] | None) -> Iterator[ScoredRollout]:
    for line, rollout in enumerate(read_rollouts(path, columns=columns), start=1):
        if rollout.output is None:
            raise RolloutsError(f"{path}:{line}: not scored; score it first: plaudit score REWARD {path}")
        yield Rollout(rollout.trajectory, rollout.output)


def _match(
    first: Iterator[ScoredRollout], second: Iterator[ScoredRollout], old: str | Path, new: str | Path
) -> Iterator[tuple[ScoredRollout, ScoredRollout]]:
    """By id where the first line has one, and then in any order; else by place."""
    opening = next(first, None)
    opened = first if opening is None else chain([opening], first)
    if opening is not None and opening.trajectory.id is not None:
        yield from _match_ids(opened, second, old, new)
        return
    for left, right in zip_longest(opened, second):
        if left is None or right is None:
            raise RolloutsError(f"{old} and {new} have different numbers of lines; compare files of the same rollouts")
        yield left, right


def _match_ids(
    first: Iterator[ScoredRollout], second: Iterator[ScoredRollout], old: str | Path, new: str | Path
) -> Iterator[tuple[ScoredRollout, ScoredRollout]]:
    """The first file is read only as far as the second asks for it, so files in one order need little memory."""
    waiting: dict[str | int | None, ScoredRollout] = {}
    for right in second:
        wanted = right.trajectory.id
        while wanted not in waiting:
            left = next(first, None)
            if left is None:
                raise RolloutsError(f"{new} has a sample with the id {wanted!r}, which {old} lacks")
            waiting[left.trajectory.id] = left
        yield waiting.pop(wanted), right
    waiting.update((left.trajectory.id, left) for left in first)
    if waiting:
        raise RolloutsError(
            f"{new} lacks {len(waiting):,} samples of {old}, the first with the id {next(iter(waiting))!r}"
        )


def _is_same(left: ScoredRollout, right: ScoredRollout) -> bool:
    one, other = left.trajectory, right.trajectory
    return one.response == other.response and one.prompt_text == other.prompt_text
