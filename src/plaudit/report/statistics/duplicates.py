"""How alike responses are: the share that has a near-duplicate in its own group, and under other prompts.

Responses are near-duplicates when their sets of three-word runs overlap by four fifths or more (Jaccard), estimated
from the smallest hashes of each set (Broder 1997); short ones when they are equal but for case and punctuation. Many in
one group: the policy has lost its variety. Many across prompts: it gives the same answer whatever it is asked.
"""

import heapq
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.report.statistics.kept_texts import KeptTexts
from plaudit.report.statistics.table import SampleTable
from plaudit.verify.text import bare_words

__all__ = ["Duplicates", "near_duplicates"]

ALIKE = 0.8
RUN = 3
SKETCH = 64
_KEYS = 4  # of two sets that overlap by four fifths, 999 of 1000 pairs share one of so many smallest hashes
_MOST_CANDIDATES = 50
_TOO_FEW = 0.5


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Shares of the `responses` that were compared, and the text that is found most often."""

    responses: int
    within_group: float
    across_groups: float
    distinct: float
    most_common: str
    most_common_count: int
    row: int


def near_duplicates(table: SampleTable, texts: KeptTexts) -> Duplicates | None:
    """How alike the responses are; None where there is nothing to compare."""
    listed = [(row, rollout.trajectory.response) for row, rollout in texts if rollout.trajectory.response.strip()]
    if len(listed) < 2:
        return None
    words = {row: bare_words(response) for row, response in listed}
    equal: dict[str, list[int]] = defaultdict(list)
    for row, found in words.items():
        equal[" ".join(found)].append(row)
    groups = {text: [table.groups[row] for row in rows] for text, rows in equal.items()}
    within, across = _Alike(groups, {text: _sketch(words[rows[0]]) for text, rows in equal.items()}).shares()
    most = max(equal.values(), key=len)
    return Duplicates(
        responses=len(listed),
        within_group=within,
        across_groups=across,
        distinct=len(equal) / len(listed),
        most_common=dict(listed)[most[0]][:200],
        most_common_count=len(most),
        row=most[0],
    )


class _Alike:
    """Finds for every text those that are nearly the same."""

    def __init__(self, groups: dict[str, list[int]], sketches: dict[str, frozenset[int]]) -> None:
        self._groups, self._sketches = groups, sketches
        self._keys = {text: heapq.nsmallest(_KEYS, sketch) for text, sketch in sketches.items()}
        self._by_key: dict[int, list[str]] = defaultdict(list)
        for text, keys in self._keys.items():
            for key in keys:
                self._by_key[key].append(text)

    def shares(self) -> tuple[float, float]:
        """The shares of responses with a near-duplicate in the same group, and in another one."""
        same = other = 0
        for text, groups in self._groups.items():
            near = self._near(text)
            for group in groups:
                same += near[group] > 1
                other += near.total() > near[group]
        count = sum(map(len, self._groups.values()))
        return same / count, other / count

    def _near(self, text: str) -> Counter[int]:
        """How many responses of each group are nearly the same as a text, itself too."""
        near = {text}
        for key in self._keys[text]:
            for candidate in self._by_key[key][:_MOST_CANDIDATES]:
                if candidate not in near and _overlap(self._sketches[text], self._sketches[candidate]) >= ALIKE:
                    near.add(candidate)
        return Counter(group for each in near for group in self._groups[each])


def _sketch(words: Sequence[str]) -> frozenset[int]:
    if len(words) < 2 * RUN:
        return frozenset([zlib.crc32(" ".join(words).encode())])
    runs = {zlib.crc32(" ".join(words[start : start + RUN]).encode()) for start in range(len(words) - RUN + 1)}
    return frozenset(runs if len(runs) <= SKETCH else heapq.nsmallest(SKETCH, runs))


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """The overlap of two sets, from the smallest hashes of both."""
    if len(one & other) < _TOO_FEW * max(len(one), len(other)):
        return 0.0  # no need to look closer
    both = one | other
    smallest = both if max(len(one), len(other)) < SKETCH else frozenset(heapq.nsmallest(SKETCH, both))
    return len(smallest & one & other) / len(smallest)
