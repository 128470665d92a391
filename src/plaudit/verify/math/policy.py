"""The settings of math verification: which answers count as equal.

The defaults are those under which the labelled data agrees best; a switch never changes the type of a verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean


class Units(StrEnum):
    """How units beside a number count."""

    COMPARE = "compare"  # a unit that one side leaves out is open; two different ones are not equal
    IGNORE = "ignore"  # only the numbers count
    REQUIRE = "require"  # the answer must give the unit that the truth has


class Percent(StrEnum):
    """The meaning of a percent sign after a number."""

    UNIT = "unit"  # 50 % is 50 or 0.5 where the other side has no sign
    STRICT = "strict"  # 50 % is 0.5 and nothing else


class Names(StrEnum):
    """Whether an answer must call its unknowns what the truth calls them."""

    STRICT = "strict"  # `y = 2` does not answer `x = 2`, nor 1/m 1/n; families such as kπ may count by any letter
    FREE = "free"  # any letter will do


@dataclass(frozen=True, slots=True)
class MathPolicy:
    """The switches of `verify_math`.

    - `units`: whether units beside numbers are compared, ignored or required.
    - `percent`: whether the sign may be left out ("50%" for "50").
    - `names`: whether the letters of unknowns must be those of the truth.
    - `rounding`: a decimal truth of at least two decimals accepts exact values that round to it, and a decimal answer
      of at least ten significant digits may stand for an exact truth without a finite decimal.
    - `rounded_answers`: whether two numbers agree that do so to as many decimals as the less precise decimal of them
      shows: "165.47" for 165.5, "85.71" for 600/7. Whole numbers are exact.
    - `unevaluated`: whether "2+2" is an answer where the truth is "4".
    - `ordered_lists`: whether the order of a bare list "1, 2, 3" matters; tuples and "…" sequences are always ordered.
    - `read_think`: whether text inside `<think>` may hold the answer.
    - `last_number`: whether the last number answers where nothing is marked as the answer.
    """

    units: Units = Units.COMPARE
    percent: Percent = Percent.UNIT
    names: Names = Names.STRICT
    rounding: bool = True
    rounded_answers: bool = False
    unevaluated: bool = True
    ordered_lists: bool = False
    read_think: bool = False
    last_number: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", Units(self.units))
        object.__setattr__(self, "percent", Percent(self.percent))
        object.__setattr__(self, "names", Names(self.names))


_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(MathPolicy)}
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def policy_from_switches(switches: Mapping[str, Any], base: MathPolicy | None = None) -> MathPolicy:
    """The policy with these switches, the others as in `base`; raises InvalidSettings for an unknown switch."""
    return replace(base or MathPolicy(), **{name: _value(name, value) for name, value in switches.items()})


def parse_switches(texts: list[str]) -> dict[str, str]:
    """`["units=ignore", "rounding=no,percent=strict"]` as a mapping."""
    pairs = [pair.strip() for text in texts for pair in text.split(",") if pair.strip()]
    for pair in pairs:
        if not all(part.strip() for part in pair.partition("=")):
            raise InvalidSettings(f"a switch is NAME=VALUE, such as units=ignore; got {pair!r}")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def _value(name: str, value: Any) -> Any:
    if name not in _DEFAULTS:
        raise InvalidSettings(
            f"no switch named {name!r}{did_you_mean(name, _DEFAULTS)} (there are {', '.join(_DEFAULTS)})"
        )
    kind: Any = type(_DEFAULTS[name])
    try:
        return _TRUTHS[str(value).casefold()] if kind is bool else kind(value)
    except (KeyError, ValueError) as error:
        expected = "yes or no" if kind is bool else f"one of {', '.join(kind)}"
        raise InvalidSettings(f"{name} is {expected}, got {value!r}") from error
