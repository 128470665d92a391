"""The part of pytest that test files of data sets use, for the judge: raises, approx, parametrize, fixture, skip.

It is no pytest: what is not here raises `UnsupportedTest`, so that such a file is reported and not misjudged.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

from plaudit.sandbox.judging.handles.places import refuse
from plaudit.sandbox.judging.handles.violations import UnsupportedTest

CASES, FIXTURE, SKIPPED = "__plaudit_cases__", "__plaudit_fixture__", "__plaudit_skipped__"
AUTOUSE, SCOPE, USED = "__plaudit_autouse__", "__plaudit_scope__", "__plaudit_used__"


class Skipped(Exception):
    """The test file skips this test."""


def pytest_stub() -> ModuleType:
    """A module that answers to `import pytest`."""
    module = ModuleType("pytest")
    names: dict[str, Any] = {
        "raises": raises, "approx": approx, "mark": _Marks(), "fixture": fixture, "param": _param, "skip": _skip,
        "fail": _fail, "main": lambda *_, **__: 0, "__getattr__": _unknown,
    }  # fmt: skip
    module.__dict__.update(names)
    return module


@contextmanager
def _raises(kinds: Any, match: str | None) -> Iterator[SimpleNamespace]:
    info = SimpleNamespace(value=None, type=None, match=None)
    try:
        yield info
    except kinds as error:
        info.value, info.type = error, type(error)
        info.match = partial(_match, str(error))
        if match is not None and not re.search(match, str(error)):
            raise AssertionError(f"the message {str(error)!r:.80} does not match {match!r}") from None
        return
    raise AssertionError(f"did not raise {getattr(kinds, '__name__', kinds)}")


def _match(message: str, pattern: str) -> bool:
    if not re.search(pattern, message):
        raise AssertionError(f"the message {message!r:.80} does not match {pattern!r}")
    return True


def raises(kinds: Any, *call: Any, match: str | None = None, **keywords: Any) -> Any:
    """As in pytest: a context manager, or a call that must raise."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(f"pytest.raises needs exception classes, got {type(kind).__name__}")
    if not call:
        return _raises(kinds, match)
    function, *args = call
    with _raises(kinds, match) as info:
        function(*args, **keywords)
    return info


class approx:  # noqa: N801  # its name in pytest
    """A number, list or dict of numbers that need only be close: relative 1e-6 or absolute 1e-12 unless said."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> None:
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, other: Any) -> bool:
        return self._same(other, self.expected)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _same(self, other: Any, expected: Any) -> bool:
        if type(expected).__name__ in ("ndarray", "Answer"):
            shapes = getattr(other, "shape", None), expected.shape
            return shapes[0] == shapes[1] and self._same(other.tolist(), expected.tolist())
        if type(other).__name__ in ("ndarray", "Answer"):
            other = other.tolist()
        if isinstance(expected, Mapping):
            return (
                isinstance(other, Mapping)
                and other.keys() == expected.keys()
                and all(self._same(other[key], expected[key]) for key in expected)
            )
        if isinstance(expected, Sequence) and not isinstance(expected, str | bytes):
            return (
                isinstance(other, Sequence)
                and not isinstance(other, str | bytes)
                and len(other) == len(expected)
                and all(self._same(one, wanted) for one, wanted in zip(other, expected, strict=True))
            )
        return self._close(other, expected)

    def _close(self, other: Any, expected: Any) -> bool:
        if isinstance(expected, bool) or not isinstance(expected, int | float | complex | Decimal):
            return bool(other == expected)
        if isinstance(other, bool) or not isinstance(other, int | float | complex | Decimal):
            return False
        if other == expected:
            return True
        if isinstance(expected, float) and math.isnan(expected):
            return self.nan_ok and isinstance(other, float) and math.isnan(other)
        difference = abs(complex(other) - complex(expected))
        return math.isfinite(abs(complex(expected))) and difference <= self._tolerance(abs(complex(expected)))

    def _tolerance(self, size: float) -> float:
        absolute = 1e-12 if self.abs is None else self.abs
        if self.rel is None and self.abs is not None:
            return absolute
        return max(absolute, (1e-6 if self.rel is None else self.rel) * size)


class _Marks:
    """`pytest.mark`: parametrize and skip do something, marks of the file's own do nothing."""

    def __getattr__(self, name: str) -> Any:
        known: dict[str, Any] = {
            "parametrize": _parametrize, "skip": _mark_skip, "skipif": _mark_skipif, "usefixtures": _use_fixtures,
        }  # fmt: skip
        return known.get(name, _no_mark)


def _no_mark(*arguments: Any, **_: Any) -> Any:
    return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else lambda function: function


def _use_fixtures(*names: str) -> Callable[[Any], Any]:
    def mark(thing: Any) -> Any:
        setattr(thing, USED, (*names, *getattr(thing, USED, ())))
        return thing

    return mark


def _parametrize(
    names: str | Sequence[str], values: Sequence[Any], indirect: Any = False, ids: Any = None, **_: Any
) -> Callable[[Any], Any]:
    if indirect:
        raise UnsupportedTest("pytest.mark.parametrize(indirect=…) is not supported")
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = []
    for value in values:
        row = value.values if isinstance(value, _Param) else value if len(keys) > 1 else (value,)
        if len(row) != len(keys):
            refuse(f"parametrize: {len(keys)} names but {len(row)} values in {value!r:.60}")
        rows.append(dict(zip(keys, row, strict=True)))

    def mark(function: Any) -> Any:
        before = getattr(function, CASES, [{}])
        setattr(function, CASES, [{**one, **row} for row in rows for one in before])
        return function

    return mark


class _Param:
    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values


def _param(*values: Any, **_: Any) -> _Param:
    return _Param(values)


def fixture(function: Any = None, **options: Any) -> Any:
    """A function whose result tests ask for by its name."""
    if function is None:
        return lambda later: _mark_fixture(later, options)
    return _mark_fixture(function, options)


def _mark_fixture(function: Any, options: dict[str, Any]) -> Any:
    setattr(function, FIXTURE, True)
    setattr(function, AUTOUSE, bool(options.get("autouse")))
    setattr(function, SCOPE, options.get("scope", "function"))
    return function


def _mark_skip(*arguments: Any, **_: Any) -> Any:
    if len(arguments) == 1 and callable(arguments[0]):
        setattr(arguments[0], SKIPPED, True)
        return arguments[0]
    return lambda function: _mark_skip(function)


def _mark_skipif(condition: Any, **_: Any) -> Any:
    return _mark_skip() if condition else lambda function: function


def _skip(reason: str = "", **_: Any) -> None:
    raise Skipped(reason)


def _fail(reason: str = "", **_: Any) -> None:
    raise AssertionError(reason or "pytest.fail")


def _unknown(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedTest(f"pytest.{name} is not supported")
