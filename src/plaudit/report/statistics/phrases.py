"""Phrases that pay: words found in responses that earn more than their group, and words found in those that earn less.

A response counts once for a phrase however often it holds it. Responses are compared within their group only, so that
the words of a prompt say nothing, however easy the prompt is (the test of Mantel and Haenszel, 1959): in a group of n
with h high ones, m of n hold the phrase and a of them are high; with Σ over groups, z = Σ(a − mh/n) / √Σ m(n−m)h(n−h) /
(n²(n−1)), and the odds ratio is Σ a·d/n / Σ b·c/n. A phrase must be found in several groups.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plaudit.report.statistics.kept_texts import KeptTexts
from plaudit.report.statistics.table import NO_STEP, SampleTable, deviations
from plaudit.verify.text import remove_invisible

__all__ = ["Phrase", "Phrases", "paying_phrases"]

LONGEST = 3  # words of a phrase
TOP = 12
CLEAR = 4.0  # standard errors: with thousands of phrases, three turn up by chance
MOST_WORDS = 200  # of either end of a response
_LEAST_COUNT, _LEAST_SHARE, _LEAST_GROUPS = 5, 0.005, 3
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
    words = {row: _ends(_words(rollout.trajectory.response)) for row, rollout in texts}
    groups = [sides for sides in _sides(table, words) if any(sides.values()) and not all(sides.values())]
    compared = [row for sides in groups for row in sides]
    least = max(_LEAST_COUNT, math.ceil(_LEAST_SHARE * len(compared)))
    held = _common_phrases({row: words[row] for row in compared}, least)
    sums: dict[str, _Sums] = {}
    for sides in groups:
        _add_group(sums, sides, held)
    found = _describe(table, sums, groups, held)
    return Phrases(
        paying=_distinct(sorted((one for one in found if one.z > 0), key=_clearest)),
        costing=_distinct(sorted((one for one in found if one.z < 0), key=_clearest)),
        responses=len(compared),
    )


def _sides(table: SampleTable, words: Mapping[int, object]) -> Iterator[dict[int, bool]]:
    """By group: which rows earn more than its mean and which less; those at the mean are left out."""
    for group in table.comparable():
        signs = zip(group, deviations(table.rewards, group), strict=True)
        yield {row: deviation > 0 for row, deviation in signs if deviation and row in words}


def _common_phrases(words: Mapping[int, Sequence[str]], least: int) -> dict[int, set[str]]:
    """The phrases of each response that at least `least` hold; longer ones are made of common shorter ones."""
    common: dict[int, set[str]] = {row: set() for row in words}
    for length in range(1, LONGEST + 1):
        found = {row: set(_runs(listed, length, common[row])) for row, listed in words.items()}
        counts = Counter(phrase for phrases in found.values() for phrase in phrases)
        kept = {phrase for phrase, count in counts.items() if count >= least}
        for row, phrases in found.items():
            common[row] |= phrases & kept
    return common


def _runs(words: Sequence[str], length: int, common: set[str]) -> Iterator[str]:
    for start in range(len(words) - length + 1):
        run = words[start : start + length]
        if length == 1 or (" ".join(run[:-1]) in common and " ".join(run[1:]) in common):
            yield " ".join(run)


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
    row: int = 0
    row_is_high: bool = False

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


def _add_group(sums: dict[str, _Sums], sides: Mapping[int, bool], held: Mapping[int, set[str]]) -> None:
    highs = sum(sides.values())
    lows = len(sides) - highs
    high, low = Counter[str](), Counter[str]()
    for row, is_high in sides.items():
        (high if is_high else low).update(held[row])
        for phrase in held[row]:
            own = sums.setdefault(phrase, _Sums())
            if is_high or not own.row_is_high:
                own.row, own.row_is_high = row, is_high
    for phrase in high.keys() | low.keys():
        sums[phrase].add(high[phrase], low[phrase], highs, lows)


def _describe(
    table: SampleTable, sums: Mapping[str, _Sums], groups: Sequence[Mapping[int, bool]], held: Mapping[int, set[str]]
) -> list[Phrase]:
    """The phrases that differ clearly, in full."""
    clear = {text: own for text, own in sums.items() if abs(own.z) >= CLEAR and own.groups >= _LEAST_GROUPS}
    rows = [row for sides in groups for row in sides]
    highs = sum(sum(sides.values()) for sides in groups)
    early, late = _quarters(table, rows)
    in_early, in_late = (Counter(phrase for row in part for phrase in held[row]) for part in (early, late))
    return [
        Phrase(
            text=text,
            high=own.high / highs,
            low=own.low / (len(rows) - highs),
            z=own.z,
            odds=own.odds,
            count=own.high + own.low,
            groups=own.groups,
            early=in_early[text] / len(early) if early else None,
            late=in_late[text] / len(late) if late else None,
            row=own.row,
        )
        for text, own in clear.items()
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
    return _WORD.findall(unicodedata.normalize("NFKC", remove_invisible(text)).casefold())


def _ends(words: list[str]) -> list[str]:
    return words if len(words) <= 2 * MOST_WORDS else [*words[:MOST_WORDS], *words[-MOST_WORDS:]]
