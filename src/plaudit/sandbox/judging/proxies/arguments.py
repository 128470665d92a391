"""Carry what a call did to its arguments over to the judge's own objects, in place.

Objects that the tests hold keep their identity: only their contents change, as they would have in one process.
"""

from typing import Any

__all__ = ["carry_over"]


def carry_over(before: Any, after: Any) -> Any:
    """`before` with the contents of `after` where it is a container that can change; else `after`."""
    kind = type(before)
    if kind is not type(after) or kind not in _CARRIERS:
        return after
    return _CARRIERS[kind](before, after)


def _list(before: list[Any], after: list[Any]) -> list[Any]:
    common = min(len(before), len(after))
    before[:] = [carry_over(before[place], after[place]) for place in range(common)] + after[common:]
    return before


def _tuple(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[Any, ...]:
    for old, new in zip(before, after, strict=False):
        carry_over(old, new)
    return before if len(before) == len(after) else after


def _dict(before: dict[Any, Any], after: dict[Any, Any]) -> dict[Any, Any]:
    merged = {key: carry_over(before[key], value) if key in before else value for key, value in after.items()}
    before.clear()
    before.update(merged)
    return before


def _set(before: set[Any], after: set[Any]) -> set[Any]:
    before.clear()
    before.update(after)
    return before


def _bytearray(before: bytearray, after: bytearray) -> bytearray:
    before[:] = after
    return before


_CARRIERS: dict[type, Any] = {list: _list, tuple: _tuple, dict: _dict, set: _set, bytearray: _bytearray}
