"""A policy from switches written as text or in configuration files: "units=ignore", {"rounding": False}."""

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any

from plaudit.errors import InvalidReward, did_you_mean
from plaudit.verify.math.policy import MathPolicy

__all__ = ["policy_of", "read_switches"]

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(MathPolicy)}
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def policy_of(switches: Mapping[str, Any], base: MathPolicy | None = None) -> MathPolicy:
    """The policy with these switches, the others as in `base`; raises InvalidReward for what is no switch."""
    given = {name: _value(name, value) for name, value in switches.items()}
    current = {name: getattr(base, name) for name in _DEFAULTS} if base else _DEFAULTS
    try:
        return MathPolicy(**{**current, **given})
    except ValueError as error:
        raise InvalidReward(f"no such policy: {error}") from error


def read_switches(texts: list[str]) -> dict[str, str]:
    """`["units=ignore", "rounding=no,percent=strict"]` as a mapping."""
    pairs = [pair.strip() for text in texts for pair in text.split(",") if pair.strip()]
    for pair in pairs:
        if not all(part.strip() for part in pair.partition("=")):
            raise InvalidReward(f"a switch is NAME=VALUE, such as units=ignore; got {pair!r}")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def _value(name: str, value: Any) -> Any:
    if name not in _DEFAULTS:
        raise InvalidReward(
            f"no switch named {name!r}{did_you_mean(name, _DEFAULTS)} (there are {', '.join(_DEFAULTS)})"
        )
    default = _DEFAULTS[name]
    plain = _TRUTHS.get(value.casefold(), value) if isinstance(value, str) and isinstance(default, bool) else value
    if isinstance(default, bool):
        if isinstance(plain, bool):
            return plain
        raise InvalidReward(f"{name} is yes or no, got {value!r}")
    try:
        return type(default)(plain)
    except (TypeError, ValueError) as error:
        choices = ", ".join(type(default)) if isinstance(default, StrEnum) else "a whole number"
        raise InvalidReward(f"{name} is one of {choices}; got {value!r}") from error
