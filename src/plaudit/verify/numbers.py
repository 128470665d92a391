"""Exact numbers in text, as fractions.

A percent sign is kept as a flag and does not change the value: "50%" is 50. Numbers with more than a thousand digits or
exponents beyond 400 are no numbers, so that no text can make the arithmetic slow.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["NUMBER", "Number", "find_numbers", "parse_number", "to_plain_number", "without_calculator_marks"]

MAX_DIGITS = 1000
MAX_EXPONENT = 400

# Possessive quantifiers throughout: a long text is read once, whatever it holds.
_DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|,\\!)\d{3}){1,12}+(?!,?\d)|\d++)"
_MAGNITUDE = rf"(?:{_DIGITS}(?:\.\d++)?+|(?<![\w.])\.\d++)(?:[eE][-+]?\d++(?!\w))?+"
_LATEX_FRACTION = rf"\\[dt]?frac\s?\{{(?P<top>{_MAGNITUDE})\}}\s?\{{(?P<bottom>{_MAGNITUDE})\}}"
_NUMBER = (
    r"(?:(?<!\w)(?<!\d\.)|(?=\\[dt]?frac))(?P<sign>(?<![)\]}])[-+])?+(?:\\?[$€£¥]\s?(?P<inner_sign>-(?=[\d.]))?+)?+"
    rf"(?:{_LATEX_FRACTION}|(?P<magnitude>{_MAGNITUDE})(?P<over>(?:/{_MAGNITUDE})*+))(?P<percent>\s?\\?%)?+"
)
_PATTERN = re.compile(_NUMBER)
_CALCULATOR_MARK = re.compile(r"<<[-+*/().,=\d\s%$]{0,300}+>>")
_ASCII_SIGNS = str.maketrans("−–﹣－＋．％／＄", "---" + "-+.%/$")

NUMBER = re.sub(r"\(\?P<\w+>", "(?:", _NUMBER)
"""A regular expression, without groups, for what `find_numbers` reads as one number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number and where it stands in the text."""

    value: Fraction
    text: str
    start: int
    end: int
    percent: bool = False

    @property
    def is_fraction(self) -> bool:
        """True when it was written with a fraction bar."""
        return "/" in self.text or "frac" in self.text


def find_numbers(text: str) -> list[Number]:
    """The numbers in a text, in order; calculator marks like `<<3+4=7>>` do not count.

    >>> [number.text for number in find_numbers("$1,000 is 50% of 2e3, not 1 1/2 or -.5")]
    ['$1,000', '50%', '2e3', '1 1/2', '-.5']
    """
    searched = without_calculator_marks(text).translate(_ASCII_SIGNS)
    found: list[Number] = []
    for match in _PATTERN.finditer(searched):
        value = _value(match)
        if value is None:
            continue
        number = Number(value, text[match.start() : match.end()], *match.span(), percent=match["percent"] is not None)
        if found and _is_mixed(found[-1], number, searched):
            number = _join_mixed(found.pop(), number, text)
        found.append(number)
    return found


def parse_number(text: str) -> Fraction | None:
    """The number that the whole text is, or None.

    >>> parse_number(" -1,234.50 ")
    Fraction(-2469, 2)
    """
    stripped = re.sub(r"^([-+−])\s+", r"\1", text.strip()) if len(text) <= 3 * MAX_DIGITS else ""
    numbers = find_numbers(stripped)
    return numbers[0].value if len(numbers) == 1 and numbers[0].text == stripped else None


def to_plain_number(value: Fraction) -> int | float:
    """An int where the number is whole, else the nearest float."""
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return round(value)


def without_calculator_marks(text: str) -> str:
    """The text with calculator marks blanked out, so that places in it stay the same."""
    return _CALCULATOR_MARK.sub(lambda mark: " " * len(mark[0]), text) if "<<" in text else text


def _value(match: re.Match[str]) -> Fraction | None:
    top, over = match["top"] or match["magnitude"], match["bottom"] or match["over"].removeprefix("/")
    value = _magnitude(top)
    if over and value is not None:
        below = None if "/" in over else _magnitude(over)  # a second bar makes it a date
        value = value / below if below else None
    negative = (match["sign"] == "-") != (match["inner_sign"] is not None)
    return -value if negative and value is not None else value


def _magnitude(text: str) -> Fraction | None:
    if len(text) > 2 * MAX_DIGITS:
        return None
    if text.isdecimal() and len(text) <= MAX_DIGITS:
        return Fraction(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.replace("{,}", "").replace(",\\!", "").replace(",", "").partition(".")
    if len(whole) + len(decimals) > MAX_DIGITS or len(exponent) > 4 or abs(int(exponent or 0)) > MAX_EXPONENT:
        return None
    shift = int(exponent or 0) - len(decimals)
    digits = int(whole + decimals)
    return Fraction(digits * 10**shift) if shift >= 0 else Fraction(digits, 10**-shift)


def _is_mixed(whole: Number, part: Number, text: str) -> bool:
    """Whether "1" and "1/2" stand together as one and a half."""
    return (
        part.is_fraction
        and 0 < part.value < 1
        and not whole.is_fraction
        and whole.text.lstrip("-+$").isdecimal()
        and text[whole.end : part.start] in ("", " ")
    )


def _join_mixed(whole: Number, part: Number, text: str) -> Number:
    sign = -1 if whole.text.startswith("-") else 1
    return Number(whole.value + sign * part.value, text[whole.start : part.end], whole.start, part.end)
