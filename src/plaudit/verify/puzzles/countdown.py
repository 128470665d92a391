"""Does an expression use the given numbers and make the target? Countdown, and the game of 24."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.clauses import NEGATION
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, need_column, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

__all__ = ["Countdown", "NumberPuzzle", "evaluate"]

MOST_NUMBERS = 50
LONGEST_EXPRESSION = 1_000
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "{": "(", "}": ")"})
_LATEX = {r"\times": "*", r"\cdot": "*", r"\div": "/", r"\left": "", r"\right": "", "$": "", "`": "", "**": "^"}
_TOKEN = compile_late(r"\s*(?:(\d{1,12})(?![\d.])|([-+*/()]))")
_NUMBERS = compile_late(r"[\s,;]+")
_LEADING_WORDS = compile_late(r"[^\d()\[\]{}$\\`?-]*\b(?:is|are|be|:|=)[\s:*$]*(?=[\d(\[{$\\`])", re.IGNORECASE)
_EMPHASIS = compile_late(r"\A\*\*(.*)\*\*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NumberPuzzle:
    """The numbers to use, and the number to make of them."""

    numbers: tuple[int, ...]
    target: Fraction


@dataclass(frozen=True, repr=False)
class Countdown(Verifier[NumberPuzzle]):
    """1.0 for an expression that makes the target from the given numbers, each used exactly once, else 0.0.

    `target=24` is the game of 24. `use_all=False` lets numbers be left out.
    """

    kind: ClassVar[str] = "countdown"

    target: int | None = None
    use_all: bool = True

    def __post_init__(self) -> None:
        if self.target is not None and (isinstance(self.target, bool) or not isinstance(self.target, int)):
            raise InvalidSettings(f"target is a whole number, got {self.target!r}")

    def read(self, sample: Trajectory) -> NumberPuzzle:
        listed = need_column(sample, "nums", "numbers")
        numbers = _NUMBERS.split(listed.strip("[] ")) if isinstance(listed, str) else listed
        if not isinstance(numbers, list | tuple) or not 0 < len(numbers) <= MOST_NUMBERS:
            raise InvalidTrajectory(f"the numbers are a list of 1 to {MOST_NUMBERS} whole numbers, got {listed!r:.60}")
        target = self.target if self.target is not None else find_column(sample, "target")
        target = sample.ground_truth if target is None else target
        return NumberPuzzle(tuple(map(_whole_number, numbers)), Fraction(_whole_number(target)))

    def judge(self, task: NumberPuzzle, answer: Answer) -> Verdict:
        written = _find_expression(answer.text)
        if written is None:
            return Verdict(0.0, "no single expression as the answer")
        expression, equals, stated = written.partition("=")
        if equals and expression.strip().isdigit():  # the target may be on either side
            expression, stated = stated, expression
        try:
            value, used = evaluate(expression)
            if equals and (evaluate(stated)[0] != value or "=" in stated):
                return Verdict(0.0, f"{written!r:.80} is a false equation")
        except ValueError as error:
            return Verdict(0.0, f"{written!r:.80}: {error}")
        details = {"expression": expression.strip()[:200]}
        if value != task.target:
            return Verdict(0.0, f"{expression.strip()!r:.80} is {value}, not {task.target}", details=details)
        available, needed = Counter(task.numbers), Counter(used)
        if needed - available or (self.use_all and available - needed):
            return Verdict(
                0.0, f"the numbers used are {sorted(used)}, given are {sorted(task.numbers)}", details=details
            )
        return Verdict(1.0, f"{expression.strip()} = {task.target}"[:200], details=details)


def _whole_number(value: Any) -> int:
    plain = read_literal(value)
    number = int(plain) if isinstance(plain, float) and plain.is_integer() else plain
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > 10**12:
        raise InvalidTrajectory(f"{value!r:.40} is not a whole number")
    return number


def _find_expression(text: str) -> str | None:
    final = find_final_answer(text)
    if not final.readings:
        return None
    last = final.readings[0].strip().rpartition("\n")[2] if final.source == "whole answer" else final.readings[0]
    plain = _EMPHASIS.sub(r"\1", last.strip())
    words = _LEADING_WORDS.match(plain)
    if words and not NEGATION.search(words[0].casefold()):
        plain = plain[words.end() :]
    for latex, sign in _LATEX.items():
        plain = plain.replace(latex, sign)
    plain = plain.translate(_SIGNS).strip().removesuffix(".")
    return plain if plain and len(plain) <= LONGEST_EXPRESSION and "\n" not in plain.strip() else None


def evaluate(expression: str) -> tuple[Fraction, list[int]]:
    """The exact value of an expression of whole numbers, and the numbers in it; raises ValueError for other texts."""
    tokens = list(_tokens(expression))
    position = 0
    used: list[int] = []

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1] if position <= len(tokens) else ""

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def factor(depth: int) -> Fraction:
        token = take()
        if token.isdigit():
            used.append(int(token))
            return Fraction(int(token))
        if token != "(" or depth > MOST_NUMBERS:
            raise ValueError("not an expression of whole numbers, + - * / and brackets")
        value = total(depth + 1)
        if take() != ")":
            raise ValueError("a bracket is not closed")
        return value

    def product(depth: int) -> Fraction:
        value = factor(depth)
        while peek() in ("*", "/"):
            operator, other = take(), factor(depth)
            if operator == "/" and not other:
                raise ValueError("a division by zero")
            value = value * other if operator == "*" else value / other
        return value

    def total(depth: int) -> Fraction:
        value = product(depth)
        while peek() in ("+", "-"):
            value = value + product(depth) if take() == "+" else value - product(depth)
        return value

    result = total(0)
    if position < len(tokens):
        raise ValueError("more than one expression")
    return result, used


def _tokens(expression: str) -> Iterator[str]:
    position, text = 0, expression.strip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(f"{text[position : position + 10]!r} is neither a whole number nor one of + - * / ( )")
        yield token[1] or token[2]
        position = token.end()
