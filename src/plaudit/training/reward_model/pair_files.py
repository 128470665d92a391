"""Read and write files of preference pairs, and split them so that no prompt is on both sides."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from plaudit import jsonline
from plaudit.errors import DataError, RolloutsError
from plaudit.report.formatting import count_noun
from plaudit.rollouts import Rollout
from plaudit.rollouts.writing import write_atomically
from plaudit.settings import Count, NonNegative, check_fields, check_keys
from plaudit.training.data.sources import rows_of
from plaudit.training.reward_model.pair import USUAL_NAMES, PreferencePair, read_pair
from plaudit.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class PairSet:
    """The pairs of a file, and what was left out of it."""

    pairs: tuple[PreferencePair, ...]
    bad: tuple[str, ...] = ()
    """Rows that hold no pair, each with its line and the reason."""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def notes(self) -> list[str]:
        """Warnings about the pairs for the user."""
        notes = []
        if self.bad:
            notes.append(f"left out {count_noun(len(self.bad), 'row')} without a pair; the first is {self.bad[0]}")
        seen = Counter((pair.prompt_key, *pair.response_keys) for pair in self.pairs)
        repeated = sum(count - 1 for count in seen.values())
        if repeated:
            notes.append(f"{count_noun(repeated, 'pair')} of {len(self)} repeat another")
        both_ways = sum(1 for prompt, better, worse in seen if (prompt, worse, better) in seen) // 2
        if both_ways:
            notes.append(
                f"{count_noun(both_ways, 'pair')} of responses chosen one way here and the other way there: "
                "no model gets both right"
            )
        return notes


@dataclass(frozen=True, slots=True)
class PairSplit:
    """Pairs to train on, and pairs of other prompts to judge by."""

    train: tuple[PreferencePair, ...]
    held_out: tuple[PreferencePair, ...]
    notes: tuple[str, ...] = field(default=())


def read_pairs(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    split: str = "train",
    limit: int | None = None,
    skip_bad: bool = False,
) -> PairSet:
    """The preference pairs of a `.jsonl`, `.parquet` or `.csv` file, or of a folder that `datasets` saved.

    Rows that hold no pair raise DataError, which names the first of them; with `skip_bad` they are left out.
    """
    check_keys(columns or (), USUAL_NAMES, "a pair", "field")
    pairs: list[PreferencePair] = []
    bad: list[str] = []
    for location, row in rows_of(Path(path), split):
        if limit is not None and len(pairs) >= limit:
            break
        try:
            pairs.append(read_pair(row, columns, location))
        except DataError as error:
            bad.append(f"{location}: {error}")
    if not pairs and not bad:
        raise DataError(f"{path} holds no pairs")
    if bad and (not pairs or not skip_bad):
        others = f" ({count_noun(len(bad) - 1, 'other row')} hold no pair either)" if len(bad) > 1 else ""
        remedy = "; data.skip_bad=true leaves such rows out" if pairs else ""
        raise DataError(f"{bad[0]}{others}{remedy}")
    return PairSet(tuple(pairs), tuple(bad))


def split_pairs(pairs: Sequence[PreferencePair], share: float, *, seed: int) -> PairSplit:
    """Hold out a share of the pairs, by prompt: pairs of one prompt are on one side.

    Pairs without prompts, or all of one prompt, are split so that no response is on both sides.
    """
    wanted = max(1, round(share * len(pairs)))
    by_prompt: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        by_prompt[pair.prompt_key].append(index)
    parts = list(by_prompt.values()) if len(by_prompt) > 1 else [[index] for index in range(len(pairs))]
    random.Random(seed).shuffle(parts)
    held_out: list[int] = []
    for part in parts:
        if len(held_out) + len(part) <= wanted:
            held_out += part
    held_out = sorted(held_out) or min(parts, key=len)
    try:
        split = keep_apart(pairs, [pairs[index] for index in held_out])
    except DataError as error:
        what = "prompts" if len(by_prompt) > 1 else "responses"
        raise DataError(
            f"{count_noun(len(pairs), 'pair')} cannot be split into some to train on and others of different {what} "
            "to judge by; give more pairs, or a file of held-out ones as data.held_out_path"
        ) from error
    if len(by_prompt) > 1:
        return replace(split, notes=())
    note = "all pairs have one prompt or none: they are split by their responses"
    return replace(split, notes=(note, *(split.notes if len(split.train) + len(held_out) < len(pairs) else ())))


def keep_apart(pairs: Sequence[PreferencePair], held_out: Sequence[PreferencePair]) -> PairSplit:
    """Train on the pairs whose prompts do not occur among those held out, which have a file of their own."""
    if len({pair.prompt_key for pair in (*pairs, *held_out)}) > 1:
        seen = {pair.prompt_key for pair in held_out}
        train = tuple(pair for pair in pairs if pair.prompt_key not in seen)
    else:
        texts = {key for pair in held_out for key in pair.response_keys}
        train = tuple(pair for pair in pairs if texts.isdisjoint(pair.response_keys))
    left_out = len(pairs) - len(train)
    if not train:
        raise DataError("every pair to train on has a prompt of the held-out file; nothing would be left")
    notes = (
        (f"left out {count_noun(left_out, 'pair')} to train on: held-out prompts occur in them",) if left_out else ()
    )
    return PairSplit(train, tuple(held_out), notes)


def write_pairs(rows: Iterable[dict[str, object]], path: str | Path) -> None:
    """Write rows of pairs as JSON lines, whole or not at all."""
    write_atomically(Path(path), b"".join(jsonline.encode(row) + b"\n" for row in rows))


Value: TypeAlias = Literal["reward", "score"]
LARGEST_GROUP = 256
"""The number of responses of a group that are compared with each other; of a larger group, this many are drawn."""


@dataclass(frozen=True, slots=True)
class PairSettings:
    """Which pairs are built; the same seed picks the same ones."""

    margin: NonNegative = 0.0
    """The least difference of a pair; differences of 0 are ties."""
    per_group: Count | None = 4
    """The most pairs of one group, so that no group outweighs the others; None: all."""
    by: Value = "reward"
    """What orders responses: the reward, or the score (how right the outcome was)."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of samples and groups by what happened to them, each with its meaning."""

    samples: Annotated[int, "samples"]
    unscored: Annotated[int, "not scored, in no pair"]
    empty: Annotated[int, "empty responses, in no pair"]
    copies: Annotated[int, "copies of a response in its group, counted once with the mean of their values"]
    thinned: Annotated[int, "responses of groups too large to compare all"]
    groups: Annotated[int, "groups"]
    single: Annotated[int, "with fewer than two responses"]
    tied: Annotated[int, "with ties only"]
    close: Annotated[int, "with differences below the margin only"]
    beyond: Annotated[int, "pairs beyond the most of a group"]
    pairs: Annotated[int, "pairs"]

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BuiltPairs:
    """Pairs, group by group in the order of the file, and what was left out of them."""

    pairs: tuple[PreferencePair, ...]
    counts: PairCounts


