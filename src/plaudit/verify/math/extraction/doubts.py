"""Why a stated answer does not count: it is hedged, denied, taken back or contradicted.

Reads cue words, no meaning. What else is offered beside an answer becomes a rival; whether a rival says the same as the
answer is for the verdict to decide. It errs towards distrust: who wavers loses an answer, none gains one by luck.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from plaudit.verify.math.extraction.marks import Mark
from plaudit.verify.numbers import NUMBER, Number, find_numbers

__all__ = [
    "Rejection",
    "Rival",
    "denial_of_number",
    "hedges_of_number",
    "is_corrected",
    "is_denied",
    "find_rivals",
    "is_retracted",
]

FOLLOWING = 20_000  # characters after an answer in which it may be taken back
BEFORE = 100  # characters before an answer in which it may be denied


class Rejection(StrEnum):
    """Why a stated answer is no answer."""

    NONE_FOUND = "no answer found"
    CONTRADICTED = "the response gives different final answers"
    HEDGED = "the response leaves a choice of answers"
    NEGATED = "the response says what the answer is not"
    RETRACTED = "the response takes its answer back"


@dataclass(frozen=True, slots=True)
class Rival:
    """Another answer that the response offers, and what it makes of the answer if it differs."""

    text: str
    why: Rejection


_NOT = r"(?:\b(?:not|never|cannot|nicht|kein|n['’]est pas|no es)\b|n['’]t\b|不是|并非)"
_DENIED_BEFORE = re.compile(rf"{_NOT}(?!.*\bbut\b)(?:\s+\w+){{0,3}}[^\w\n]*$", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"[^\w\n.!?]*(?:(?:is|was|are|were|would be|seems|est|ist|es)\s?)?"
    r"(?:not|n['’]t|cannot|wrong|incorrect|false|falsch|nicht|faux|不对|不是|错)\b",
    re.IGNORECASE,
)
_SAYS_NOT = re.compile(rf"(?:\w+\s+){{0,3}}?{_NOT}", re.IGNORECASE)
_CHOICE_WORD = (
    r"(?:\b(?:or|alternatively|maybe|perhaps|possibly|oder|vielleicht|ou|peut-être|o|quizás?)\b|或者?|也许|可能)"
)
_CHOICE = re.compile(_CHOICE_WORD, re.IGNORECASE)
_OPENING_CHOICE = re.compile(rf"\W*{_CHOICE_WORD}", re.IGNORECASE)
_CHOICE_OF_NUMBERS = re.compile(
    rf"{NUMBER}[^.=]{{0,30}}?(?:\b(?:or|oder|ou|o)\b|或)[^.=]{{0,30}}?{NUMBER}", re.IGNORECASE
)
_ROUGHLY = re.compile(r"\s*(?:about|approximately|approx|roughly|around|≈|\\approx|~|equivalently|in )", re.IGNORECASE)
_NEXT_NUMBER = re.compile(rf"\s*(?:,|/|\||-|to\b|and\b|&)\s*(?:\w+\s)?({NUMBER})(?!\s*[-+*/=×\w])", re.IGNORECASE)
_SECOND_THOUGHT = re.compile(
    r"\b(?:wait|actually|oops|sorry|correction|i mean|on second thought|hold on|hmm+|no(?=,)|warte|moment|attends"
    r"|en fait|espera|perdón)\b|等等|不对|等一下",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|i was wrong|i made a mistake"
    r"|(?:that|this|it)(?:['’]s| is) (?:wrong|incorrect|not right|not correct))\b",
    re.IGNORECASE,
)
_RESTATED = re.compile(r"\b(?:it|answer|that|this)(?:['’]s| is| should| must)\b", re.IGNORECASE)
# Searching for plain words is many times faster than the patterns, and mostly says that there is nothing to look for.
_NOT_CUES = ("not", "n't", "n’t", "never", "kein", "nicht", "n'est", "n’est", "no es", "不是", "并非")
_BACK_CUES = ("scratch", "wrong", "mistake", "incorrect", "not right", "not correct")
_THOUGHT_CUES = (
    "wait", "actually", "oops", "sorry", "correction", "i mean", "second thought", "hold on", "hmm", "no,", "warte",
    "moment", "attends", "en fait", "espera", "perdón", "等", "不对",
)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
_DIGIT = re.compile(r"\d")


def is_denied(mark: Mark, text: str) -> bool:
    """Whether the text says that what is marked is not the answer."""
    if mark.denied or (mark.end < len(text) and _DENIED_AFTER.match(text, mark.end, mark.end + 60)):
        return True
    if not _has(text[max(0, mark.start - BEFORE) : mark.end].lower(), _NOT_CUES):
        return False
    return _is_denied_before(text, mark.start) or _says_not(mark.text)


def is_retracted(mark: Mark, text: str) -> bool:
    """Whether the text after an answer withdraws it, with or without another in its place."""
    after = text[mark.end : mark.end + FOLLOWING]
    lowered = after.lower()
    if _has(lowered, _BACK_CUES) and _TAKEN_BACK.search(after):
        return True
    if not _has(lowered, _THOUGHT_CUES) or _DIGIT.search(mark.text):
        return False
    cue = _SECOND_THOUGHT.search(after)
    return cue is not None and _RESTATED.search(after, cue.end()) is not None


def is_corrected(earlier: Mark, last: Mark, text: str) -> bool:
    """Whether the text takes an earlier answer back before it gives the last."""
    start, end = earlier.end, min(last.start, earlier.end + FOLLOWING)
    return bool(_SECOND_THOUGHT.search(text, start, end) or _TAKEN_BACK.search(text, start, end))


def find_rivals(mark: Mark, text: str) -> list[Rival]:
    """The numbers that the text offers after an answer: beside it, as a choice, or on second thought."""
    after = text[mark.end : mark.end + FOLLOWING]
    if not _DIGIT.search(after):
        return []
    rivals = [Rival(number.text, Rejection.HEDGED) for number in _find_beside(after)]
    thinks_again = _has(after.lower(), _THOUGHT_CUES) and _DIGIT.search(mark.text)
    cue = _SECOND_THOUGHT.search(after) if thinks_again else None
    numbers = find_numbers(after[cue.end() :]) if cue else []
    return rivals + [Rival(number.text, Rejection.RETRACTED) for number in numbers[-1:]]


def denial_of_number(text: str, number: Number) -> bool:
    """Whether the text says "not" of this number."""
    return _DENIED_AFTER.match(text, number.end) is not None or _is_denied_before(text, number.start)


def hedges_of_number(sentence: str, number: Number, numbers: list[Number]) -> list[Rival]:
    """The other numbers of a sentence that leaves a choice between numbers."""
    others = [other.text for other in numbers if other.value != number.value]
    return [Rival(other, Rejection.HEDGED) for other in others] if _CHOICE_OF_NUMBERS.search(sentence) else []


def _is_denied_before(text: str, start: int) -> bool:
    """Whether the words right before a place say "not"."""
    before = text[max(0, start - BEFORE) : start]
    return _has(before.lower(), _NOT_CUES) and _DENIED_BEFORE.search(_SENTENCE_END.split(before)[-1]) is not None


def _has(lowered: str, cues: tuple[str, ...]) -> bool:
    for cue in cues:  # noqa: SIM110 - run several times on every response, and `any` takes twice as long
        if cue in lowered:
            return True
    return False


def _says_not(text: str) -> bool:
    """Whether a number is denied ("not 4"); "does not exist" is an answer."""
    return (
        _has(text[:100].lower(), _NOT_CUES)
        and _DIGIT.search(text[:400]) is not None
        and _SAYS_NOT.match(text.strip()[:100]) is not None
    )


def _find_beside(after: str) -> list[Number]:
    """The numbers offered beside an answer, in its sentence or in an "Or 5." after it."""
    sentence, *rest = _SENTENCE_END.split(after[:400], maxsplit=1)
    beside = _NEXT_NUMBER.match(sentence)
    others = find_numbers(beside[1]) if beside else []
    choice = _CHOICE.search(sentence)
    if choice and not _ROUGHLY.match(sentence, choice.end()):
        others += find_numbers(sentence[choice.end() :])
    if rest and (choice := _OPENING_CHOICE.match(rest[0])):
        others += find_numbers(_SENTENCE_END.split(rest[0][choice.end() :], maxsplit=1)[0])
    return others
