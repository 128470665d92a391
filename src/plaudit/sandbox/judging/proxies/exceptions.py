"""Exceptions of the program, raised again on the judge's side by name.

Built-in ones come back as themselves, others as a class of that name. Two kinds never come back as they are: those that
end loops in silence (StopIteration would let `all(map(f, cases))` pass), and whatever ends the program.
"""

import builtins
from typing import Any

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
            self._known[name] = _builtin(name) or type(name, (self._base(bases),), {"__module__": "program"})
        return self._known[name]

    def make_error(self, names: tuple[str, ...], message: str) -> BaseException:
        """The exception to raise for one that the program raised; `names` are its class and those it derives from."""
        name = names[0] if names and names[0].isidentifier() and len(names[0]) <= MAX_NAME else "Exception"
        if name in SILENT:
            return RemoteError(f"{name}: {message}")
        kind = self.named(name, names[1:])
        error: BaseException = kind.__new__(kind, message)
        error.args = (message,)
        return error

    def _base(self, bases: tuple[str, ...]) -> type[BaseException]:
        for base in bases:
            if base in self._known:
                return self._known[base]
            if (known := _builtin(base)) is not None and base not in SILENT:
                return known if issubclass(known, Exception) else RemoteError
        return RemoteError


def _builtin(name: str) -> type[BaseException] | None:
    found: Any = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
