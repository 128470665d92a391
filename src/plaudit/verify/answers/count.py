"""Is the number of things right? One number counts, in digits or in words; a list of numbers is no count."""

import itertools
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.clauses import ABSTENTION, is_denied
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.arithmetic import false_equations, false_sums
from plaudit.verify.number_words import NUMBER_WORDS, parse_number_words, scale_of
from plaudit.verify.numbers import DECIMAL, decimal_value, parse_plain_number
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, need_truth
from plaudit.verify.verifier import Answer, Verdict, Verifier

LONGEST_ANSWER = 2_000
SHORTEST_COUNTING = 3
_SMALL = "|".join(sorted({*NUMBER_WORDS, "one"}))
_MENTION = compile_late(
    rf"(?<![\w.,])(?P<digits>-?{DECIMAL})(?![\w%]|[.,]\d)"
    rf"|\b(?P<single>(?:a|only\s+a|just\s+a)\s+single)\b|\b(?P<words>(?:a\s+)?(?:{_SMALL})\b(?:(?:\s+and\s+|[\s-]+)(?:{_SMALL})\b)*)"
    r"|\b(?P<none>no(?=\s+(?!one\b|more\b|less\b|fewer\b|doubt\b)[a-z])|none|(?:not|\w{2,8}n['’]t)\s+(?:\w+\s+)?any)\b",
    re.IGNORECASE,
)
_NUMBER_OF_THINGS = compile_late(rf"({DECIMAL})(?:\s+([a-z]+))?", re.IGNORECASE)
_PRONOUN_BEFORE = compile_late(r"\b(?:this|that|the|another|each|which|every|no|any|last|first)\s+\Z", re.IGNORECASE)
_PRONOUN_AFTER = compile_late(r"\s+(?:of\b|is\b|was\b|has\b|on\b|in\b|at\b)", re.IGNORECASE)
_ASIDE = compile_late(r"\((?![^()]*\b(?:or|maybe|perhaps|possibly|not)\b)[^()]*\)", re.IGNORECASE)
_HEAD = compile_late(r"[^:]*\d\s+[a-z][^:]*(?=:\s)|[^:]*\b[a-z]+\s+[a-z][^:]*(?=:\s)", re.IGNORECASE)
_CONCLUSION = compile_late(
    r"\b(?:so|therefore|thus|hence|total|totals?|totall?ing|altogether|in all|in sum|overall|sum|final count)\b|=",
    re.IGNORECASE,
)
_BOUND_BEFORE = compile_late(
    r"(?:at\s+(?:least|most)|(?:more|less|fewer|greater)\s+than|over|under|up\s+to|between|maybe|either|minimum\s+of"
    r"|maximum\s+of|from|nearly|almost|>=?|<=?|≥|≤)\s*\Z",
    re.IGNORECASE,
)
_BOUND_AFTER = compile_late(
    r"\s*(?:\+|or\s+(?:more|fewer|less|so)\b|[-–—]\s*\d|\bto\s+\d|/\s*\d|\bplus\b|\bdozens?\b|and\s+a\s+(?:half|quarter)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, repr=False)
class Count(Verifier[Fraction]):
    """1.0 when the answer is the right number of things, in digits or in words, else 0.0."""

    kind: ClassVar[str] = "count"

    def read(self, sample: Trajectory) -> Fraction:
        circles = find_column(sample, "circles")
        if isinstance(circles, list | tuple):
            return Fraction(_count_circles(circles, find_column(sample, "target_color")))
        truth = need_truth(sample, "count")
        value = _read_number(truth)
        if value is None or value < 0 or value.denominator != 1:
            raise InvalidTrajectory(f"the ground truth is a whole number from 0 on, got {truth!r:.60}")
        return value

    def judge(self, task: Fraction, answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        if not final.readings or len(final.readings[-1]) > LONGEST_ANSWER:
            return Verdict(0.0, "no single short answer")
        text = final.readings[-1]
        false = next(itertools.chain(false_sums(text), false_equations(text, _value_of_side, operator.eq)), None)
        if false is not None:
            return Verdict(0.0, f"{false!r:.80} is false")
        counts = find_counts(text)
        if len(counts) != 1:
            listed = ", ".join(str(count) for count in sorted(counts)[:8])
            return Verdict(0.0, f"no single number in the answer{f' but {listed}' if listed else ''}")
        count = counts.pop()
        return Verdict(float(count == task), f"the answer is {count}, right is {task}", details={"count": str(count)})


def _value_of_side(side: str) -> Fraction | int | None:
    """The number that one side of an equation is, perhaps with a word for what is counted."""
    number = _NUMBER_OF_THINGS.fullmatch(side)
    return None if number is None or scale_of(number[2] or "") else decimal_value(number[1])


def find_counts(text: str) -> set[Fraction]:
    """The numbers that a text commits to; empty where it only bounds or denies one.

    Where a text has several, those after the last word of conclusion count ("so", "in total", "="), else those in its
    clause or sentence, else those that stand neither in brackets nor after a colon.

    >>> find_counts("2 cats and 3 dogs, so there are five animals")
    {Fraction(5, 1)}
    >>> find_counts("3 dogs: 2 brown, 1 black")
    {Fraction(3, 1)}
    """
    counts = _mentions(text)
    if len(counts) < 2:
        return counts
    ends = [conclusion.end() for conclusion in _CONCLUSION.finditer(text)]
    concluded = next((counts for end in reversed(ends) if (counts := _mentions(text[end:]))), None)
    for marks in ((", ", "; ", ". ", "\n", "! "), (". ", "\n", "! ")) if ends and not concluded else ():
        concluded = concluded or _mentions(text[max(text.rfind(mark, 0, ends[-1]) for mark in marks) + 1 :])
    if concluded:
        return concluded
    main = _ASIDE.sub(" ", text)
    head = _HEAD.match(main)
    return (_mentions(head[0]) if head else set()) or _mentions(main) or counts


def _mentions(text: str) -> set[Fraction]:
    """Every number that is named; two different ones if one is bounded, so that it is no single number."""
    counts: set[Fraction] = set()
    for mention in _without_counting(text):
        if mention["none"]:
            counts |= set() if ABSTENTION.search(text) else {Fraction(0)}
            continue
        value = _value(mention)
        if value is None or is_denied(text, mention.start(), mention.end()):
            continue
        before = text[max(0, mention.start() - 20) : mention.start()]
        if mention["words"] and value == 1 and _is_pronoun(before, text, mention.end(), bool(counts)):
            continue
        if _BOUND_BEFORE.search(before) or _BOUND_AFTER.match(text, mention.end()):
            counts.add(value + 1)
        counts.add(value)
    return counts


def _without_counting(text: str) -> Iterator["re.Match[str]"]:
    """The mentions of numbers but for those of counting: 1, 2, 3 and so on, with only commas between."""
    mentions = list(_MENTION.finditer(text))
    start = 0
    while start < len(mentions):
        end = start
        while end < len(mentions) and _value(mentions[end]) == end - start + 1:
            if end > start and text[mentions[end - 1].end() : mentions[end].start()].strip(" ,"):
                break
            end += 1
        if end - start < SHORTEST_COUNTING:
            yield mentions[start]
            end = start + 1
        start = end


def _is_pronoun(before: str, text: str, end: int, named: bool) -> bool:
    """Whether "one" refers to a thing: "the one", or after another number "one of them", "one is"."""
    return _PRONOUN_BEFORE.search(before) is not None or (named and _PRONOUN_AFTER.match(text, end) is not None)


def _value(mention: "re.Match[str]") -> Fraction | None:
    if mention["digits"]:
        digits = mention["digits"]
        value = decimal_value(digits.removeprefix("-"))
        return None if value is None else Fraction(-value if digits.startswith("-") else value)
    if mention["single"]:
        return Fraction(1)
    if mention["none"]:
        return Fraction(0)
    words = re.sub(r"^a\s+", "", mention["words"], flags=re.IGNORECASE)
    number = parse_number_words(words)
    return None if number is None else Fraction(number)


def _read_number(truth: Any) -> Fraction | None:
    if isinstance(truth, bool):
        return None
    if isinstance(truth, int):
        return Fraction(truth)
    if isinstance(truth, float):
        return Fraction(truth) if truth == truth and abs(truth) < 1e15 else None
    if not isinstance(truth, str):
        return None
    value = parse_plain_number(truth.strip())
    value = parse_number_words(truth) if value is None else value
    return None if value is None else Fraction(value)


def _count_circles(circles: Any, color: Any) -> int:
    """The number of circles of NeMo's circle_count that have the colour."""
    if not isinstance(color, str) or not all(isinstance(each, Mapping) and "color" in each for each in circles):
        raise InvalidTrajectory(f"circles are objects with a color, and target_color is a text, got {color!r:.40}")
    return sum(each["color"] == color for each in circles)
