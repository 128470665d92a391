"""What a response offers beside its answer: another number as a choice, as a possibility, or on second thought.

Whether a rival says the same as the answer, in another form, is for the verdict to decide.
"""

import re
from dataclasses import dataclass

from plaudit.verify.math.extraction.doubts import FOLLOWING, Rejection, find_second_thought
from plaudit.verify.math.extraction.marks import Mark
from plaudit.verify.numbers import NUMBER, Number, find_numbers
from plaudit.verify.patterns import compile_late

__all__ = ["ALTERNATIVES", "Rival", "find_hedges", "find_rivals"]


@dataclass(frozen=True, slots=True)
class Rival:
    """Another answer that the response offers, and what it makes of the answer if it differs.

    `whole` is the statement that the rival begins, "2, 3" where the text is "2".
    """

    text: str
    why: Rejection
    whole: str = ""


NEAR = 300  # characters after an answer in which another is called possible
_CHOICE_WORD = (
    r"(?:\b(?:or|alternatively|maybe|perhaps|possibly|oder|vielleicht|ou|peut-être|o|quizás?)\b|或者?|也许|可能)"
)
_CHOICE = compile_late(_CHOICE_WORD, re.IGNORECASE)
_OPENING_CHOICE = compile_late(rf"\W*{_CHOICE_WORD}", re.IGNORECASE)
_CHOICE_OF_NUMBERS = compile_late(
    rf"{NUMBER}[^.=]{{0,30}}?(?:\b(?:or|oder|ou|o|vs\.?|versus)\b|或)[^.=]{{0,30}}?{NUMBER}"
    rf"|\b(?:one|either|any) of\s+{NUMBER}",
    re.IGNORECASE,
)
_ROUGHLY = compile_late(
    r"\s*(?:about|approximately|approx|roughly|around|≈|\\approx|~|equivalently|in )", re.IGNORECASE
)
_NEXT_NUMBER = compile_late(
    rf"\s*(?:,|/|\||-|to\b|and\b|&)\s*(?:(?!not\b)\w+\s)?({NUMBER})(?!\s*[-+*/=×\w])", re.IGNORECASE
)
_ALSO = (
    r"(?:(?:also|equally|just as|as|another|still|an?)\s+){0,3}(?:possible|likely|plausible|valid|good|answer|solution)"
)
ALTERNATIVES = tuple(
    compile_late(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:could|may|might|can)\s+(?:\w+\s+){{0,2}}?be\s+({NUMBER})(?!\s+[^\W\d_]{{3}})",
        rf"({NUMBER})\s+(?:is|are|would be|seems?)\s+{_ALSO}\b",
        rf"\b(?:otherwise|unless|else|if not|then again|maybe|perhaps|alternatively)\b\W*(?:\w+\s+){{0,3}}({NUMBER})",
    )
)
"""Ways to call another number possible."""
_ALTERNATIVE_CUES = (
    "could", "may", "might", "can ", "possible", "likely", "plausible", "valid", "answer", "solution", "otherwise",
    "unless", "else", "if not", "again", "perhaps", "alternatively", " good",
)  # fmt: skip
_SENTENCE_END = compile_late(r"[.!?](?=\s|$)|[。！？\n]")
_DIGIT = compile_late(r"\d")


def find_rivals(mark: Mark, text: str) -> list[Rival]:
    """The numbers that the text offers after an answer: beside it, as a choice, or on second thought."""
    after = text[mark.end : mark.end + FOLLOWING]
    if not _DIGIT.search(after):
        return []
    rivals = [Rival(number.text, Rejection.HEDGED) for number in _find_beside(after)]
    cue = find_second_thought(after) if _DIGIT.search(mark.text) else None
    numbers = find_numbers(after[cue.end() :]) if cue else []
    return rivals + [Rival(number.text, Rejection.RETRACTED) for number in numbers[-1:]]


def find_hedges(sentence: str, number: Number, numbers: list[Number]) -> list[Rival]:
    """The other numbers of a sentence that leaves a choice between numbers."""
    others = [other.text for other in numbers if other.value != number.value]
    return [Rival(other, Rejection.HEDGED) for other in others] if _CHOICE_OF_NUMBERS.search(sentence) else []


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
    following = _SENTENCE_END.split(rest[0][:NEAR], maxsplit=2)[:2] if rest else []
    return others + _find_alternatives(" ".join([sentence, *following]))


def _find_alternatives(near: str) -> list[Number]:
    """The numbers that the sentences after an answer call possible too."""
    lowered = near.lower()
    if not any(cue in lowered for cue in _ALTERNATIVE_CUES):
        return []
    found = [match for pattern in ALTERNATIVES for match in pattern.finditer(near)]
    return [number for match in found for number in find_numbers(match[1])]
