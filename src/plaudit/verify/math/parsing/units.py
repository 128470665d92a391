"""Units beside numbers: which words are units, and how those of one kind convert.

Only units that can be mistaken for each other are known; any other word after a number is prose and is ignored.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from plaudit.verify.number_words import find_number_words, scale_of
from plaudit.verify.patterns import compile_late

__all__ = ["Unit", "changes_amount", "is_unit", "may_be_unit", "power_of", "unit_of"]


class Unit(NamedTuple):
    """What a unit measures ("length", "length/time"), and its size in the base unit of that."""

    measures: str
    size: Fraction


_KINDS: dict[str, dict[str, str | int]] = {
    "length": {
        "m meter metre meters metres": 1, "cm centimeter centimetre": "1/100", "mm millimeter millimetre": "1/1000",
        "km kilometer kilometre kms": 1000, "mi mile": "1609344/1000", "ft foot feet": "3048/10000",
        "in inch inches": "254/10000", "yd yard": "9144/10000", "nm nanometer nanometre": "1/1000000000", "dm": "1/10",
        "light-year": 9460730472580800,
    },
    "mass": {
        "kg kilogram kilo kgs": 1, "g gram gr": "1/1000", "mg milligram": "1/1000000",
        "lb lbs pound": "45359237/100000000",
        "oz ounce": "28349523125/1000000000000", "ton tonne tonnes": 1000,
    },
    "time": {
        "s sec second secs": 1, "min minute mins": 60, "h hr hour hrs": 3600, "day": 86400, "week": 604800,
        "ms": "1/1000",
        "month": 2629746, "yr year yrs": 31556952,
    },
    "volume": {"l L liter litre": 1, "ml mL milliliter millilitre": "1/1000", "gal gallon": "3785411784/1000000000"},
    "money": {"dollar dollars usd USD bucks": 1, "cent cents ¢": "1/100"},
    "euros": {"euro eur EUR": 1},
    "sterling": {"pound sterling": 1},
    "yuan": {"yuan rmb 元": 1},
    "angle": {"degree degrees deg": 1},
    "plane angle": {"rad radian": 1},
    "share": {"percent pct": "1/100", "permille permil ‰": "1/1000"},
    "energy": {"J joule": 1, "kJ kilojoule": 1000},
    "force": {"N newton": 1},
    "power": {"W watt": 1, "kW kilowatt": 1000},
    "temperature": {"K kelvin": 1},
}  # fmt: skip


def _table() -> dict[str, Unit]:
    units_by_word: dict[str, Unit] = {}
    for measures, units in _KINDS.items():
        for words, size in units.items():
            for word in [words] if words == "pound sterling" else words.split():
                units_by_word[word] = Unit(measures, Fraction(size))
                if len(word) > 3:
                    units_by_word[f"{word.removesuffix('s')}s"] = units_by_word[word]
    hour = units_by_word["hour"].size
    units_by_word["mph"] = Unit("length/time", units_by_word["mile"].size / hour)
    units_by_word["kmh"] = units_by_word["kph"] = Unit("length/time", units_by_word["km"].size / hour)
    return units_by_word


_UNITS = _table()
_RAISED = compile_late(
    r"\b(?:(?P<word>square|sq|cubic|cu)\.?\s+(?P<unit>\w+)"
    r"|(?P<base>\w+?)\s*(?:\^\{?(?P<power>-?\d)\}?|(?P<after>squared|cubed)))"
)
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_WORD = compile_late(r"[^\W\d_]+|[¢‰]")
_ALONE = {
    "cm", "mm", "km", "kg", "mg", "mi", "ft", "lb", "lbs", "oz", "hr", "hrs", "min", "mins", "ml", "mL", "mph", "kmh",
    "sec", "secs", "yd", "nm", "yr", "yrs", "gal", "units", "unit", "sq", "usd", "USD", "rmb", "pct", "EUR", "eur",
}  # fmt: skip


def is_unit(word: str) -> bool:
    """Whether letters in a row are a unit or the word "units", not a product."""
    return word in _ALONE or (len(word) > 3 and word.lower() in _UNITS)


def may_be_unit(words: str) -> bool:
    """Whether words behind a number can name what is counted: no verb, conjunction, doubt, denial or calculation."""
    pieces = words.lower().translate(_TO_SPACES).split()
    is_calculation = not _OPERATIONS.isdisjoint(pieces) and bool(find_number_words(words))
    return _REMARKS.isdisjoint(pieces) and pieces[:1] not in _POWERS_ALONE and not is_calculation


def changes_amount(word: str) -> bool:
    """Whether a word right behind a number makes it another one: a scale, a power, "too"; dozens are counted."""
    return word in _CHANGING or (scale_of(word) or 0) >= 100


_CHANGING = frozenset({"squared", "cubed", "too", "off"})
_TO_SPACES = str.maketrans("().,;:!", " " * 7)
_OPERATIONS = frozenset({"times", "per"})
_POWERS_ALONE = (["squared"], ["cubed"])
_REMARKS = frozenset({
    "or", "but", "if", "unless", "than", "then", "is", "was", "were", "be", "isn't", "would", "could", "should",
    "might", "may", "not", "never", "no", "nor", "plus", "minus", "etc", "whatever", "probably", "possibly",
    "hopefully", "presumably", "maybe", "perhaps", "allegedly", "supposedly", "wrong", "incorrect", "false",
    "untrue", "rejected", "discarded", "i", "we", "you", "they", "too", "off",
})  # fmt: skip


def unit_of(words: str) -> Unit | None:
    """The unit that words after a number name, or None for prose."""
    words = words.strip().replace("per ", "/ ")
    above, _, below = words.partition("/")
    unit = _simple(above)
    if unit is None or not below:
        return unit
    under = _simple(below)
    return Unit(f"{unit.measures}/{under.measures}", unit.size / under.size) if under else None


def power_of(words: str) -> int:
    """The power that words raise a unit to: 2 for "square units" and "cm^2"."""
    raised = _RAISED.search(words)
    return _power(raised) if raised else 1


def _power(raised: re.Match[str]) -> int:
    return int(raised["power"]) if raised["power"] else _POWERS[raised["word"] or raised["after"]]


def _simple(text: str) -> Unit | None:
    if raised := _RAISED.search(text):
        unit = _name_unit(raised["unit"] or raised["base"])
        power = _power(raised)
        return Unit(f"{unit.measures}^{power}", unit.size**power) if unit else None
    words = _WORD.findall(text)
    return _name_unit(text) or (_name_unit(words[0]) if words else None)


def _name_unit(word: str) -> Unit | None:
    return _UNITS.get(word) or _UNITS.get(word.lower())
