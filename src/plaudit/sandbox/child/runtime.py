"""What runs in a program's process: load a program, call its functions, send back plain values.

Nothing here is trusted once the program has been loaded, since the program can change all of it. That hurts only the
program: what comes out is compared elsewhere, by a process that holds the expected values.
"""

import atexit
import builtins
import importlib
import marshal
import operator
import sys
import threading
import typing
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from plaudit.frames import frame_reader, frame_writer
from plaudit.sandbox.child.protocol import CHANNEL
from plaudit.sandbox.values import Handle, NotPlain, from_text, to_text

__all__ = ["Runtime", "make_service"]

MESSAGE_CHARACTERS = 2000
RETURNED = '["returned",'
FILE = "<program>"
# Written without an import in programs for sites that have them ready.
TYPING = ("Any", "Callable", "Deque", "Dict", "FrozenSet", "Iterable", "List", "Optional", "Set", "Tuple", "Union")


def make_service(channel: int = CHANNEL) -> Callable[[], None]:
    """A function that answers the judge until it is gone, or an empty frame says that this is all.

    Made in the server, as what is made there costs no child.
    """
    builtins.open = _open
    vars(builtins).update({name: getattr(typing, name) for name in TYPING})
    next_body, put = frame_reader(channel), frame_writer(channel)
    answers = Runtime().answers

    def serve() -> None:
        while body := next_body():
            for reply in answers(body.decode()):
                put(reply.encode())

    return serve


