"""What a verdict must hold: numbers on a scale, or one of several words.

A field reads what a judge gave for it strictly. A number off the scale, a fraction of another scale, NaN or a truth
value is no number on the scale, and none of them is rounded or clipped to one.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plaudit.errors import InvalidSettings

__all__ = ["CODE", "REASONING", "ChoiceField", "NumberField", "Unreadable", "VerdictField", "schema_of"]

CODE, REASONING = "code", "reasoning"
_NUMBER = re.compile(r"([+-]?\d{1,12}(?:\.\d{1,12})?)(?:\s*/\s*(\d{1,12}(?:\.\d{1,12})?))?", re.ASCII)


class Unreadable(Exception):
    """An answer holds no verdict that counts; the words say what it holds instead."""


class VerdictField(Protocol):
    """One value of a verdict: its name, how it is described, and how it is read."""

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> dict[str, Any]: ...
    @property
    def expected(self) -> str:
        """What to write, in words."""
        ...

    def read(self, given: Any) -> Any:
        """The value, or Unreadable."""
        ...


@dataclass(frozen=True, slots=True)
class NumberField:
    """A number from `low` to `high`; text is a number where it is nothing else: "8", or "8/10" on a scale up to 10."""

    name: str
    low: float
    high: float
    whole: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InvalidSettings(f"a scale goes from a lower to a higher number, got {self.low} to {self.high}")

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer" if self.whole else "number", "description": self.expected}

    @property
    def expected(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g}"

    def read(self, given: Any) -> float:
        number = self._number(given.strip()) if isinstance(given, str) else given
        if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
            raise Unreadable(f"{self.name} is {_show(given)}, not {self.expected}")
        if not self.low <= number <= self.high or (self.whole and number != int(number)):
            raise Unreadable(f"{self.name} is {_show(given)}, which is off the scale: {self.expected}")
        return float(number)

    def _number(self, text: str) -> float | None:
        match = _NUMBER.fullmatch(text)
        if match is None:
            return None
        if match[2] is not None and float(match[2]) != self.high:
            raise Unreadable(f"{self.name} is {_show(text)}, a fraction of another scale than {self.expected}")
        return float(match[1])


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One of several words; case and spaces around it do not count."""

    name: str
    choices: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)}

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.choices)}"

    def read(self, given: Any) -> str:
        if isinstance(given, bool) and {"yes", "no"} <= set(self.choices):
            given = "yes" if given else "no"
        text = given.strip().casefold() if isinstance(given, str) else None
        for choice in self.choices:
            if text == choice.casefold():
                return choice
        raise Unreadable(f"{self.name} is {_show(given)}, not {self.expected}")


def schema_of(fields: Sequence[VerdictField], *, with_code: bool = True) -> dict[str, Any]:
    """The JSON schema of a verdict. It is the same for every call, so that servers compile it once."""
    properties: Mapping[str, Any] = {
        **({CODE: {"type": "string"}} if with_code else {}),
        REASONING: {"type": "string"},
        **{field.name: field.schema for field in fields},
    }
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _show(given: Any) -> str:
    return f"{given!r:.60}"
