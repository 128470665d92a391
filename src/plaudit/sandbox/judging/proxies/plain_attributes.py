"""What plain types have, and values that are nearly like a plain value."""

from collections import Counter, deque
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["PLAIN_ATTRIBUTES", "decoys"]

_TYPES = (
    str, bytes, bytearray, int, float, complex, list, tuple, set, frozenset, dict, Counter, deque, range, Decimal,
    Fraction, datetime, timedelta,
)  # fmt: skip
_ARRAYS = {
    "all", "any", "argmax", "argmin", "argsort", "astype", "cumsum", "dot", "dtype", "flatten", "item", "max", "mean",
    "min", "ndim", "prod", "ravel", "reshape", "round", "shape", "size", "std", "sum", "T", "tolist", "transpose",
    "var", "equals", "iloc", "loc", "values", "columns", "to_dict",
}  # fmt: skip
PLAIN_ATTRIBUTES = frozenset(name for kind in _TYPES for name in dir(kind) if not name.startswith("__")) | frozenset(
    _ARRAYS
)


def decoys(value: Any) -> list[Any]:
    """Other values of the same kind, so that who is asked whether it equals one of them cannot tell which is meant."""
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind in (int, float, complex, Decimal, Fraction):
        return [value + 1, value - 1, value * 2 + 3]
    if kind is str:
        return [value + "a", value[::-1] + " ", value[1:] or "b"]
    if kind is bytes:
        return [value + b"a", value[1:] or b"b"]
    if kind in (list, tuple):
        other = [*value[:-1], *(decoys(value[-1])[:1] if value and decoys(value[-1]) else [0])]
        return [kind([*value, 1]), kind(other) if value else kind([0, 0])]
    if kind in (set, frozenset):
        return [kind({*value, "another"})]
    if kind is dict:
        return [{**value, "another": 1}]
    return [0, ""] if value is None else []
