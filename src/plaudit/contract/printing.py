"""How a reward prints: as the call that made it, without the arguments that nobody changed."""

import dataclasses
from typing import Any

__all__ = ["told_arguments"]


def told_arguments(reward: object) -> list[str]:
    """`["target=200"]`: the fields of a dataclass that differ from their defaults; nothing for other classes."""
    if not dataclasses.is_dataclass(reward):
        return []
    return [
        f"{field.name}={getattr(reward, field.name)!r}"
        for field in dataclasses.fields(reward)
        if field.repr and not _is_default(field, getattr(reward, field.name))
    ]


def _is_default(field: "dataclasses.Field[Any]", value: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    return field.default_factory is not dataclasses.MISSING and bool(value == field.default_factory())
