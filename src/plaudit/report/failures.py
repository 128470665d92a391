"""Why samples were not scored, by kind: failures with one cause count together, whatever data they name."""

import re
from collections import Counter
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput

__all__ = ["Failure", "FailureCounts", "failure_kind"]

MAX_KINDS = 10_000
FURTHER = "(further reasons)"


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure: its first reason, how often it happened, and the sample it happened to first."""

    status: str
    reason: str
    count: int
    example: str


class FailureCounts:
    """Counts failures by status and kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], tuple[str, str]] = {}  # reason and sample

    def add(self, output: RewardOutput, sample: str) -> None:
        """Take the output of a sample that was not scored."""
        key = (output.status.value, failure_kind(output.reason))
        reason = output.reason
        if key not in self._counts and len(self._counts) >= MAX_KINDS:
            key, reason = (output.status.value, FURTHER), FURTHER
        self._counts[key] += 1
        self._first.setdefault(key, (reason, sample))

    def failures(self) -> tuple[Failure, ...]:
        """All kinds, most frequent first."""
        return tuple(
            Failure(key[0], self._first[key][0], count, self._first[key][1])
            for key, count in self._counts.most_common()
        )


def failure_kind(reason: str) -> str:
    """What failures of one cause have in common: the exception and its place, else the reason without its data.

    >>> failure_kind("quality raised ValueError: could not read 'x' (at my.py:7)")
    'ValueError (at my.py:7)'
    >>> failure_kind("no number in 'a b' after 12 words")
    'no number in … after … words'
    """
    raised = re.search(r"raised (\w+)", reason)
    place = re.search(r"\(at [^()]+:\d+\)$", reason)
    if raised and place:
        return f"{raised[1]} {place[0]}"
    return re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d[\d.,]*", "…", reason)
