"""Phrases that pay: words found in responses that earn more than their group, and words found in those that earn less.

A response counts once for a phrase however often it holds it. Responses are compared within their group only, so that
the words of a prompt say nothing, however easy the prompt is (the test of Mantel and Haenszel, 1959): in a group of n
with h high ones, m of n hold the phrase and a of them are high; with Σ over groups, z = Σ(a − mh/n) / √Σ m(n−m)h(n−h) /
(n²(n−1)), and the odds ratio is Σ a·d/n / Σ b·c/n. A phrase must be found in several groups.
"""

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plaudit.report.statistics.kept_texts import KeptTexts
from plaudit.report.statistics.table import NO_STEP, SampleTable, deviations
from plaudit.verify.text import remove_invisible

__all__ = ["Phrase", "Phrases", "paying_phrases"]

LONGEST = 3  # words of a phrase
TOP = 12
CLEAR = 4.0  # standard errors: with thousands of phrases, three turn up by chance
MOST_WORDS = 200  # of either end of a response
_LEAST_COUNT, _LEAST_SHARE, _LEAST_GROUPS = 5, 0.005, 3
_NONE = -1  # no hash is -1
_PLACES = 1 << 20
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\\?[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: its shares among responses that earn more and less than their group, and how clear the difference is.

    `early` and `late` are its shares in the first and the last quarter of the training steps; `row` is a response
    that holds it, a high one where it pays.
    """

    text: str
    high: float
    low: float
    z: float
    odds: float
    count: int
    groups: int
    early: float | None
    late: float | None
    row: int


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases that pay and those that cost, clearest first, of `responses` responses that were compared."""

    paying: tuple[Phrase, ...]
    costing: tuple[Phrase, ...]
    responses: int


def paying_phrases(table: SampleTable, texts: KeptTexts) -> Phrases:
    """The phrases whose shares among high and low rewards clearly differ."""
    responses = {row: rollout.trajectory.response for row, rollout in texts}
    groups = [sides for sides in _sides(table, responses) if any(sides.values()) and not all(sides.values())]
    compared = {row: responses[row] for sides in groups for row in sides}
    found = _CommonPhrases(compared, max(_LEAST_COUNT, math.ceil(_LEAST_SHARE * len(compared))))
    sums = [_Sums() for _ in found.names]
    for sides in groups:
        _add_group(sums, sides, found.held)
    described = _describe(table, sums, groups, found)
    return Phrases(
        paying=_distinct(sorted((one for one in described if one.z > 0), key=_clearest)),
        costing=_distinct(sorted((one for one in described if one.z < 0), key=_clearest)),
        responses=len(compared),
    )


def _sides(table: SampleTable, kept: Mapping[int, object]) -> Iterator[dict[int, bool]]:
    """By group: which rows earn more than its mean and which less; those at the mean are left out."""
    for group in table.comparable():
        if any(row in kept for row in group):
            signs = zip(group, deviations(table.rewards, group), strict=True)
            yield {row: deviation > 0 for row, deviation in signs if deviation and row in kept}


class _CommonPhrases:
    """The phrases that at least `least` responses hold: their `names`, and the numbers of those in each row.

    Longer phrases are made of common shorter ones. Words and phrases are numbers all along (the hash of a word, the
    numbers of the two parts of a phrase): as texts they would take some hundred megabytes.
    """

    def __init__(self, responses: Mapping[int, str], least: int) -> None:
        self.names: list[str] = []
        self.held: dict[int, array[int]] = {row: array("i") for row in responses}
        keys = {row: array("q", map(hash, _words(response))) for row, response in responses.items()}
        common = _number_common(keys.values(), least)
        self.names += _find_names(responses.values(), common)
        self._hold(keys, common, 0)
        for _ in range(1, LONGEST):
            before, size = len(self.names), len(common)
            for row, numbers in keys.items():
                keys[row] = array(
                    "q", (_NONE if _NONE in pair else pair[0] * size + pair[1] for pair in pairwise(numbers))
                )
            common = _number_common(keys.values(), least)
            parts = (divmod(key, size) for key in common)
            shorter = self.names[before - size :]
            self.names += [f"{shorter[first]} {shorter[last].rpartition(' ')[2]}" for first, last in parts]
            self._hold(keys, common, before)

    def _hold(self, keys: dict[int, "array[int]"], common: Mapping[int, int], start: int) -> None:
        """Put the number of each common phrase in the place of its key; `start` is how many phrases were there."""
        for row, listed in keys.items():
            keys[row] = array("q", (common.get(key, _NONE) for key in listed))
            self.held[row].extend(start + number for number in set(keys[row]) if number != _NONE)


def _number_common(keys: Iterable["array[int]"], least: int) -> dict[int, int]:
    """The keys that at least `least` lists hold, numbered.

    Counted roughly first, many keys in one place, so that memory is taken only by keys that may be common.
    """
    rough = array("i", bytes(4 * _PLACES))
    listed = list(keys)
    for each in listed:
        for key in set(each):
            rough[key % _PLACES] += 1
    counts = Counter[int]()
    for each in listed:
        counts.update(key for key in set(each) if rough[key % _PLACES] >= least and key != _NONE)
    return {key: number for number, key in enumerate(key for key, count in counts.items() if count >= least)}


def _find_names(responses: Iterable[str], common: Mapping[int, int]) -> list[str]:
    """The words with these hashes, in the order of their numbers."""
    names: dict[int, str] = {}
    for response in responses:
        if len(names) == len(common):
            break
        names.update((number, word) for word in _words(response) if (number := common.get(hash(word))) is not None)
    return [names[number] for number in range(len(common))]


@dataclass(slots=True)
class _Sums:
    """The sums over groups of one phrase."""

    high: int = 0
    low: int = 0
    groups: int = 0
    expected: float = 0.0
    variance: float = 0.0
    agreeing: float = 0.0
    opposing: float = 0.0

    def add(self, high: int, low: int, highs: int, lows: int) -> None:
        """Take a group of `highs` and `lows`, of which `high` and `low` hold the phrase."""
        size, holding = highs + lows, high + low
        self.high, self.low, self.groups = self.high + high, self.low + low, self.groups + 1
        self.expected += holding * highs / size
        if size > 1:
            self.variance += holding * (size - holding) * highs * lows / (size * size * (size - 1))
        self.agreeing += high * (lows - low) / size
        self.opposing += low * (highs - high) / size

    @property
    def z(self) -> float:
        return (self.high - self.expected) / math.sqrt(self.variance) if self.variance else 0.0

    @property
    def odds(self) -> float:
        return (self.agreeing + 0.5) / (self.opposing + 0.5)


def _add_group(sums: Sequence[_Sums], sides: Mapping[int, bool], held: Mapping[int, Iterable[int]]) -> None:
    highs = sum(sides.values())
    high, low = Counter[int](), Counter[int]()
    for row, is_high in sides.items():
        (high if is_high else low).update(held[row])
    for phrase in high.keys() | low.keys():
        sums[phrase].add(high[phrase], low[phrase], highs, len(sides) - highs)


def _describe(
    table: SampleTable, sums: Sequence[_Sums], groups: Sequence[Mapping[int, bool]], found: _CommonPhrases
) -> list[Phrase]:
    """The phrases that differ clearly, in full."""
    clear = {phrase: own for phrase, own in enumerate(sums) if abs(own.z) >= CLEAR and own.groups >= _LEAST_GROUPS}
    sides = {row: is_high for group in groups for row, is_high in group.items()}
    held = {row: clear.keys() & found.held[row] for row in sides}
    rows = sorted(sides, key=lambda row: not sides[row])  # high ones first
    highs = sum(sides.values())
    examples: dict[int, int] = {}
    for row in rows:
        for phrase in held[row] - examples.keys():
            examples[phrase] = row
    early, late = _quarters(table, rows)
    in_early, in_late = (Counter(phrase for row in part for phrase in held[row]) for part in (early, late))
    return [
        Phrase(
            text=found.names[phrase],
            high=own.high / highs,
            low=own.low / (len(rows) - highs),
            z=own.z,
            odds=own.odds,
            count=own.high + own.low,
            groups=own.groups,
            early=in_early[phrase] / len(early) if early else None,
            late=in_late[phrase] / len(late) if late else None,
            row=examples[phrase],
        )
        for phrase, own in clear.items()
    ]


def _quarters(table: SampleTable, rows: Sequence[int]) -> tuple[list[int], list[int]]:
    """The rows of the first and of the last quarter of the training steps."""
    steps = sorted({table.steps[row] for row in rows} - {NO_STEP})
    if len(steps) < 4:
        return [], []
    first, last = steps[len(steps) // 4 - 1], steps[-(len(steps) // 4)]
    return [row for row in rows if table.steps[row] <= first], [row for row in rows if table.steps[row] >= last]


def _distinct(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """The clearest phrases; of those that are parts of each other with about the same count, the first."""
    chosen: list[Phrase] = []
    for phrase in phrases:
        if len(chosen) == TOP:
            break
        if not any(_overlap(phrase, other) for other in chosen):
            chosen.append(phrase)
    return tuple(chosen)


def _overlap(one: Phrase, other: Phrase) -> bool:
    shared = set(one.text.split()) & set(other.text.split())
    return bool(shared) and 0.8 <= one.count / other.count <= 1.25


def _clearest(phrase: Phrase) -> tuple[float, int, str]:
    return round(-abs(phrase.z), 6), -len(phrase.text), phrase.text


def _words(text: str) -> list[str]:
    """The words of a text; of a long one, those at its ends."""
    words = _WORD.findall(unicodedata.normalize("NFKC", remove_invisible(text)).casefold())
    return words if len(words) <= 2 * MOST_WORDS else [*words[:MOST_WORDS], *words[-MOST_WORDS:]]
