"""Read and write files of preference pairs, and split them so that no prompt is on both sides."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plaudit import jsonline
from plaudit.errors import DataError
from plaudit.rollouts.atomic_file import write_atomically
from plaudit.training.data.rows import rows_of
from plaudit.training.reward_model.pair import PairColumns, PreferencePair, read_pair

__all__ = ["PairSet", "PairSplit", "keep_apart", "read_pairs", "split_pairs", "write_pairs"]


@dataclass(frozen=True, slots=True)
class PairSet:
    """The pairs of a file, and what was left out of it."""

    pairs: tuple[PreferencePair, ...]
    bad: tuple[str, ...] = ()
    """Rows that hold no pair, each with its place and the reason."""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def notes(self) -> list[str]:
        """What the user should know of the pairs."""
        found = []
        if self.bad:
            found.append(f"left out {_count(len(self.bad), 'row')} without a pair; the first is {self.bad[0]}")
        seen = Counter((pair.prompt_key, *pair.response_keys) for pair in self.pairs)
        repeated = sum(count - 1 for count in seen.values())
        if repeated:
            found.append(f"{_count(repeated, 'pair')} of {len(self)} repeat another")
        both_ways = sum(1 for prompt, better, worse in seen if (prompt, worse, better) in seen) // 2
        if both_ways:
            found.append(
                f"{_count(both_ways, 'pair')} of responses chosen one way here and the other way there: "
                "no model gets both right"
            )
        return found


@dataclass(frozen=True, slots=True)
class PairSplit:
    """Pairs to train on, and pairs of other prompts to judge by."""

    train: tuple[PreferencePair, ...]
    held_out: tuple[PreferencePair, ...]
    notes: tuple[str, ...] = field(default=())


def read_pairs(
    path: str | Path,
    *,
    columns: PairColumns | None = None,
    split: str = "train",
    limit: int | None = None,
    skip_bad: bool = False,
) -> PairSet:
    """The preference pairs of a `.jsonl`, `.parquet` or `.csv` file, or of a folder that `datasets` saved.

    Rows that hold no pair raise DataError, which names the first of them; with `skip_bad` they are left out.
    """
    pairs: list[PreferencePair] = []
    bad: list[str] = []
    for place, row in rows_of(Path(path), split):
        if limit is not None and len(pairs) >= limit:
            break
        try:
            pairs.append(read_pair(row, columns or PairColumns(), place))
        except DataError as error:
            bad.append(f"{place}: {error}")
    if not pairs and not bad:
        raise DataError(f"{path} holds no pairs")
    if bad and (not pairs or not skip_bad):
        others = f" ({_count(len(bad) - 1, 'other row')} hold no pair either)" if len(bad) > 1 else ""
        remedy = "; data.skip_bad=true leaves such rows out" if pairs else ""
        raise DataError(f"{bad[0]}{others}{remedy}")
    return PairSet(tuple(pairs), tuple(bad))


def split_pairs(pairs: Sequence[PreferencePair], share: float, *, seed: int) -> PairSplit:
    """Hold out a share of the pairs, by prompt: pairs of one prompt are on one side.

    Pairs without prompts, or all of one prompt, are split so that no response is on both sides.
    """
    by_prompt = len({pair.prompt_key for pair in pairs}) > 1
    notes = () if by_prompt else ("all pairs have one prompt or none: they are split by their responses",)
    parts = _parts_by_prompt(pairs) if by_prompt else _parts_by_response(pairs)
    order = sorted(parts)
    random.Random(seed).shuffle(order)
    wanted = max(1, round(share * len(pairs)))
    apart: list[int] = []
    for key in order:
        if len(apart) + len(parts[key]) <= wanted:
            apart += parts[key]
    apart = apart or min(parts.values(), key=len)
    if len(apart) == len(pairs):
        what = "prompts" if by_prompt else "responses"
        raise DataError(
            f"{_count(len(pairs), 'pair')} cannot be split into some to train on and others of different {what} "
            "to judge by; give more pairs, or a file of held-out ones as data.held_out_path"
        )
    held = set(apart)
    train = tuple(pair for place, pair in enumerate(pairs) if place not in held)
    return PairSplit(train, tuple(pairs[place] for place in sorted(held)), notes)


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
    notes = (f"left out {_count(left_out, 'pair')} to train on: held-out prompts occur in them",) if left_out else ()
    return PairSplit(train, tuple(held_out), notes)


def write_pairs(rows: Iterable[dict[str, object]], path: str | Path) -> None:
    """Write rows of pairs as JSON lines, whole or not at all."""
    write_atomically(Path(path), b"".join(jsonline.encode(row) + b"\n" for row in rows))


def _parts_by_prompt(pairs: Sequence[PreferencePair]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        parts[pair.prompt_key].append(place)
    return parts


def _parts_by_response(pairs: Sequence[PreferencePair]) -> dict[str, list[int]]:
    """Pairs that are linked by responses they share, however far, are one part."""
    linked: dict[str, str] = {}

    def root(key: str) -> str:
        while linked.setdefault(key, key) != key:
            linked[key] = linked[linked[key]]
            key = linked[key]
        return key

    for pair in pairs:
        first, second = pair.response_keys
        linked[root(first)] = root(second)
    parts: dict[str, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        parts[root(pair.response_keys[0])].append(place)
    return parts


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
