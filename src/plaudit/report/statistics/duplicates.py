"""Similarity of responses: the share with a near-duplicate in the same group, and under other prompts.

Responses are near-duplicates when their sets of three-word runs overlap by four fifths or more (Jaccard), estimated
from the smallest hashes of each set (Broder 1997); short ones when they are equal but for case and punctuation. Many in
one group: the policy has lost its variety. Many across prompts: it gives the same answer to every prompt. Prompts with
the same ground truth have the same right answer, so a right response is compared across prompts only with the
right ones to prompts with another truth. A response is right from a score of one half on; without scores, if its
reward lies above the middle of the range of all rewards.
"""

import hashlib
import heapq
import zlib
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from plaudit.diff.difference import RIGHT
from plaudit.report.figures import Duplicates
from plaudit.report.table import KeptTexts, Samples
from plaudit.trajectory import Trajectory
from plaudit.verify.text import bare_words

ALIKE = 0.8
RUN = 3
SKETCH = 64
_KEYS = 4  # of two sets that overlap by four fifths, 999 of 1000 pairs share one of so many smallest hashes
_MOST_CANDIDATES = 50
_TOO_FEW = 0.5


def near_duplicates(samples: Samples, texts: KeptTexts) -> Duplicates | None:
    """The similarity of the responses; None if there is nothing to compare."""
    equal: dict[bytes, list[int]] = {}  # rows by the digest of their words
    answers: dict[int, str | None] = {}
    sketches: list[array[int]] = []
    first: dict[int, str] = {}
    right, has_truths = _right_rows(samples), False
    for row, rollout in texts:
        response = rollout.trajectory.response
        if not response.strip():
            continue
        words = bare_words(response)
        rows = equal.setdefault(_digest(words), [])
        if not rows:
            sketches.append(_sketch(words))
            first[row] = response
        rows.append(row)
        has_truths = has_truths or rollout.trajectory.ground_truth is not None
        answers[row] = _answer(rollout.trajectory, int(samples.groups[row])) if right[row] else None
    responses = sum(map(len, equal.values()))
    if responses < 2:
        return None
    members = [[(int(samples.groups[row]), answers[row]) for row in rows] for rows in equal.values()]
    within, across, paid_across = _NearDuplicates(members, sketches).shares()
    most = max(equal.values(), key=len)
    return Duplicates(
        responses=responses,
        within_group=within,
        across_groups=across,
        paid_across=paid_across if has_truths else None,
        distinct=len(equal) / responses,
        most_common=first[most[0]][:200],
        most_common_count=len(most),
        row=most[0],
    )


def _right_rows(samples: Samples) -> npt.NDArray[np.bool_]:
    return np.where(np.isnan(samples.scores), samples.rewards > samples.middle, samples.scores >= RIGHT)


class _NearDuplicates:
    """Finds for every text, by its number, those that are nearly the same; `members` are the responses with that text,
    each with its group and, if it is right, the truth that it answers."""

    def __init__(self, members: Sequence[Sequence[tuple[int, str | None]]], sketches: Sequence["array[int]"]) -> None:
        self._members, self._sketches = members, sketches
        self._by_key: dict[int, list[int]] = {}
        for text, sketch in enumerate(sketches):
            for key in sketch[:_KEYS]:
                self._by_key.setdefault(key, []).append(text)

    def shares(self) -> tuple[float, float, float | None]:
        """The shares of responses with a near-duplicate in the same group, and in another one; and the share of right
        responses with one that is right for another truth, None if no response is right."""
        same = other = right = right_twice = 0
        for text, members in enumerate(self._members):
            near = [member for each in self._near(text) for member in self._members[each]]
            groups, answers = Counter(group for group, _ in near), Counter(answer for _, answer in near if answer)
            for group, answer in members:
                same += groups[group] > 1
                other += answers.total() > answers[answer] if answer else groups.total() > groups[group]
                right += answer is not None
                right_twice += answer is not None and answers.total() > answers[answer]
        count = sum(map(len, self._members))
        return same / count, other / count, right_twice / right if right else None

    def _near(self, text: int) -> set[int]:
        """The texts that are nearly the same as a text, itself too."""
        near, sketch = {text}, frozenset(self._sketches[text])
        for key in self._sketches[text][:_KEYS]:
            for candidate in self._by_key[key][:_MOST_CANDIDATES]:
                if candidate not in near and _overlap(sketch, frozenset(self._sketches[candidate])) >= ALIKE:
                    near.add(candidate)
        return near


def _answer(trajectory: Trajectory, group: int) -> str:
    """The key of the right answer: the ground truth; without one, the prompt."""
    return f"group {group}" if trajectory.ground_truth is None else repr(trajectory.ground_truth)


def _digest(words: Sequence[str]) -> bytes:
    return hashlib.blake2b(" ".join(words).encode(errors="surrogatepass"), digest_size=16).digest()


def _sketch(words: Sequence[str]) -> "array[int]":
    """The smallest hashes of the runs of words, in order."""
    if len(words) < 2 * RUN:
        return array("I", [zlib.crc32(" ".join(words).encode(errors="surrogatepass"))])
    runs = {
        zlib.crc32(" ".join(words[start : start + RUN]).encode(errors="surrogatepass"))
        for start in range(len(words) - RUN + 1)
    }
    return array("I", sorted(runs)[:SKETCH])


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """The overlap of two sets, from the smallest hashes of both."""
    if len(one & other) < _TOO_FEW * max(len(one), len(other)):
        return 0.0  # no need to look closer
    both = one | other
    smallest = both if max(len(one), len(other)) < SKETCH else frozenset(heapq.nsmallest(SKETCH, both))
    return len(smallest & one & other) / len(smallest)