def build_pairs(rollouts: Iterable[Rollout], settings: PairSettings | None = None) -> BuiltPairs:
    """Build preference pairs from scored rollouts; raises RolloutsError if they are not scored."""
    settings = settings or PairSettings()
    groups: dict[tuple[Any, ...], dict[str, _Valued]] = defaultdict(dict)
    tally: Counter[str] = Counter()
    for rollout in rollouts:
        value = _value(rollout, tally["samples"], settings.by)
        tally["samples"] += 1
        trajectory = rollout.trajectory
        members = groups[_group_key(trajectory)]
        text = trajectory.response.strip()
        if value is None:
            tally["unscored"] += 1
        elif not text:
            tally["empty"] += 1
        elif text in members:
            tally["copies"] += 1
            members[text].values.append(value)
        else:
            members[text] = _Valued(trajectory, [value])
    kept: list[PreferencePair] = []
    for key, texts in groups.items():
        kept += _pairs_of_group(list(texts.values()), settings, random.Random(f"{settings.seed}:{key}"), tally)
    tally |= {"groups": len(groups), "pairs": len(kept)}
    return BuiltPairs(tuple(kept), PairCounts(**{each.name: tally[each.name] for each in fields(PairCounts)}))


@dataclass(frozen=True, slots=True)
class _Valued:
    """A response and the values of all its copies."""

    trajectory: Trajectory
    values: list[float]

    @property
    def value(self) -> float:
        return math.fsum(self.values) / len(self.values)


def _value(rollout: Rollout, index: int, by: Value) -> float | None:
    """The value that orders a response; None if it was not scored."""
    output = rollout.output
    if output is None:
        raise RolloutsError(
            f"{rollout.trajectory.label(index)} is not scored; score the file first: "
            "plaudit score REWARD ROLLOUTS -o SCORED"
        )
    if not output.ok:
        return None
    return output.reward if by == "reward" else output.score


def _group_key(trajectory: Trajectory) -> tuple[Any, ...]:
    return trajectory.training_step, trajectory.group, jsonline.encode(trajectory.prompt)


def _pairs_of_group(
    members: list[_Valued], settings: PairSettings, rng: random.Random, tally: Counter[str]
) -> list[PreferencePair]:
    """The pairs of one group in the order of its responses; `tally` counts why pairs were left out."""
    if len(members) < 2:
        tally["single"] += 1
        return []
    if len(members) > LARGEST_GROUP:
        tally["thinned"] += len(members) - LARGEST_GROUP
        members = [members[index] for index in sorted(rng.sample(range(len(members)), LARGEST_GROUP))]
    ordered = [_pair(better, worse) for better, worse in _ordered(members)]
    pairs = [pair for pair in ordered if (pair.margin or 0.0) >= settings.margin]
    if not pairs:
        tally["close" if ordered else "tied"] += 1
    if settings.per_group is None or len(pairs) <= settings.per_group:
        return pairs
    tally["beyond"] += len(pairs) - settings.per_group
    return [pairs[index] for index in sorted(rng.sample(range(len(pairs)), settings.per_group))]


def _pair(better: "_Valued", worse: "_Valued") -> PreferencePair:
    return PreferencePair(better.trajectory, worse.trajectory, rewards=(better.value, worse.value))


def _ordered(members: list[_Valued]) -> Iterator[tuple[_Valued, _Valued]]:
    """Every two members whose values differ, the better first."""
    for index, one in enumerate(members):
        for other in members[index + 1 :]:
            if one.value > other.value:
                yield one, other
            elif other.value > one.value:
                yield other, one
