"""The runtime of a program's process: load a program, call its functions, send back plain values.

Nothing here is trusted once the program has been loaded, since the program can change all of it. That hurts only the
program: what comes out is compared elsewhere, by a process that holds the expected values.
"""

import atexit
import builtins
import enum
import gc
import importlib
import io
import operator
import sys
import threading
import typing
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from plaudit.frames import frame_reader, frame_writer
from plaudit.sandbox.child.protocol import CHANNEL
from plaudit.sandbox.child.subclasses import UNDERLYING, plain_base, subclass_container
from plaudit.sandbox.containers import CONTAINERS
from plaudit.sandbox.value_kinds import standard_path
from plaudit.sandbox.values import PROGRAM_DEPTH, Graph, NotPlain, dumps, loads

MESSAGE_CHARACTERS = 2000
CAUSES = 3  # causes of an exception that are sent with it
FILE = "<program>"
# Written without an import in programs for sites that have them ready.
TYPING = ("Any", "Callable", "Deque", "Dict", "FrozenSet", "Iterable", "List", "Optional", "Set", "Tuple", "Union")


def make_service(channel: int = CHANNEL) -> Callable[[], None]:
    """A function that answers the judge until it has ended, or sends an empty frame as its last message.

    Made in the server, as what is made there costs no child.
    """
    builtins.open = _open
    vars(builtins).update({name: getattr(typing, name) for name in TYPING})
    next_body, put = frame_reader(channel), frame_writer(channel)
    answer = Runtime().answer

    def serve() -> None:
        while body := next_body():
            put(answer(body.decode()).encode())

    return serve


class _Undefined(Exception):
    """The program does not define a name that the tests use."""


class Runtime:
    """One program, loaded at most once, and the objects of it that the judge has handles of."""

    def __init__(self) -> None:
        self._module = ModuleType("__main__")
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}  # of what is kept, by identity: one object has one number
        self._work: dict[str, Callable[..., str]] = {"load": self._load, "call": self._call, "get": self._get}
        self._flush = _make_flush()
        self._graph = Graph(self._describe, self._resolve_handle)
        self._dumps, self._loads = dumps, loads

    def answer(self, text: str) -> str:
        """Carry out the request of a frame; the reply as text."""
        kind, *rest = self._loads(text)
        try:
            reply = self._work[kind](*rest)
        except SystemExit as error:
            reply = self._dumps(["exited", _exit_code(error.code)])
        except (NotPlain, RecursionError) as error:
            reply = self._refuse(error)
        except _Undefined as error:
            reply = self._dumps(["undefined", str(error)])
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is an answer
            reply = self._describe_error(error)
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
        except RecursionError as error:
            return self._describe_error(error)
        finally:
            if as_script:
                threading._shutdown()  # type: ignore[attr-defined]  # a program ends when its threads have
                atexit._run_exitfuncs()
                _flush_all()
        return self._dumps(["returned", None])

    def _call(self, path: str, args: list[Any], keywords: Any = None, changes: Any = (), released: Any = ()) -> str:
        graph = self._graph
        if changes:
            graph.apply_changes(changes)
        if released:
            graph.forget(released)
        arguments = [graph.decode(item) for item in args]
        named = {name: graph.decode(item) for name, item in keywords.items()} if keywords else {}
        try:
            value = self._resolve(path)(*arguments, **named)
        except (NotPlain, RecursionError) as error:
            return self._describe_error(error)
        return self._returned(value)

    def _get(self, path: str) -> str:
        """The object at a path, without calling it."""
        return self._returned(self._resolve(path))

    def _returned(self, value: Any) -> str:
        changes = self._graph.write_changes()
        reply = ["returned", self._graph.encode(value, PROGRAM_DEPTH)]
        return self._dumps([*reply, changes] if changes else reply)

    def _refuse(self, error: BaseException) -> str:
        return self._dumps(["unsendable", str(error)[:MESSAGE_CHARACTERS] or type(error).__name__])

    def _describe(self, value: Any) -> Any:
        """The description of an object that stays here, as the fields of `Opaque`."""
        description = [self._key(value), _type_name(value)]
        base = plain_base(value)
        if base is None:
            return description
        try:
            if base in CONTAINERS:
                plain = self._graph.encode_container(value, subclass_container(base))
            else:
                plain = self._graph.encode(UNDERLYING[base](value))
        except NotPlain:
            return description
        return [*description, plain, isinstance(value, enum.Enum)]

    def _key(self, value: Any) -> int | str:
        """The key of an object: of a global function or class its name, of a standard one its path, else a number."""
        if isinstance(value, _NAMED_KINDS) and (path := standard_path(value)):
            return path
        if isinstance(value, type | FunctionType):
            name = getattr(value, "__name__", None)
            if type(name) is str and self._module.__dict__.get(name) is value:
                return name
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number

    def _resolve_handle(self, key: Any) -> Any:
        return self._kept[key] if type(key) is int else self._resolve(key)

    def _resolve(self, path: str) -> Any:
        """The object at a path: `f`, `Solution().f`, `@3.method` of the object with number 3, `operator:getitem`."""
        scope = self._module.__dict__
        if path in scope:
            return scope[path]
        if ":" in path:
            return self._look_up(path)
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
        if not colon:
            raise _Undefined(f"name {name!r} is not defined")
        if module in _MODULES:
            return getattr(_MODULES[module], member)
        if module == "help":
            return _HELPERS[member]
        return getattr(importlib.import_module(module), member)

    def _describe_error(self, error: BaseException) -> str:
        """The reply for an exception."""
        try:
            changes = self._graph.write_changes()
            return self._dumps(["raised", changes, *self._parts_of(error, CAUSES)])
        except (NotPlain, RecursionError) as failure:
            return self._refuse(failure)

    def _parts_of(self, error: BaseException, causes: int) -> list[Any]:
        """The classes of an exception, its text, line and arguments, a handle or its attributes, and its cause."""
        try:
            message = str(error)[:MESSAGE_CHARACTERS]
        except BaseException:  # noqa: BLE001 - its `__str__` is code of the program
            message = ""
        classes = [self._class_name(base) for base in type(error).__mro__ if base is not object]
        args = [self._graph.encode(argument) for argument in error.args]
        is_standard = classes[0].startswith("builtins:")
        members = dict(vars(error)) if is_standard else {}
        if type(error).__str__ is OSError.__str__ and error.filename is not None:  # type: ignore[attr-defined]
            members["filename"] = error.filename  # type: ignore[attr-defined]
        coded = {str(name): self._graph.encode(value) for name, value in members.items()}
        handle = None if is_standard else self._describe(error)
        cause = None if error.__cause__ is None or not causes else self._parts_of(error.__cause__, causes - 1)
        return [classes, self._graph.encode(message), _line_of(error), args, handle, coded, cause]

    def _class_name(self, kind: type) -> str:
        """`module:name` for a class of the standard library, `program:name` for a class of the program."""
        name = _plain_text(kind.__name__)
        if path := standard_path(kind):
            return path
        return f"program:{name}" if self._module.__dict__.get(name) is kind else f":{name}"


