"""Numbers in words: "two", "twenty-one", "three hundred and five thousand"; in English, up to the millions."""

import re
from fractions import Fraction

from plaudit.verify.patterns import compile_late

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * (k + 2) for k, word in enumerate(_TENS.split())
}
SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
"""Words that multiply the number before them."""

NUMBER_WORDS = frozenset({*_VALUES, *SCALES} - {"one"})
"""The words of numbers; "one" is a pronoun too."""

_CHINESE_SCALES = {"万": 10**4, "亿": 10**8}
_WORD = rf"(?:{'|'.join((*_VALUES, *SCALES))})"
_RUN = compile_late(rf"\b{_WORD}(?:[\s-]+(?:and\s+)?{_WORD})*\b", re.IGNORECASE)
_PARTS = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
}  # fmt: skip
_PART = compile_late(rf"(?:(?P<above>{_WORD}|a|an)[\s-]+)?(?P<part>{'|'.join(_PARTS)})s?\b", re.IGNORECASE)
_SIGNED = compile_late(r"(?P<sign>minus\s|negative\s)?\s*(?P<words>.*)", re.IGNORECASE | re.DOTALL)
_MINUS = compile_late(r"\b(?:minus|negative)\s+$", re.IGNORECASE)
_SPLIT = compile_late(r"[\s-]+")
LONGEST = 300  # characters of a text in which words count as numbers


def parse_number_words(text: str) -> Fraction | int | None:
    """The value of a number in words, such as "minus two" or "three quarters", or None.

    >>> parse_number_words("Twenty-one")
    21
    """
    match = _SIGNED.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        return None
    words, sign = match["words"], -1 if match["sign"] else 1
    if part := _PART.fullmatch(words):
        above = 1 if part["above"] in (None, "a", "an") else _value(part["above"])
        return None if above is None else sign * Fraction(above, _PARTS[part["part"].lower().removesuffix("s")])
    run = _RUN.fullmatch(words)
    value = _value(run[0]) if run else None
    return None if value is None else sign * value


def find_number_words(text: str) -> list[int]:
    """The numbers in words of a short text; "one" does not count, as it is also a pronoun."""
    if len(text) > LONGEST or _PART.search(text):
        return []
    values = [
        -value if _MINUS.search(text, 0, run.start()) else value
        for run in _RUN.finditer(text)
        if (value := _value(run[0])) is not None
    ]
    return [value for value in values if abs(value) != 1]


def digits_for_words(text: str) -> str:
    """The text with numbers in words as digits; "one" stays, as it is a pronoun.

    >>> digits_for_words("twenty-one or one of them")
    '21 or one of them'
    """
    return _RUN.sub(lambda run: run[0] if (value := _value(run[0])) in (None, 1) else str(value), text)


def scale_of(word: str) -> int | None:
    """The factor of a word such as "million", "thousands" or "万" for the number before it, or None."""
    return SCALES.get(word.lower().removesuffix("s")) or _CHINESE_SCALES.get(word)


def _value(words: str) -> int | None:
    total = group = 0
    previous = ""
    for word in _SPLIT.split(words.lower()):
        if previous == "dozen":
            return None  # a dozen is counted, not added to
        if word == "and":
            continue
        if word in SCALES:
            if not group and not previous:
                group = 1
            if SCALES[word] < 1000:
                group *= SCALES[word]
            else:
                total, group = total + group * SCALES[word], 0
        else:
            if previous in _VALUES and not (_VALUES[previous] >= 20 and _VALUES[word] < 10):
                return None  # "two three" is no number
            group += _VALUES[word]
        previous = word
    return total + group
