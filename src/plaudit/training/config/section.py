"""What configs are made of: sections, and the ranges that their numbers have."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

__all__ = ["Count", "CountOrNone", "NotNegative", "Positive", "Section", "Share", "flatten"]

LARGEST = 1e30  # infinity is no setting
Count: TypeAlias = Annotated[int, Meta(ge=1)]
CountOrNone: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, le=LARGEST)]
NotNegative: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the tree; keys nobody knows are errors."""

    def to_dict(self) -> dict[str, object]:
        """Plain data, as it is saved with a run."""
        plain: dict[str, object] = msgspec.json.decode(msgspec.json.encode(self))
        return plain


def flatten(plain: Mapping[str, object]) -> dict[str, object]:
    """A config's plain data with dotted keys: `{"optimizer.lr": 0.001, …}`."""
    found: dict[str, object] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping) and value and "." not in key:
            found.update({f"{key}.{inner}": each for inner, each in value.items()})
        else:
            found[key] = value
    return found
