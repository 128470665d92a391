"""What the parts of the config are made of: a section, and the ranges that its numbers have."""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

__all__ = ["Count", "CountOrNone", "NotNegative", "Positive", "Section", "Share"]

LARGEST = 1e30  # infinity is no setting
Count: TypeAlias = Annotated[int, Meta(ge=1)]
CountOrNone: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, le=LARGEST)]
NotNegative: TypeAlias = Annotated[float, Meta(ge=0, le=LARGEST)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the tree; keys nobody knows are errors."""
