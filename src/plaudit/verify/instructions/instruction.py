"""An instruction that code can check: its arguments and its check."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plaudit.errors import InvalidTrajectory
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import remove_invisible
from plaudit.verify.texts.language import find_language
from plaudit.verify.verifier import Verdict

Reader: TypeAlias = Callable[[Any], Any]
"""Turns a value of `kwargs` into an argument; raises InvalidTrajectory with what was expected."""
_OPTION_SEPARATOR = compile_late(r"/|\s+or\s+|,")
MOST_COUNT = 1_000_000
MOST_TEXTS = 1_000
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "less than": lambda number, limit: number < limit,
    "at least": lambda number, limit: number >= limit,
    "at most": lambda number, limit: number <= limit,
    "exactly": lambda number, limit: number == limit,
    "around": lambda number, limit: abs(number - limit) <= max(round(limit * 0.1), 1),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """A check of a text, and how its arguments are read from a row."""

    check: Callable[..., Verdict]
    """A pure function of the text and the arguments by name."""
    arguments: Mapping[str, "Reader | tuple[str, Reader]"] = field(default_factory=dict)
    """The parameters that the row sets, each with its reader, and before it the name in the row if that differs."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are the same in every row."""
    consistent: Callable[..., None] | None = None
    """Raises InvalidTrajectory for arguments, by name, that do not fit each other."""

    def read(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a row; raises InvalidTrajectory where one is absent or wrong."""
        read = dict(self.fixed)
        for parameter, declared in self.arguments.items():
            name, reader = declared if isinstance(declared, tuple) else (parameter, declared)
            value = row.get(name)
            if value is None:
                raise InvalidTrajectory(f"the argument {name} is missing")
            try:
                read[parameter] = reader(value)
            except InvalidTrajectory as error:
                raise InvalidTrajectory(f"the argument {name} must be {error}, got {value!r:.60}") from None
        if self.consistent is not None:
            self.consistent(**read)
        return read


def result(followed: bool, reason: str) -> Verdict:
    """The verdict on one instruction."""
    return Verdict(float(followed), reason)


def compare(number: int, relation: str, limit: int, what: str) -> Verdict:
    """Whether a number of things is in a relation to a limit."""
    return result(RELATIONS[relation](number, limit), f"{number} {what}, expected {relation} {limit}")


def count(value: Any) -> int:
    """A number of things; data sets also write 3.0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_COUNT:
        raise InvalidTrajectory(f"a number from 0 to {MOST_COUNT:,}")
    if value != int(value):
        raise InvalidTrajectory("a whole number")
    return int(value)


def positive(value: Any) -> int:
    """A number of things that is not 0, or the position of one."""
    if count(value) == 0:
        raise InvalidTrajectory(f"a number from 1 to {MOST_COUNT:,}")
    return count(value)


def percentage(value: Any) -> float:
    """A number from 0 to 100."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise InvalidTrajectory("a number from 0 to 100")
    return float(value)


def one_of(*choices: str) -> Reader:
    """A reader that accepts only these texts."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InvalidTrajectory(f"one of {', '.join(choices)}")
        return value

    return read


N = ("N", count)
"""A number of things that the row calls N."""
relation = one_of("less than", "at least")
"""The relations of IFEval."""
quantifier = ("quantifier", one_of("at least", "at most", "around"))
"""The relations of RLVR-IFeval, and what its rows call them."""


def text_argument(value: Any) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not remove_invisible(value).strip():
        raise InvalidTrajectory("a text that is not blank")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Texts that are not blank, at least one."""
    if not isinstance(value, list | tuple) or not 0 < len(value) <= MOST_TEXTS:
        raise InvalidTrajectory(f"a list of 1 to {MOST_TEXTS:,} texts")
    return tuple(text_argument(each) for each in value)


def options(value: Any) -> tuple[str, ...]:
    """Options that a text lists with slashes, "or" or commas between them."""
    separator = _OPTION_SEPARATOR.search(text_argument(value))
    listed = [part.strip() for part in value.split(separator[0])] if separator else [value.strip()]
    if len(listed) < 2 or not all(listed):
        raise InvalidTrajectory("two options or more, separated by /, or, or commas")
    return tuple(listed)


def letter(value: Any) -> str:
    """One character: real rows also count "#" and "!"."""
    if not isinstance(value, str) or len(value.strip()) != 1:
        raise InvalidTrajectory("one character")
    return value.strip()


def language(value: Any) -> str:
    """A language by its code or its English name."""
    try:
        return find_language(value)
    except InvalidTrajectory:
        raise InvalidTrajectory("a code of ISO 639-1 or the English name of a language") from None
