"""Exceptions of the program, raised again in the tests.

A class of the standard library is matched by identity, a class of the program only where the tests name it. Exceptions
that would end a loop or a process without a message become a `ProgramError`.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import Any, Protocol

from plaudit.sandbox.outcome import Raised

SILENT = (StopIteration, StopAsyncIteration, GeneratorExit)
UNUSABLE = (*SILENT, BaseExceptionGroup)  # as bases: a group cannot be made without its exceptions


class ErrorSource(Protocol):
    """Calls the program."""

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value of a call."""

    def get(self, path: str) -> Any:
        """The object at a path."""


class ProgramError(Exception):
    """An exception of the program whose class the tests do not name."""


class ErrorClass(type):
    """The class of exception classes that stand for those of the program; calling one calls the program."""

    source: ErrorSource

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return cls.source.call(cls.__name__, args, keywords)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls.source.get(f"{cls.__name__}.{name}")


class ProgramErrors:
    """The exception classes of one program, as the tests see them."""

    def __init__(self, source: ErrorSource) -> None:
        self._source = source
        self.expected: frozenset[str] = frozenset()  # names of exceptions that the tests expect
        self._named: dict[str, type[BaseException]] = {}
        self._built: dict[tuple[str, ...], type[BaseException]] = {}

    def named(self, name: str) -> type[BaseException]:
        """The class that stands for the program's class `name`."""
        if name not in self._named:
            members = {"source": self._source, **_MEMBERS}
            self._named[name] = ErrorClass(name, (ProgramError,), members)  # type: ignore[assignment]
        return self._named[name]

    def find(self, name: int | str) -> type[BaseException] | None:
        """The class that stands for the program's class `name`, where the tests name it."""
        return self._named.get(str(name))

    def make_error(self, raised: Raised) -> BaseException:
        """The exception to raise for one that the program raised."""
        known = _standard_class(raised.classes[0]) if raised.classes else None
        if known is not None:
            is_silent = issubclass(known, SILENT) and known.__name__ not in self.expected
            error = ProgramError(str(raised)) if is_silent else _build_standard(known, raised)
            error.__cause__ = None if raised.cause is None else self.make_error(raised.cause)
            return error
        kind = self._built.get(raised.classes)
        if kind is None:
            kind = self._built[raised.classes] = self._find_class(raised)
        error = kind.__new__(kind, *raised.args)
        error.__dict__.update(__message=raised.message, __handle=raised.handle, __program=True)
        error.__cause__ = None if raised.cause is None else self.make_error(raised.cause)
        return error

    def _find_class(self, raised: Raised) -> type[BaseException]:
        """The class that the tests name, which gets the bases of that of the program, or a class of the same bases."""
        named = self._named.get(raised.name) if raised.classes[:1] == (f"program:{raised.name}",) else None
        if named is None:
            return self._make_class(raised, self._find_bases(raised.classes))
        bases = self._find_bases(raised.classes[1:])
        if not any(issubclass(base, ProgramError) for base in bases):
            bases.insert(0, ProgramError)
        try:
            named.__bases__ = tuple(sorted(bases, key=lambda base: not issubclass(base, ProgramError)))
        except TypeError:  # bases whose layouts differ
            return self._make_class(raised, [named, *bases])
        return named

    def _find_bases(self, classes: tuple[str, ...]) -> list[type[BaseException]]:
        bases: list[type[BaseException]] = []
        for name in classes:
            base = self._named.get(name.partition(":")[2]) if name.startswith("program:") else _standard_class(name)
            usable = base is not None and issubclass(base, Exception) and not issubclass(base, UNUSABLE)
            if base is not None and usable and not any(issubclass(one, base) for one in bases):
                bases.append(base)
        return bases

    def _make_class(self, raised: Raised, bases: list[type[BaseException]]) -> type[BaseException]:
        name = raised.name if raised.name.isidentifier() else "ProgramError"
        for count in range(len(bases), 0, -1):
            with contextlib.suppress(TypeError):  # bases whose layouts differ
                metaclass = ErrorClass if any(isinstance(base, ErrorClass) for base in bases[:count]) else type
                return metaclass(name, tuple(bases[:count]), dict(_MEMBERS))
        return type(name, (ProgramError,), dict(_MEMBERS))


def _standard_class(name: str) -> type[BaseException] | None:
    """The exception class of the standard library of that name."""
    module, _, member = name.partition(":")
    if module.partition(".")[0] not in sys.stdlib_module_names or member.startswith("_"):
        return None  # private ones control the machinery of the tests
    kind = vars(sys.modules[module]).get(member) if module in sys.modules else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def _build_standard(kind: type[BaseException], raised: Raised) -> BaseException:
    makers: tuple[Callable[[], BaseException], ...] = (
        lambda: kind(*_arguments(kind, raised)),
        lambda: kind.__new__(kind),  # some need arguments that are not in `args`
        lambda: ProgramError(str(raised)),
    )
    for make in makers:
        with contextlib.suppress(Exception):
            error = make()
            break
    error.args = error.args or (raised.message,) * bool(raised.message)
    error.__dict__.update({name: raised.members[name] for name in raised.members if not name.startswith("__")})
    error.__dict__.update({name: raised.members[name] for name in raised.members if name == "__notes__"})
    if isinstance(error, OSError):
        error.filename = raised.members.get("filename")
    error.__dict__["__program"] = True  # it is not the tests that raised it
    return error


def _arguments(kind: type[BaseException], raised: Raised) -> tuple[Any, ...]:
    """The arguments of an exception; the exceptions of a group are handles, which a group cannot hold."""
    if not issubclass(kind, BaseExceptionGroup):
        return raised.args
    return raised.args[0], [ProgramError(getattr(one, "plaudit_type", "?")) for one in raised.args[1]]


def _message(error: BaseException) -> str:
    return str(error.__dict__.get("__message", ""))


def _attribute(error: BaseException, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(error.__dict__["__handle"], name)


_MEMBERS: dict[str, Any] = {"__module__": "program", "__str__": _message, "__getattr__": _attribute}