class Runtime:
    """One program, loaded at most once, and the values it handed out that are not plain."""

    def __init__(self) -> None:
        self._module = ModuleType("__main__")
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}  # of what is kept, by identity: one object has one number
        self._work: dict[str, Callable[..., str]] = {"load": self._load, "call": self._call, "get": self._get}
        self._flush = _make_flush()
        self._text, self._parse, self._image = to_text, from_text, marshal.dumps

    def answers(self, text: str) -> Iterator[str]:
        """Do what a frame asks; each answer as text. Of many calls those behind one without plain data are left."""
        request = self._parse(text)
        for kind, *rest in request[1] if request[0] == "many" else [request]:
            reply = self._answer(kind, rest)
            yield reply
            if not reply.startswith(RETURNED):
                return

    def _answer(self, kind: str, rest: list[Any]) -> str:
        try:
            reply = self._work[kind](*rest)
        except SystemExit as error:
            reply = self._text(["exited", _exit_code(error.code)])
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is an answer
            reply = self._text(_describe_error(error))
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
        except SystemExit as left:
            if as_script and not isinstance(left.code, int | None):
                sys.stderr.write(f"{left.code}\n")  # as the interpreter does
            raise
        finally:
            if as_script:
                threading._shutdown()  # type: ignore[attr-defined]  # a program ends when its threads have
                atexit._run_exitfuncs()
        return f"{RETURNED}null]"

    def _call(self, path: str, arguments: list[Any], keywords: dict[str, Any] | None = None) -> str:
        arguments = self._resolve_handles(arguments)
        keywords = dict(zip(keywords, self._resolve_handles(list(keywords.values())), strict=True)) if keywords else {}
        before = self._state(arguments, keywords)
        value = self._resolve(path)(*arguments, **keywords)
        same = before is None or self._state(arguments, keywords) == before
        return self._reply(value, "" if same else self._after(arguments, keywords))

    def _get(self, path: str) -> str:
        """What a path names, without calling it."""
        return self._reply(self._resolve(path), "")

    def _reply(self, value: Any, changed: str) -> str:
        try:
            return f"{RETURNED}{self._text(value)}{changed}]"
        except (NotPlain, RecursionError):
            return f'["opaque",{self._text([self._keep(value), _type_name(value), _traits(value)])}{changed}]'

    def _keep(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number

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
            value = self._look_up(first.removesuffix("()"))
            value = value() if first.endswith("()") else value
        for part in rest:
            value = getattr(value, part.removesuffix("()"))
            value = value() if part.endswith("()") else value
        return value

    def _look_up(self, name: str) -> Any:
        scope = self._module.__dict__
        if name in scope:
            return scope[name]
        module, colon, member = name.partition(":")
        if colon:  # len, iter, add … of a value that is kept here
            return _HELPERS[module] if module in _HELPERS else getattr(_MODULES[module], member)
        raise NameError(f"name {name!r} is not defined")

    def _resolve_handles(self, values: list[Any]) -> list[Any]:
        """Arguments with handles replaced by what they stand for."""
        return [self._resolve_handle(value) for value in values]

    def _resolve_handle(self, value: Any) -> Any:
        kind = type(value)
        if kind is Handle:
            return self._kept[value.number]
        if kind in (list, tuple):
            if any(type(item) in (Handle, list, tuple, dict) for item in value):
                return kind(self._resolve_handle(item) for item in value)
        elif kind is dict and any(type(item) in (Handle, list, tuple, dict) for item in (*value, *value.values())):
            return {self._resolve_handle(key): self._resolve_handle(item) for key, item in value.items()}
        return value


_MODULES: dict[str, Any] = {"builtins": builtins, "operator": operator}


def _await(value: Any) -> Any:
    """What an awaitable gives, run to its end on the one event loop that there is."""
    asyncio = importlib.import_module("asyncio")

    async def wait() -> Any:
        return await value

    if not _loops:
        _loops.append(asyncio.new_event_loop())
    return _loops[0].run_until_complete(wait())


def _exit(manager: Any, name: str, message: str) -> Any:
    """Leave a context with an exception that the tests raised."""
    kind = getattr(builtins, name, None)
    kind = kind if isinstance(kind, type) and issubclass(kind, BaseException) else Exception
    return manager.__exit__(kind, kind(message), None)


def _next(iterator: Any, end: Any) -> Any:
    """The next item, or `end`; what a generator returned at its end is kept."""
    try:
        return next(iterator)
    except StopIteration as stopped:
        _stops[:] = [stopped.value]
        return end


def _stop() -> Any:
    """What the last iterator that came to its end returned."""
    return _stops[0] if _stops else None


_loops: list[Any] = []
_stops: list[Any] = []
_HELPERS: dict[str, Callable[..., Any]] = {"await": _await, "exit": _exit, "next": _next, "stop": _stop}


def _traits(value: Any) -> str:
    """What can be done with a value, as letters: iterate (i), call (c), await (a); it is a class (t)."""
    kind = type(value)
    found = {"i": "__next__", "c": "__call__", "a": "__await__"}
    letters = "".join(letter for letter, name in found.items() if any(name in vars(base) for base in kind.__mro__))
    return letters + ("t" if isinstance(value, type) else "")


_FIXED = {int, str, float, bool, type(None), bytes, complex}


def _describe_error(error: BaseException) -> list[Any]:
    kind = type(error)
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
    names = [_plain_text(base.__name__) for base in kind.__mro__[1:]]
    return ["raised", _plain_text(kind.__name__), names, message, line, _sendable(list(error.args)), _attributes(error)]


def _attributes(error: BaseException) -> dict[str, Any]:
    """The attributes of an exception that can travel."""
    found = dict(vars(error)) if isinstance(getattr(error, "__dict__", None), dict) else {}
    found |= {name: vars(base)[name].__get__(error) for base, name in _BUILTIN_ATTRIBUTES if isinstance(error, base)}
    return {name: value for name, value in found.items() if type(name) is str and _sendable(value) is not None}


_BUILTIN_ATTRIBUTES: list[tuple[type[BaseException], str]] = [
    (ImportError, "name"), (NameError, "name"), (AttributeError, "name"), (OSError, "errno"), (OSError, "strerror"),
    (StopIteration, "value"),
]  # fmt: skip


def _sendable(value: Any) -> Any:
    """A value, or None where it cannot travel."""
    try:
        to_text(value)
    except (NotPlain, RecursionError):
        return None
    return value


def _plain_text(name: Any) -> str:
    return str.__str__(name)[:200] if isinstance(name, str) else "?"


def _type_name(value: Any) -> str:
    return _plain_text(type(value).__name__)


def _exit_code(code: Any) -> int:
    """The exit code Python would have ended with."""
    if code is None or code is False:
        return 0
    return int(code) & 0xFF if type(code) in (int, bool) else 1


_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_STREAMS |= {f"/{place}/{number}": number for place in ("dev/fd", "proc/self/fd") for number in range(3)}
_real_open: Any = open


def _open(file: Any, *arguments: Any, **keywords: Any) -> Any:
    """`open`, by which the standard streams can be opened by their names, as no other file can."""
    descriptor = _STREAMS.get(file) if type(file) is str else None
    if descriptor is None:
        return _real_open(file, *arguments, **keywords)
    return _real_open(descriptor, *arguments, **keywords, closefd=False)


def _make_flush() -> Callable[[], None]:
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