_MODULES: dict[str, Any] = {"builtins": builtins, "operator": operator}


def _await(value: Any) -> Any:
    """The result of an awaitable, run on the only event loop."""
    asyncio = importlib.import_module("asyncio")

    async def wait() -> Any:
        return await value

    if not _loops:
        _loops.append(asyncio.new_event_loop())
    return _loops[0].run_until_complete(wait())


def _exit(manager: Any, name: str, message: str) -> Any:
    """Leave a context with an exception that the tests raised."""
    error = _error_of_tests(name, message)
    return manager.__exit__(type(error), error, None)


def _aexit(manager: Any, name: str, message: str) -> Any:
    """The same for an asynchronous context."""
    error = _error_of_tests(name, message)
    return manager.__aexit__(type(error), error, None)


def _error_of_tests(name: str, message: str) -> BaseException:
    kind = getattr(builtins, name, None)
    return (kind if isinstance(kind, type) and issubclass(kind, BaseException) else Exception)(message)


def _next(iterator: Any) -> tuple[bool, Any]:
    """(True, the next item), or (False, what a generator returned at its end)."""
    try:
        return True, next(iterator)
    except StopIteration as stopped:
        return False, stopped.value


def _anext(iterator: Any) -> tuple[bool, Any]:
    """The same for an asynchronous iterator."""
    try:
        return True, _await(iterator.__anext__())
    except StopAsyncIteration:
        return False, None


def _read_up() -> None:
    """Read what is left of earlier input, which other tests provided."""
    sys.stdin.read()


_loops: list[Any] = []
_HELPERS: dict[str, Callable[..., Any]] = {
    "await": _await,
    "read_up": _read_up,
    "exit": _exit,
    "aexit": _aexit,
    "next": _next,
    "anext": _anext,
}
_NAMED_KINDS = (type, FunctionType, BuiltinFunctionType, MethodType)


def _line_of(error: BaseException) -> int | None:
    """The last line of the program in the traceback of an exception."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    if line is None and isinstance(error, SyntaxError) and type(error.lineno) is int:
        line = error.lineno
    return line


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
_STREAMS |= {f"/{folder}/{number}": number for folder in ("dev/fd", "proc/self/fd") for number in range(3)}
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


def _flush_all() -> None:
    """Write out what is left in files that the program opened itself, such as another one for standard output."""
    files = [item for item in gc.get_objects() if isinstance(item, io.TextIOWrapper | io.BufferedWriter)]
    for file in sorted(files, key=lambda item: isinstance(item, io.BufferedWriter)):
        try:
            file.flush()
        except BaseException:  # noqa: BLE001 - it may be closed, or open for reading only
            continue
