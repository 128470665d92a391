"""Units beside numbers: which words are units, and which of them are the same unit.

Only units that can be mistaken for each other are known; any other word after a number is prose and is ignored. Nothing
is converted: 3 m and 300 cm are two answers.
"""

import re

from plaudit.verify.number_words import find_number_words, scale_of
from plaudit.verify.patterns import compile_late

_SAME_UNIT = """
m meter metre; cm centimeter centimetre; mm millimeter millimetre; km kilometer kilometre kms; mi mile; ft foot feet; dm
in inch inches; yd yard; nm nanometer nanometre; light-year; kg kilogram kilo kgs; g gram gr; mg milligram; lb lbs pound
oz ounce; ton tonne; s sec second secs; min minute mins; h hr hour hrs; day; week; ms; month; yr year yrs
l L liter litre; ml mL milliliter millilitre; gal gallon; dollar usd USD bucks; cent ¢; euro eur EUR; sterling
yuan rmb 元; degree deg; rad radian; percent pct; permille permil ‰; J joule; kJ kilojoule; N newton; W watt
kW kilowatt; K kelvin; mi/h mph; km/h kmh kph
"""
_UNITS = {
    spelling: words.split()[0]
    for words in _SAME_UNIT.replace("\n", ";").split(";")
    for word in words.split()
    for spelling in ((word, f"{word.removesuffix('s')}s") if len(word) > 3 else (word,))
}
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
    is_open = OPEN_WORDS.search(words.lower()) or not _VERBS.isdisjoint(pieces)
    return not is_open and pieces[:1] not in _POWERS_ALONE and not is_calculation


def changes_amount(word: str) -> bool:
    """Whether a word right behind a number makes it another one: a scale, a power, "too"; dozens are counted."""
    return word in _CHANGING or (scale_of(word) or 0) >= 100


_CHANGING = frozenset({"squared", "cubed", "too", "off", "minus", "plus", "tenths", "hundredths", "thousandths"})
_TO_SPACES = str.maketrans("().,;:!", " " * 7)
_OPERATIONS = frozenset({"times", "per"})
_VERBS = frozenset({"or", "is", "was", "were", "be", "plus", "minus"})
_POWERS_ALONE = (["squared"], ["cubed"])
OPEN_WORDS = compile_late(
    r"n['’]t\b|\?|^\W*!|\b(?:(?!only|family|daily|weekly|monthly|yearly)\w{2,}ly|but|if|unless|when|th[ae]n"
    r"|would|could|should|might|may|not|never|no|nor|etc|wrong|incorrect|false|untrue|rejected|discarded|whatever"
    r"|maybe|perhaps|i|we|you|they|too|off|up|half|halves|(?:ten|hundred|thousand)ths|fewer|assuming|according|subject"
    r"|excluding|except|un(?:verified|confirmed|sure)|confidence|probability|give or take|at (?:least|most)|under|over"
    r"|above|below|short|thru|twice|such as|example|guess|ish)\b|\be\.g|\bfor\b\W*[a-z]\s?=|\dish\b|不|❌|✗"
)
"""What leaves open the answer in which it stands; words in -ly are adverbs."""


def unit_of(words: str) -> str | None:
    """The unit that words after a number name, or None for prose."""
    above, _, below = words.strip().replace("per ", "/ ").partition("/")
    unit, under = _simple(above), _simple(below) if below else ""
    return unit if unit is None or not below else under and f"{unit}/{under}"


def power_of(words: str) -> int:
    """The power that words raise a unit to: 2 for "square units" and "cm^2"."""
    raised = _RAISED.search(words)
    return _power(raised) if raised else 1


def _power(raised: re.Match[str]) -> int:
    return int(raised["power"]) if raised["power"] else _POWERS[raised["word"] or raised["after"]]


def _simple(text: str) -> str | None:
    if "sterling" in text:
        return "sterling"
    if raised := _RAISED.search(text):
        unit = _name_unit(raised["unit"] or raised["base"])
        return unit and f"{unit}^{_power(raised)}"
    words = _WORD.findall(text)
    return _name_unit(text) or (_name_unit(words[0]) if words else None)


def _name_unit(word: str) -> str | None:
    return _UNITS.get(word) or _UNITS.get(word.lower())
