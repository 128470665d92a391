"""Check and tidy the arguments of rewards: lists become tuples, nonsense becomes an `InvalidSettings`."""

import math
from collections.abc import Collection, Iterable
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean

__all__ = ["check_choice", "check_number", "set_field", "texts"]


def set_field(reward: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass while it is being built."""
    object.__setattr__(reward, name, value)


def texts(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """A list of non-empty texts as a tuple; one bare text is refused, since its letters would count as entries."""
    if isinstance(values, str):
        raise InvalidSettings(f"{name} is a list of texts, got the text {values!r}; write [{values!r}]")
    listed = tuple(values)
    for value in listed:
        if not isinstance(value, str) or not value.strip():
            raise InvalidSettings(f"{name} holds texts, got {value!r}")
    return listed


def check_choice(what: str, value: str, choices: Collection[str]) -> None:
    """Raise InvalidSettings, with a suggestion, unless the value is one of the choices."""
    if value not in choices:
        hint = did_you_mean(str(value), choices)
        raise InvalidSettings(f"no {what} named {value!r}{hint} (there are {', '.join(choices)})")


def check_number(name: str, value: Any, *, above: float | None = None, least: float | None = None) -> None:
    """Raise InvalidSettings unless the value is a finite number in range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidSettings(f"{name} is a finite number, got {value!r}")
    if above is not None and value <= above:
        raise InvalidSettings(f"need {name} > {above:g}, got {value:g}")
    if least is not None and value < least:
        raise InvalidSettings(f"need {name} >= {least:g}, got {value:g}")
