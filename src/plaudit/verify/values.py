"""The one number that a short answer stands for, with or without a unit, LaTeX dressing or `x =` in front.

Nothing is calculated: "2+2" stands for no number, and "5 = 4" is false rather than either of them.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from plaudit.verify.numbers import Number, numbers_in
from plaudit.verify.text import normalized, visible

__all__ = ["FalseEquation", "Value", "comparable", "is_unsolved", "measured", "value_of"]

MAX_LENGTH = 3000

_WRAPPERS = re.compile(r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|boxed|fbox)\s?\{([^{}]*)\}")
_NO_SPACE = re.compile(r"\\!\s?")
_DRESSING = re.compile(
    r"\\(?:left|right|displaystyle|quad|qquad)(?![a-z])|\\[,;: ()\[\]]|(?<!\\)\$(?!\d)|~|\^\s?\{?\\circ\}?|°"
)
_EQUALS = re.compile(r"==?|≈|\\approx|\\equiv|\bequals\b|\bis equal to\b")
_SEVERAL = re.compile(r";|,\s*[^\W\d]|\band\b")  # "x = 4, y = 5"
_OPERATOR = re.compile(r"[-+*/^×÷]|\d[a-zA-Z](?![a-zA-Z])")
_UNKNOWN = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z'’])")
_UNREADABLE = re.compile(r"[\d+*/^<>!|_\\{}=×÷·±√]|-(?!\w)|\b(?:[ei]|pi)\b|π")
# Words that make a number mean another one.
_CHANGING = re.compile(
    r"n['’]t\b|\b(?:not|never|no|nor|neither|or|than|between|except|minus|negative|half|dozen|hundred|thousand|million|billion"
    r"|trillion|squared|cubed)\b",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"[\s)]*([^\W\d_]+)")
# Only units that can be mistaken for each other; any other word after a number is taken for prose.
_UNITS = {
    spelling: family.split()[0]
    for family in (
        "m meter metre", "cm centimeter centimetre", "mm millimeter millimetre", "km kilometer kilometre", "mi mile",
        "ft feet foot", "inch", "yd yard", "g gram", "kg kilogram", "mg milligram", "lb pound", "oz ounce", "ton",
        "l liter litre", "ml milliliter millilitre", "gal gallon", "sec second", "min minute", "h hr hour", "day",
        "week", "month", "year", "$ dollar", "cent", "€ euro", "£", "% percent",
    )
    for spelling in family.split()
}  # fmt: skip


class FalseEquation(ValueError):
    """Text that equates two different numbers."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number and, where it is a usual one, its unit."""

    number: Fraction
    unit: str | None = None

    def same_as(self, other: "Value") -> bool:
        """Equal numbers of the same unit; an answer or truth without unit leaves the unit open."""
        return self.number == other.number and (None in (self.unit, other.unit) or self.unit == other.unit)


def value_of(text: str) -> Value | None:
    """The number a short text stands for, or None; raises FalseEquation for "5 = 4".

    >>> value_of("x = 1,250 miles").number
    Fraction(1250, 1)
    """
    if len(text) > MAX_LENGTH:
        return None
    sides = _EQUALS.split(undressed(text.strip(" \n\t*_`")))
    if len(sides) > 1 and any(_SEVERAL.search(side) or is_unsolved(side) for side in sides):
        return None
    values = [value for value in map(_side_value, sides) if value is not None]
    if len({value.number for value in values}) > 1:
        raise FalseEquation(f"{text.strip()} equates different numbers")
    return values[-1] if values else None


def measured(text: str, number: Number) -> Value:
    """A number of a text with the unit that stands by it."""
    sign = re.search(r"[$€£%]", number.text)
    word = _NEXT_WORD.match(text, number.end)
    unit = sign[0] if sign else word[1].casefold() if word else ""
    return Value(
        number.value, _UNITS.get(unit, _UNITS.get(unit.removesuffix("s"), _UNITS.get(unit.removesuffix("es"))))
    )


def is_unsolved(side: str) -> bool:
    """Whether one side of an equation still calculates with unknowns, as in "3x + 2 = 14"."""
    return _OPERATOR.search(side) is not None and _UNKNOWN.search(side) is not None


def comparable(text: str) -> str:
    """Text for comparison as an answer: normalised, without LaTeX dressing, without spaces beside signs."""
    plain = normalized(undressed(normalized(text)))
    return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", plain)


def undressed(text: str) -> str:
    """The text without LaTeX commands that only say how it looks."""
    if "\\" in text:
        text = _NO_SPACE.sub("", _WRAPPERS.sub(r" \1 ", text))
    return _DRESSING.sub(" ", visible(text))


def _side_value(side: str) -> Value | None:
    """The number that one side of an equation is, with its unit."""
    numbers = numbers_in(side)
    if len(numbers) != 1:
        return None
    around = f"{side[: numbers[0].start]} {side[numbers[0].end :]}"
    if _UNREADABLE.search(around) or _CHANGING.search(around):
        return None
    return measured(side, numbers[0])
