"""Columns of a row by their published names.

A sample keeps the columns of its data set, except that the usual names of prompt and ground truth (`question`,
`answer`, …) have become `sample.prompt` and `sample.ground_truth`. Some data sets keep columns one level down, in the
object that is the ground truth (verl) or in the metadata (`extra_info`).
"""

import ast
import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, TypeVar, TypeVarTuple, Unpack

import msgspec

from plaudit.errors import InvalidTrajectory, MissingGroundTruth
from plaudit.trajectory import Trajectory
from plaudit.verify.patterns import compile_late

Ts = TypeVarTuple("Ts")
T = TypeVar("T")
CACHED_ROWS = 1024
_IN_ANSWER = compile_late(r"\s*<answer>\s*((?:(?!<answer>).)*?)\s*</answer>\s*", re.DOTALL)
_NOTHING: Mapping[str, Any] = {}


def find_column(sample: Trajectory, *names: str) -> Any:
    """The value of the first of these columns that holds something, else None."""
    columns, truth, metadata = sample.columns, sample.ground_truth, sample.metadata
    inner = truth if isinstance(truth, dict) else _NOTHING
    for name in names:
        for source in (columns, inner, metadata):
            if (value := source.get(name)) is not None:
                return value
    return None


def need_column(sample: Trajectory, *names: str) -> Any:
    """The value of the first of these columns that holds something; raises InvalidTrajectory if none does."""
    value = find_column(sample, *names)
    if value is None:
        raise InvalidTrajectory(f"the row has no column {' or '.join(names)} (found {', '.join(columns_of(sample))})")
    return value


def need_truth(sample: Trajectory, *columns: str) -> Any:
    """The first of these columns that holds something, else the ground truth, or the text of its `<answer>`.

    Raises MissingGroundTruth if that is None, NaN, empty or blank.
    """
    value = find_column(sample, *columns) if columns else None
    if value is not None:
        return value
    truth = sample.ground_truth
    content = truth.strip() if isinstance(truth, str) else truth
    if isinstance(truth, str) and "<answer>" in truth and (tagged := _IN_ANSWER.fullmatch(truth)):
        truth = content = tagged[1]
    is_empty = isinstance(content, str | list | tuple | dict) and not content
    if truth is None or is_empty or (isinstance(truth, float) and math.isnan(truth)):
        raise MissingGroundTruth.among(name for name in columns_of(sample) if name != "ground_truth")
    return truth


def is_at_least(value: Any, least: float) -> TypeGuard[int | float]:
    """Whether a value is a finite number from `least` on, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value < math.inf


def columns_of(sample: Trajectory) -> list[str]:
    """The names of what a row holds, for messages."""
    fields = [name for name in ("prompt", "ground_truth", "task") if getattr(sample, name) not in (None, "")]
    return [*fields, *sample.columns, *(f"metadata.{name}" for name in sample.metadata)]


def read_literal(value: Any) -> Any:
    """A value that a data set stores as text, in JSON or as a Python literal; other values as they are."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return value


def cache_by_content(function: Callable[[Unpack[Ts]], T]) -> Callable[[Unpack[Ts]], T]:
    """The same function of plain data, computed once for equal data: the responses of a group share their row."""

    @functools.lru_cache(maxsize=CACHED_ROWS)
    def of_bytes(content: bytes) -> T:
        return function(*msgspec.msgpack.decode(content))

    @functools.wraps(function)
    def cached(*values: *Ts) -> T:
        try:
            content = msgspec.msgpack.encode(values)
        except (TypeError, ValueError, OverflowError, RecursionError):  # data that no file could hold
            return function(*values)
        return of_bytes(content)

    return cached
