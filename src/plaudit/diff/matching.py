"""Match the outputs of two rewards: score the same samples with both, or read two scored files.

Lines of two files are the same sample if id, prompt and response are equal, in any order; samples that are equal in
all three are matched in their order. A sample that only one file has is an error that names it.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.contract.function import RewardLike
from plaudit.contract.output import RewardOutput
from plaudit.diff.difference import RIGHT, Difference, DifferenceBuilder
from plaudit.engine import Scorer
from plaudit.errors import RolloutsError
from plaudit.loading import Loaded
from plaudit.rollouts import ScoredRollout, read_rollouts
from plaudit.rollouts.reading import require_scored
from plaudit.trajectory import Trajectory

ScoredPair = tuple[Trajectory, RewardOutput, RewardOutput]
"""A sample with the outputs of the old and the new reward."""


def compare_rewards(
    old: RewardLike | Loaded | str,
    new: RewardLike | Loaded | str,
    trajectories: Iterable[Trajectory],
    *,
    threshold: float = RIGHT,
    **scorer: Any,
) -> Difference:
    """Score the same samples with both rewards and report the differences; `scorer` are settings of `Scorer`."""
    return compare_pairs(pair_rewards(old, new, trajectories, **scorer), threshold=threshold)


def compare_files(
    old: str | Path, new: str | Path, *, threshold: float = RIGHT, columns: Mapping[str, str] | None = None
) -> Difference:
    """Compare the outputs of two scored files for the same samples."""
    return compare_pairs(pair_files(old, new, columns=columns), threshold=threshold)


def compare_pairs(pairs: Iterable[ScoredPair], *, threshold: float = RIGHT) -> Difference:
    """The differences between the two outputs of each sample."""
    builder = DifferenceBuilder(threshold=threshold)
    for trajectory, old, new in pairs:
        builder.add(trajectory, old, new)
    return builder.difference()


def pair_rewards(
    old: RewardLike | Loaded | str, new: RewardLike | Loaded | str, trajectories: Iterable[Trajectory], **scorer: Any
) -> list[ScoredPair]:
    """Score the same samples with both rewards, in this process unless `scorer` has another backend."""
    samples = list(trajectories)
    sides = []
    for reward in (old, new):
        with Scorer(reward, **{"backend": "inline", **scorer}) as scoring:
            sides.append(scoring.score(samples))
    return list(zip(samples, *sides, strict=True))


def pair_files(old: str | Path, new: str | Path, *, columns: Mapping[str, str] | None = None) -> Iterator[ScoredPair]:
    """The samples of two scored files, in the order of the new one.

    The old file is read only as far as the new one requires, so files in the same order need little memory.
    """
    first = _read_scored(old, columns)
    waiting: dict[_Key, deque[RewardOutput]] = {}
    for line, right in enumerate(_read_scored(new, columns), start=1):
        wanted = _key(right.trajectory)
        while wanted not in waiting:
            left = next(first, None)
            if left is None:
                raise _unmatched(f"line {line} of {new}", right.trajectory, old, waiting)
            waiting.setdefault(_key(left.trajectory), deque()).append(left.output)
        outputs = waiting[wanted]
        yield right.trajectory, outputs.popleft(), right.output
        if not outputs:
            del waiting[wanted]
    left_over = [
        *(id for (id, _), outputs in waiting.items() for _ in outputs),
        *(each.trajectory.id for each in first),
    ]
    if left_over:
        named = "" if left_over[0] is None else f", the first with the id {left_over[0]!r}"
        raise RolloutsError(f"{new} lacks {len(left_over):,} samples of {old}{named}")


_Key: TypeAlias = tuple[str | int | None, bytes]
"""The key by which two lines are the same sample: the id, and a digest of prompt and response."""


def _key(trajectory: Trajectory) -> _Key:
    digest = hashlib.blake2b(digest_size=16)
    for text in (trajectory.prompt_text, trajectory.response):
        encoded = text.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8))
        digest.update(encoded)
    return trajectory.id, digest.digest()


def _unmatched(location: str, trajectory: Trajectory, old: str | Path, waiting: Iterable[_Key]) -> RolloutsError:
    if trajectory.id is not None and any(id == trajectory.id for id, _ in waiting):
        return RolloutsError(
            f"{location} has the id {trajectory.id!r}, but another prompt or response than the samples of {old} with "
            "that id; compare files of the same rollouts"
        )
    named = "" if trajectory.id is None else f" (id {trajectory.id!r})"
    return RolloutsError(f"{location}{named} is no sample of {old}; compare files of the same rollouts")


def _read_scored(path: str | Path, columns: Mapping[str, str] | None) -> Iterator[ScoredRollout]:
    return require_scored(read_rollouts(path, columns=columns), str(path))
