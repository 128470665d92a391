"""Is the answer to a question one of the accepted answers?"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.final_answer import f1_of_words, find_date, find_final_answer, normal_words, squad_words
from plaudit.verify.math.numeric import number_of
from plaudit.verify.number_words import parse_number_words
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import need_truth
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_BESIDE = 20
"""The number of words that mode="contains" allows in addition to an accepted answer."""
MOST_ANSWERS = 1_000
LONGEST_ANSWER = 20_000  # characters; no accepted answer is longer
_BULLET = compile_late(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_DENIALS = {"not", "never", "no", "isnt", "wasnt", "or", "either", "neither", "nor"}


@dataclass(frozen=True, slots=True)
class AcceptedAnswers:
    """The answers that are right, each with its spellings: one of them is asked for, or all."""

    items: tuple[tuple[str, ...], ...]

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings of all answers."""
        return tuple(spelling for item in self.items for spelling in item)


@dataclass(frozen=True, repr=False)
class Qa(Verifier[AcceptedAnswers]):
    """1.0 when the final answer is one of the accepted answers, else 0.0; the components are exact, contains and f1.

    `mode` is "exact", "contains" (an accepted answer with up to 20 words beside it) or "f1" (the F1 of words).
    `values=True` compares numbers and dates by value. `lists=True` asks for all answers of the list, in any order.
    `published=True` normalises as SQuAD does, where 141 is 1.41.
    """

    kind: ClassVar[str] = "qa"

    mode: Literal["exact", "contains", "f1"] = "exact"
    values: bool = False
    lists: bool = False
    published: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def read(self, sample: Trajectory) -> AcceptedAnswers:
        items = _read_items(need_truth(sample, "golden_answers"))
        words = squad_words if self.published else normal_words
        if not items or not all(item and all(map(words, item)) for item in items):
            raise InvalidTrajectory(f"the accepted answers are texts with something in them, got {items!r:.80}")
        return AcceptedAnswers(items if self.lists else (tuple(dict.fromkeys(s for item in items for s in item)),))

    def judge(self, task: AcceptedAnswers, answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        readings = [reading for reading in final.readings if reading and len(reading) <= LONGEST_ANSWER]
        if not readings:
            return Verdict(0.0, f"no single answer in the {final.source}")
        if self.lists:
            listings = {*readings, final.paragraph[:LONGEST_ANSWER]}
            complete = any(self._lists_all(task, listing) for listing in listings)
            reason = "all answers are given" if complete else "not all answers, or others beside them"
            return Verdict(float(complete), reason, details={"answer": readings[0][:200]})
        measures = [self._measure(reading, spelling) for reading in readings for spelling in task.spellings]
        best = {name: max(measure[name] for measure in measures) for name in ("exact", "contains", "f1")}
        score = best[self.mode]
        reason = f"{readings[-1]!r:.80} from the {final.source} {'is' if score == 1.0 else 'is not'} an accepted answer"
        components = {name: Verdict(value, name) for name, value in best.items()}
        return Verdict(score, reason, components, {"answer": readings[-1][:200]})

    def _measure(self, reading: str, spelling: str) -> dict[str, float]:
        words = self._words(reading)
        wanted = self._words(spelling)
        exact = words == wanted or (self.values and _same_value(reading, spelling))
        contained = exact or _contains(words, wanted)
        return {"exact": float(exact), "contains": float(contained), "f1": 1.0 if exact else f1_of_words(words, wanted)}

    def _lists_all(self, task: AcceptedAnswers, reading: str) -> bool:
        """Whether every answer occurs once, with no other word than "and"."""
        separators = {ord(mark): ", " for mark in "/;|&" if not any(mark in each for each in task.spellings)}
        words = self._words(_BULLET.sub("", reading).translate(separators))
        for item in sorted(task.items, key=lambda spellings: -max(map(len, spellings))):
            spellings = sorted(map(self._words, item), key=len, reverse=True)
            matches = ((start, wanted) for wanted in spellings for start in _runs(words, wanted))
            first = next(matches, None)
            if first is None:
                return False
            start, wanted = first
            words = [*words[:start], *words[start + len(wanted) :]]
        return set(words) <= {"and"}

    @property
    def _words(self) -> Callable[[str], list[str]]:
        return squad_words if self.published else normal_words


def _read_items(truth: Any) -> tuple[tuple[str, ...], ...]:
    """The accepted answers of the ways in which data sets write them."""
    if isinstance(truth, Mapping):
        if "target" in truth:
            return _read_items(truth["target"])
        names = ("text", "value", "aliases", "normalized_aliases")
        spellings = [spelling for name in names for spelling in _listed(truth.get(name))]
        return (_spellings(spellings),) if spellings else ()
    listed = _listed(truth)
    if len(listed) > MOST_ANSWERS:
        raise InvalidTrajectory(f"at most {MOST_ANSWERS:,} accepted answers, got {len(listed):,}")
    return tuple(_spellings(_listed(each)) for each in listed)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _spellings(values: Sequence[Any]) -> tuple[str, ...]:
    texts = [str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each for each in values]
    if not all(isinstance(each, str) and len(each) <= LONGEST_ANSWER for each in texts):
        raise InvalidTrajectory(f"an accepted answer is a text, got {values!r:.80}")
    return tuple(dict.fromkeys(texts))


def _contains(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether words have the wanted ones in a row, not denied, not one of several, and with few other words."""
    if not wanted or len(words) > len(wanted) + MOST_BESIDE:
        return False
    for start in _runs(words, wanted):
        beside = {*words[max(0, start - 2) : start], *words[start + len(wanted) : start + len(wanted) + 1]}
        if not beside & _DENIALS:
            return True
    return False


def _runs(words: Sequence[str], wanted: Sequence[str]) -> list[int]:
    size = len(wanted)
    return [start for start in range(len(words) - size + 1) if list(words[start : start + size]) == list(wanted)]


def _same_value(one: str, other: str) -> bool:
    for read in (find_date, _find_number):
        values = [read(text.strip(" .")) for text in (one, other)]
        if None not in values:
            return values[0] == values[1]
    return False


def _find_number(text: str) -> Fraction | int | None:
    number = number_of(text)
    return parse_number_words(text) if number is None else number
