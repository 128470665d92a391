"""What runs in a program's process: load a program, call its functions, send back plain values.

Nothing here is trusted once the program has been loaded, since the program can change all of it. That hurts only the
program: what comes out is compared elsewhere, by a process that holds the expected values.
"""

import atexit
import builtins
import marshal
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from plaudit.frames import frame_reader, frame_writer
from plaudit.sandbox.inside.requests import CHANNEL
from plaudit.sandbox.values import Handle, NotPlain, from_text, to_text

__all__ = ["Runtime", "make_service"]

MESSAGE_CHARACTERS = 2000
FILE = "<program>"


def make_service(channel: int = CHANNEL) -> Callable[[], None]:
    """A function that answers the judge until it is gone, or an empty frame says that this is all.

    Made in the server, as what is made there costs no child.
    """
    next_body, put = frame_reader(channel), frame_writer(channel)
    answer = Runtime().answer

    def serve() -> None:
        while body := next_body():
            put(answer(body.decode()).encode())

    return serve


class Runtime:
    """One program, loaded at most once, and the values it handed out that are not plain."""

    def __init__(self) -> None:
        self._module = ModuleType("__main__")
        self._kept: list[Any] = []
        self._work: dict[str, Callable[..., str]] = {"load": self._load, "call": self._call}
        self._flush = _flushing()
        self._text, self._parse, self._image = to_text, from_text, marshal.dumps

    def answer(self, text: str) -> str:
        """Do what a frame asks; the answer as text."""
        kind, *rest = self._parse(text)
        try:
            reply = self._work[kind](*rest)
        except SystemExit as error:
            reply = self._text(["exited", _exit_code(error.code)])
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is an answer
            reply = self._text(_raised(error))
        self._flush()
        return reply

    def _load(self, source: str, as_script: bool) -> str:
        name = "__main__" if as_script else "program"
        module = self._module = ModuleType(name)
        module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = sys.modules[name] = module
        sys.argv = [FILE]
        try:
            exec(compile(source, FILE, "exec", dont_inherit=True), module.__dict__)
        finally:
            if as_script:
                threading._shutdown()  # type: ignore[attr-defined]  # a program ends when its threads have
                atexit._run_exitfuncs()
        return '["returned",null]'

    def _call(self, path: str, arguments: list[Any], keywords: dict[str, Any] | None = None) -> str:
        arguments = self._resolve_handles(arguments)
        keywords = dict(zip(keywords, self._resolve_handles(list(keywords.values())), strict=True)) if keywords else {}
        before = self._state(arguments, keywords)
        value = self._resolve(path)(*arguments, **keywords)
        same = before is None or self._state(arguments, keywords) == before
        changed = "" if same else self._after(arguments, keywords)
        try:
            return f'["returned",{self._text(value)}{changed}]'
        except (NotPlain, RecursionError):
            self._kept.append(value)
            return f'["opaque",{self._text([len(self._kept) - 1, _type_name(value)])}{changed}]'

    def _state(self, arguments: list[Any], keywords: dict[str, Any]) -> bytes | str | None:
        """An image of the arguments, to see whether a call changed them; None where they cannot change or travel."""
        if _FIXED.issuperset(map(type, arguments)) and not keywords:
            return None
        try:
            return self._image([arguments, keywords], 2)  # a version without references, which depend on who else looks
        except ValueError:  # plain data that this image does not know, such as a deque
            return self._after(arguments, keywords) or None

    def _after(self, arguments: list[Any], keywords: dict[str, Any]) -> str:
        """The arguments as the part of a reply that tells them; empty where they cannot travel."""
        try:
            return f",{self._text([arguments, keywords])}"
        except (NotPlain, RecursionError):
            return ""

    def _resolve(self, path: str) -> Any:
        """What a path names: `f`, `Solution().f`, `@3.method` of the value kept as number 3."""
        scope = self._module.__dict__
        if path in scope:
            return scope[path]
        first, *rest = path.split(".")
        if first.startswith("@"):
            value = self._kept[int(first[1:])]
        else:
            value = self._named(first.removesuffix("()"))
            value = value() if first.endswith("()") else value
        for part in rest:
            value = getattr(value, part.removesuffix("()"))
            value = value() if part.endswith("()") else value
        return value

    def _named(self, name: str) -> Any:
        scope = self._module.__dict__
        if name in scope:
            return scope[name]
        if name.startswith("builtins:"):  # len, iter, repr … of a value that is kept here
            return getattr(builtins, name.removeprefix("builtins:"))
        raise NameError(f"name {name!r} is not defined")

    def _resolve_handles(self, values: list[Any]) -> list[Any]:
        """Arguments with handles replaced by what they stand for."""
        return [self._kept[value.number] if type(value) is Handle else value for value in values]


_FIXED = {int, str, float, bool, type(None), bytes, complex}


def _raised(error: BaseException) -> list[Any]:
    kind = type(error)
    bases = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
    try:
        message = str(error)[:MESSAGE_CHARACTERS]
    except BaseException:  # noqa: BLE001 - its own __str__ is the program's code
        message = ""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    if line is None and isinstance(error, SyntaxError) and type(error.lineno) is int:
        line = error.lineno
    return ["raised", _plain_text(kind.__name__), [_plain_text(base) for base in bases], message, line]


def _plain_text(name: Any) -> str:
    return str.__str__(name)[:200] if isinstance(name, str) else "?"


def _type_name(value: Any) -> str:
    return _plain_text(type(value).__name__)


def _exit_code(code: Any) -> int:
    """The exit code Python would have ended with."""
    if code is None or code is False:
        return 0
    return int(code) & 0xFF if type(code) in (int, bool) else 1


def _flushing() -> Callable[[], None]:
    """A function that writes out what the program printed, whatever it did to `sys.stdout`."""
    first = (sys.stdout, sys.stderr)

    def flush() -> None:
        untouched = sys.stdout is first[0] and sys.stderr is first[1]
        for stream in first if untouched else (sys.stdout, sys.stderr, *first):
            try:
                stream.flush()
            except BaseException:  # noqa: BLE001 - the program may have closed or replaced it
                continue

    return flush
