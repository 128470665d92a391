"""Exceptions of the program, raised again on the judge's side by name.

Built-in ones come back as themselves, others as a class of that name, with what they carry that is plain. Two kinds
never come back as they are: those that end loops in silence (StopIteration would let `all(map(f, cases))` pass), and
whatever ends the program.
"""

import builtins
import contextlib
from typing import Any

from plaudit.sandbox.outcome import Raised

__all__ = ["NotSplittable", "ProgramLost", "RemoteError", "RemoteErrors"]

MAX_NAME = 200
SILENT = frozenset({"StopIteration", "StopAsyncIteration", "GeneratorExit"})


class ProgramLost(BaseException):
    """The program is gone; no `except Exception` of a test may carry on as if it were not."""


class NotSplittable(BaseException):
    """The tests need something that cannot cross the boundary."""


class RemoteError(Exception):
    """An exception of the program whose class the judge does not know."""


class RemoteErrors:
    """The exception classes of one program, by name, as the tests see them."""

    def __init__(self) -> None:
        self._known: dict[str, type[BaseException]] = {}

    def named(self, name: str, bases: tuple[str, ...] = ()) -> type[BaseException]:
        """The class that stands for the program's class `name`, made on first use."""
        if name not in self._known:
            self._known[name] = _builtin(name) or self._make(name, bases)
        return self._known[name]

    def make_error(self, raised: Raised) -> BaseException:
        """The exception to raise for one that the program raised."""
        name = raised.name if raised.name.isidentifier() and len(raised.name) <= MAX_NAME else "Exception"
        if name in SILENT:
            return RemoteError(f"{name}: {raised.message}")
        kind = self.named(name, raised.bases)
        ancestors = [self._find(base) for base in raised.bases]
        if not all(issubclass(kind, ancestor) for ancestor in ancestors if ancestor is not None):
            kind = self._known[name] = self._make(name, raised.bases, kind)  # now it is known what it derives from
        return _build(kind, raised)

    def _make(self, name: str, bases: tuple[str, ...], also: type[BaseException] | None = None) -> type[BaseException]:
        ancestors = [also] if also is not None else []
        for base in bases:
            known = self._find(base)
            if known is not None and not any(issubclass(one, known) for one in ancestors):
                ancestors.append(known)
        kinds = tuple(dict.fromkeys(ancestors)) or (RemoteError,)
        try:
            return type(name, kinds, {"__module__": "program", "__str__": _text})
        except TypeError:  # ancestors whose layouts differ
            return type(name, kinds[:1], {"__module__": "program", "__str__": _text})

    def _find(self, base: str) -> type[BaseException] | None:
        """The class that stands for a base, where tests may catch by it."""
        known = None if base in SILENT else self._known.get(base) or _builtin(base)
        return known if known is None or issubclass(known, Exception) else None


def _build(kind: type[BaseException], raised: Raised) -> BaseException:
    error: BaseException = kind.__new__(kind, raised.message)
    error.args = (raised.message,) if raised.args is None else raised.args
    for name, value in raised.attributes.items():
        if name.isidentifier() and not name.startswith("__"):
            with contextlib.suppress(AttributeError, TypeError):  # some of a built-in one cannot be set
                setattr(error, name, value)
    error.__dict__["__message__"] = raised.message
    if kind.__module__ == "builtins" and raised.args is not None and str(error) != raised.message:
        error.args = (raised.message,)
    return error


def _text(error: BaseException) -> str:
    return str(error.__dict__.get("__message__", "")) or BaseException.__str__(error)


def _builtin(name: str) -> type[BaseException] | None:
    found: Any = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
