"""Is the answer the right quantity, in any unit? Units are those of pint."""

import functools
import math
import re
import tokenize
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.errors import InvalidTrajectory, require
from plaudit.settings import check_number
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.arithmetic import EQUALS, false_equations
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, is_at_least, need_truth
from plaudit.verify.verifier import Answer, Verdict, Verifier

_PURPOSE = "comparing units"
LONGEST_ANSWER = 2_000
LONGEST_UNIT = 60
MOST_QUANTITIES = 20
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = compile_late(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_NUMBER = compile_late(
    r"(?<![\w.^])(?P<base>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+−]?\.\d+)"
    r"(?:\s*(?:×|\bx\b|\*|\\times|\\cdot|·)\s*10\s*(?:\^|\*\*)\s*[{(]?(?P<power>[-+−]?\d{1,3})[})]?|[eE](?P<exponent>[-+]?\d{1,3})\b)?"
)
_LATEX_DEGREE = compile_late(r"\s*\^\s*(?:\\circ(?![a-zA-Z])|\{\s*\\circ\s*\})")
_LATEX = compile_late(
    r"\\(?:text|textrm|mathrm|mathbf|operatorname|rm|quad|left|right)(?![a-zA-Z])\s?|\\[,;:! ]|[{}$~]"
)
_SYMBOLS = str.maketrans({"℃": "°C", "℉": "°F", "\u00a0": " ", "\u202f": " "})
_OPEN = compile_late(
    r"\b(?:not|never|\w+n['’]t|between|(?:more|less|greater|fewer|larger|smaller) than|at (?:least|most)|up to|over"
    r"|under|above|below|exceeds?)\b|[<>≤≥≠]|\\(?:[lg]eq?|neq?|[lg]t)\b|\d\s*(?:to|or|and|~)\s+[-+]?\d",
    re.IGNORECASE,
)
"""Denials, inequalities and ranges: a value after them is not the quantity."""
_ONLY_NUMBER = compile_late(r"[\s$]*[-+−]?[\d.,]+\s*[A-Za-zµμΩ°\\]")
_TRAILING = " .,;:!?)\n\t"
_UNIT = compile_late(r"[A-Za-zµμΩ°%'\"][A-Za-zµμΩ°%/*^()\s\d·.-]*")
_WORDS = (
    (compile_late(r"\bdegrees?\s+celsius\b|°\s?C\b|\bdeg\s?C\b", re.IGNORECASE), "degC"),
    (compile_late(r"\bdegrees?\s+fahrenheit\b|°\s?F\b|\bdeg\s?F\b", re.IGNORECASE), "degF"),
    (compile_late(r"\bdegrees?\b|°"), "degree"),
    (compile_late(r"\bkm/?h\b|\bkph\b"), "kilometer/hour"),
    (compile_late(r"\bms(?=\s*\^?-\d)"), "m*s"),  # as texts of physics write it
    (
        compile_late(r"·|(?<=[A-Za-z\d])\s+(?=[A-Za-z(])(?!per\b|squared\b|cubed\b)(?<!per )(?<!square )(?<!cubic )"),
        "*",
    ),
)
_SIGNED_POWER = compile_late(r"(?<=[A-Za-zΩ])\^?(-?\d{1,2})(?![\d.])")
_LONG_DIGITS = compile_late(r"\d{3}|\d\.|\*\*.*\*\*.*\*\*.*\*\*.*\*\*")
_UNKNOWN_UNIT = (AttributeError, ValueError, ArithmeticError)
_NOT_UNITS = {"in", "a", "at", "as", "is", "and", "or", "per"}


@dataclass(frozen=True, slots=True)
class ExpectedQuantity:
    """The right quantity, and how far an answer may be off."""

    value: float
    unit: str
    tolerance: float

    def accepts(self, value: float) -> bool:
        """Whether a value in this unit is near enough."""
        return math.isclose(value, self.value, rel_tol=1e-9) or abs(value - self.value) <= self.tolerance * abs(
            self.value
        )

    def agree(self, one: tuple[float, str], other: tuple[float, str]) -> bool:
        """Whether two quantities are as near each other as an answer must be."""
        converted = _convert(*one, other[1])
        return converted is not None and ExpectedQuantity(*other, self.tolerance).accepts(converted)


@dataclass(frozen=True, repr=False)
class Quantity(Verifier[ExpectedQuantity]):
    """1.0 when the answer is the right quantity, in any unit of its dimension, else 0.0.

    `tolerance` is the allowed relative error (0.01 is 1 %). `unit_required=False` reads a number without a unit in the
    unit of the ground truth.
    """

    kind: ClassVar[str] = "units"

    tolerance: float = 0.01
    unit_required: bool = True

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, least=0)
        require("pint", purpose=_PURPOSE, extra="verifiers")

    def read(self, sample: Trajectory) -> ExpectedQuantity:
        truth = need_truth(sample, "answer_number")
        unit = find_column(sample, "unit")
        written = f"{truth} {unit}" if isinstance(unit, str) and unit.strip() else str(truth)
        quantities = read_quantities(written)
        if len(quantities) != 1 or not quantities[0][1]:
            raise InvalidTrajectory(f"the ground truth is a number with a unit, got {written!r:.60}")
        tolerance = find_column(sample, "tolerance")
        tolerance = self.tolerance if tolerance is None else tolerance
        if not is_at_least(tolerance, 0):
            raise InvalidTrajectory(f"tolerance is a number from 0 on, got {tolerance!r:.40}")
        return ExpectedQuantity(*quantities[0], float(tolerance))

    def judge(self, task: ExpectedQuantity, answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        if not final.readings or len(final.readings[0]) > LONGEST_ANSWER:
            return Verdict(0.0, "no single short answer")
        stated = EQUALS.split(final.readings[0])[-1]
        if _OPEN.search(stated):
            return Verdict(0.0, f"no single quantity is stated in {stated.strip()!r:.80}")
        quantities = read_quantities(stated)
        if not self.unit_required:
            quantities = [(value, unit or task.unit) for value, unit in quantities]
        with_units = list(dict.fromkeys(quantity for quantity in quantities if quantity[1]))
        if len(with_units) != 1:
            what = "several quantities" if with_units else "no number with a known unit"
            return Verdict(0.0, f"{what} in {stated.strip()!r:.80}")
        value, unit = with_units[0]
        details = {"value": value, "unit": unit}
        converted = _convert(value, unit, task.unit)
        if converted is None:
            return Verdict(0.0, f"{unit} is of another dimension than {task.unit}", details=details)
        false = next(false_equations(final.readings[0], _only_quantity, task.agree), None)
        if false is not None:
            return Verdict(0.0, f"{false!r:.80} is false", details=details)
        right = task.accepts(converted)
        reason = f"{value:g} {unit} is {converted:.6g} {task.unit}, right is {task.value:g}"
        return Verdict(float(right), reason, details=details)


def _only_quantity(side: str) -> tuple[float, str] | None:
    """The quantity that one side of an equation is; None where it is more, or less."""
    quantities = read_quantities(side)
    return quantities[0] if len(quantities) == 1 and quantities[0][1] and _ONLY_NUMBER.match(side) else None


def read_quantities(text: str) -> list[tuple[float, str]]:
    """The numbers of a text with the units behind them, as pint writes these; an empty unit where none is known."""
    raised = _SUPERSCRIPT.sub(
        lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text[:LONGEST_ANSWER].translate(_SYMBOLS)
    )
    plain = _LATEX.sub(" ", _LATEX_DEGREE.sub("°", raised))
    numbers = list(_NUMBER.finditer(plain))[:MOST_QUANTITIES]
    quantities, position = [], 0
    for number in numbers:
        if number.start() < position:
            continue  # an exponent of the unit before
        unit, position = _read_unit(plain, number.end())
        value = _value(number)
        if value is not None:
            quantities.append((value, unit))
    return quantities


def _value(number: "re.Match[str]") -> float | None:
    digits = number["base"].replace(",", "").replace("−", "-")
    power = (number["power"] or number["exponent"] or "0").replace("−", "-")
    try:
        value = float(f"{digits}e{power}")
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _read_unit(text: str, position: int) -> tuple[str, int]:
    """The longest unit that begins at a position, as pint writes it; and where it ends."""
    while position < len(text) and text[position] in " \t":
        position += 1
    written = _UNIT.match(text[: position + LONGEST_UNIT], position)
    if written is None:
        return "", position
    candidate = written[0].rstrip(_TRAILING if written[0].count("(") == written[0].count(")") - 1 else _TRAILING[:-3])
    whole = True
    while candidate:
        unit = None if not whole and candidate.strip() in _NOT_UNITS else _parse_unit(candidate)
        if unit is not None:
            return unit, position + len(candidate)
        candidate, whole = candidate.rpartition(" ")[0].rstrip(_TRAILING), False
    return "", position


@functools.lru_cache(maxsize=4096)
def _parse_unit(written: str) -> str | None:
    """The unit that a text is, as pint writes it; None for other texts, and for one without dimension."""
    text = written.strip()
    for pattern, name in _WORDS:
        text = pattern.sub(name, text)
    text = _SIGNED_POWER.sub(r"**\1", text).replace("^", "**")
    if _LONG_DIGITS.search(text) or len(text) > LONGEST_UNIT:
        return None
    try:
        unit = _registry().parse_units(text)
    except (*_UNKNOWN_UNIT, TypeError, KeyError, AssertionError, SyntaxError, tokenize.TokenError, RecursionError):
        return None
    return None if str(unit) == "dimensionless" else str(unit)


@functools.lru_cache(maxsize=4096)
def _convert(value: float, unit: str, target: str) -> float | None:
    registry = _registry()
    try:
        return float(registry.Quantity(value, unit).to(target).magnitude)
    except (*_UNKNOWN_UNIT, TypeError):
        return None


@functools.cache
def _registry() -> Any:
    pint = require("pint", purpose=_PURPOSE, extra="verifiers")
    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
