"""Numbers in words: "two", "twenty-one", "three hundred and five thousand"; in English, up to the millions."""

import re

__all__ = ["find_number_words", "parse_number_words"]

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {word: 10 * (k + 2) for k, word in enumerate(_TENS)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}
_WORD = rf"(?:{'|'.join((*_VALUES, *_SCALES))})"
_RUN = re.compile(rf"\b{_WORD}(?:[\s-]+(?:and\s+)?{_WORD})*\b", re.IGNORECASE)
_SPLIT = re.compile(r"[\s-]+")
LONGEST = 300  # characters of a text in which words count as numbers


def parse_number_words(text: str) -> int | None:
    """The whole number that a text is in words, or None.

    >>> parse_number_words("Twenty-one")
    21
    """
    run = _RUN.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return _value(run[0]) if run else None


def find_number_words(text: str) -> list[int]:
    """The numbers in words of a short text; "one" counts only where nothing but numbers is said, as it is a pronoun."""
    if len(text) > LONGEST:
        return []
    found = [value for run in _RUN.finditer(text) if (value := _value(run[0])) is not None]
    return [value for value in found if value != 1]


def _value(words: str) -> int | None:
    total = group = 0
    previous = ""
    for word in _SPLIT.split(words.lower()):
        if word == "and":
            continue
        if word in _SCALES:
            if not group and not previous:
                group = 1
            if word == "hundred":
                group *= 100
            else:
                total, group = total + group * _SCALES[word], 0
        else:
            if previous in _VALUES and not (_VALUES[previous] >= 20 and _VALUES[word] < 10):
                return None  # "two three" is no number
            group += _VALUES[word]
        previous = word
    return total + group
