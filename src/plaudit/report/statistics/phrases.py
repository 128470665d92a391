"""Phrases that pay: words found in responses that earn more than their group, and words found in those that earn less.

A response counts once for a phrase however often it contains it. Responses are compared within their group only, so
that the words and the difficulty of a prompt have no influence (the test of Mantel and Haenszel, 1959): in a group
of n with h high ones, m of n contain the phrase and a of them are high; with Σ over groups, z = Σ(a − mh/n) /
√Σ m(n−m)h(n−h) / (n²(n−1)), and the odds ratio is Σ a·d/n / Σ b·c/n. A phrase must be found in several groups.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.report.figures import Phrase, Phrases
from plaudit.report.statistics.steps import quarters
from plaudit.report.table import Floats, Integers, KeptTexts, Samples
from plaudit.verify.text import remove_invisible

LONGEST = 3  # words of a phrase
TOP = 12
CLEAR = 4.0  # standard errors: with thousands of phrases, three turn up by chance
MAX_WORDS = 200  # at either end of a response
_LEAST_COUNT, _LEAST_SHARE, _LEAST_GROUPS = 5, 0.005, 3
_RARE = -1
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\\?[^\W_]+(?:['’][^\W_]+)*")


def paying_phrases(samples: Samples, texts: KeptTexts) -> Phrases:
    """The phrases whose shares among high and low rewards clearly differ."""
    responses = {row: rollout.trajectory.response for row, rollout in texts}
    sides = _Sides.of(samples, list(responses))
    words = [_words(responses[row]) for row in sides.rows.tolist()]
    names, phrase, response = _common_phrases(words, max(_LEAST_COUNT, math.ceil(_LEAST_SHARE * len(words))))
    phrases = _describe(samples, sides, names, phrase, response) if names else []
    return Phrases(
        paying=_distinct(sorted((one for one in phrases if one.z > 0), key=_clearest)),
        costing=_distinct(sorted((one for one in phrases if one.z < 0), key=_clearest)),
        responses=len(words),
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """The rows that earn more (`high`) or less than the mean of their group, in groups that have both."""

    rows: Integers
    high: Integers
    group: Integers

    @classmethod
    def of(cls, samples: Samples, kept: Sequence[int]) -> "_Sides":
        groups = samples.comparable
        deviations, number = groups.deviations(samples.rewards), np.repeat(np.arange(len(groups.starts)), groups.sizes)
        chosen = np.isin(groups.rows, kept) & (deviations != 0)
        rows, high, group = groups.rows[chosen], (deviations[chosen] > 0).astype(np.int64), number[chosen]
        highs, lows = (np.bincount(group, weights=side, minlength=len(groups.starts)) for side in (high, 1 - high))
        both = (highs > 0)[group] & (lows > 0)[group]
        return cls(rows[both], high[both], np.unique(group[both], return_inverse=True)[1])


def _common_phrases(responses: Sequence[Sequence[str]], least: int) -> tuple[list[str], Integers, Integers]:
    """The phrases that at least `least` responses contain: their texts, and pairs of a phrase and a response.

    Longer phrases are made of common shorter ones: the key of a phrase is the number of its beginning and the number of
    its end, which overlap in all but one word.
    """
    vocabulary: dict[str, int] = {}
    keys = np.array([vocabulary.setdefault(word, len(vocabulary)) for words in responses for word in words], np.int64)
    response = np.repeat(np.arange(len(responses)), [len(words) for words in responses])
    names, known = list(vocabulary), len(vocabulary)
    texts, pairs = list[str](), [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for length in range(1, LONGEST + 1):
        is_key = keys != _RARE
        different = np.unique(keys[is_key] * len(responses) + response[is_key])  # each phrase once per response
        phrase, owner = np.divmod(different, max(1, len(responses)))
        common, count = np.unique(phrase, return_counts=True)
        common = common[count >= least]
        kept = np.isin(phrase, common)
        pairs.append((np.searchsorted(common, phrase[kept]) + len(texts), owner[kept]))
        if length > 1:
            names = [
                f"{names[first]} {names[last].rpartition(' ')[2]}"
                for first, last in (divmod(int(key), known) for key in common)
            ]
        else:
            names = [names[key] for key in common]
        texts += names
        keys = np.where(np.isin(keys, common), np.searchsorted(common, keys), _RARE)
        known = max(1, len(common))
        joined = (keys[:-1] != _RARE) & (keys[1:] != _RARE) & (response[:-1] == response[1:])
        keys, response = np.where(joined, keys[:-1] * known + keys[1:], _RARE), response[:-1]
    return texts, np.concatenate([first for first, _ in pairs]), np.concatenate([last for _, last in pairs])


def _describe(
    samples: Samples, sides: _Sides, names: Sequence[str], phrase: Integers, response: Integers
) -> list[Phrase]:
    """The phrases that differ clearly; `phrase[i]` is in `response[i]`."""
    cells, cell = np.unique(phrase * (sides.group.max() + 1) + sides.group[response], return_inverse=True)
    of, group = np.divmod(cells, sides.group.max() + 1)  # a cell is a phrase in a group
    in_high = sides.high[response].astype(float)
    a, c = (np.bincount(cell, weights=side) for side in (in_high, 1 - in_high))
    highs, lows = (np.bincount(sides.group, weights=side)[group] for side in (sides.high, 1 - sides.high))
    n, m = highs + lows, a + c

    def total(values: npt.NDArray[Any]) -> Floats:
        return np.bincount(of, weights=values, minlength=len(names)).astype(np.float64)

    variance = total(m * (n - m) * highs * lows / (n * n * (n - 1)))
    z = (total(a) - total(m * highs / n)) / np.sqrt(np.where(variance > 0, variance, np.inf))
    odds = (total(a * (lows - c) / n) + 0.5) / (total(c * (highs - a) / n) + 0.5)
    groups, high, low = np.bincount(of, minlength=len(names)), total(a), total(c)
    early, late = quarters(samples.steps[sides.rows])
    phrases = []
    for number in np.flatnonzero((np.abs(z) >= CLEAR) & (groups >= _LEAST_GROUPS)).tolist():
        members = response[phrase == number]
        example = members[np.argmax(sides.high[members])]
        phrases.append(
            Phrase(
                text=names[number],
                high=float(high[number] / sides.high.sum()),
                low=float(low[number] / (1 - sides.high).sum()),
                z=float(z[number]),
                odds=float(odds[number]),
                count=int(high[number] + low[number]),
                groups=int(groups[number]),
                early=float(early[members].sum() / early.sum()) if early.any() else None,
                late=float(late[members].sum() / late.sum()) if late.any() else None,
                row=int(sides.rows[example]),
            )
        )
    return phrases


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
    return words if len(words) <= 2 * MAX_WORDS else [*words[:MAX_WORDS], *words[-MAX_WORDS:]]
