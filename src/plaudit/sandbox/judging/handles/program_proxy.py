"""The program under test as the tests see it: functions that look like functions and run in another process.

A value that comes back is plain, of an exact type, or a handle. A program that is lost is started again for the next
test, a few times.
"""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from plaudit.sandbox.judging.handles.arrays import answer_type
from plaudit.sandbox.judging.handles.errors import ErrorClass, ProgramErrors
from plaudit.sandbox.judging.handles.handles import (
    COMPARABLE,
    EXTENSIBLE,
    CoroutineHandle,
    Handle,
    extend_value,
    handle_of,
)
from plaudit.sandbox.judging.handles.places import refuse
from plaudit.sandbox.judging.handles.standard_streams import StandardStreams
from plaudit.sandbox.judging.handles.test_builtins import path_in_program, standard_object
from plaudit.sandbox.judging.handles.violations import ProgramLost, UnsupportedTest, violate
from plaudit.sandbox.judging.handles.written_contents import WrittenContents
from plaudit.sandbox.judging.verdict import RunStatus
from plaudit.sandbox.outcome import UNDEFINED, CallStatus, Outcome
from plaudit.sandbox.program import Program
from plaudit.sandbox.values import Graph, NotPlain, Opaque

MAX_LOSSES = 3
SHOWN = 100
TAIL = 2000
SENT = {"builtins:setattr", "operator:getitem", "operator:setitem"}  # what tests give to these was checked by `send`
_CONCLUSIONS = {
    CallStatus.CPU_LIMIT: RunStatus.TIMEOUT,
    CallStatus.WALL_LIMIT: RunStatus.TIMEOUT,
    CallStatus.MEMORY: RunStatus.MEMORY,
    CallStatus.OUTPUT_LIMIT: RunStatus.OUTPUT,
    CallStatus.SCRATCH_LIMIT: RunStatus.OUTPUT,
}


def run_status_of(outcome: Outcome) -> RunStatus:
    """The conclusion of a run from its final outcome."""
    return _CONCLUSIONS.get(outcome.status, RunStatus.CRASH)


class NotLoaded(Exception):
    """The program could not be loaded."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class ProgramProxy:
    """One program, loaded, for one run of tests; `calls` counts what it answered.

    With `trusts_objects` objects of the program answer comparisons themselves.
    """

    def __init__(
        self,
        load: Callable[[], tuple[Program, Outcome]],
        on_first_value: Callable[[], object],
        *,
        trusts_objects: bool = False,
    ) -> None:
        self._load, self._on_first_value, self.trusts_objects = load, on_first_value, trusts_objects
        self._turn = threading.RLock()  # one call at a time, also of tests that use threads
        self.stdout = self.stderr = b""
        self.cpu_s = 0.0
        self.class_names: frozenset[str] = frozenset()  # that the tests mention
        self.allows_nan = True  # as the tests name it
        self.plain_methods: set[str] = set()  # paths of methods that plain values have, of objects that are not plain
        self._handles: dict[int | str, Any] = {}  # one handle for one object, so that tests can compare by `is`
        self.program = self._start()
        self._lost: Outcome | None = None
        self._losses = 0
        self.errors = ProgramErrors(self)
        self.written = WrittenContents(lambda: self.program.graph)
        self._streams = StandardStreams()
        self.calls = 0
        self.first_loss: Outcome | None = None
        self.last: Outcome | None = None

    def begin_test(self) -> None:
        """Prepare for the next test; a lost program is started again."""
        self.written.restore()
        if self._lost is not None and self._losses < MAX_LOSSES:
            self._handles = {key: handle for key, handle in self._handles.items() if type(key) is str}
            self.program = self._start()
            self._lost = None

    @property
    def trouble(self) -> str:
        """Why the current test cannot pass any more."""
        return "" if self._lost is None else f"the program ended: {self._lost.reason}"

    @property
    def last_answer(self) -> str:
        """A readable description of the last call's result."""
        if self.last is None:
            return ""
        if self.last.status is not CallStatus.RETURNED:
            return self.last.reason[:SHOWN]
        value = self.last.value
        shown = f"an object of type {value.plaudit_type}" if isinstance(value, Handle) else show_value(value)
        return f"the last call returned {shown}"

    def close(self) -> None:
        self.program.close()

    def named(self, name: str) -> Any:
        """The handle of the program's global `name`."""
        if name not in self._handles:
            self._handles[name] = Handle(self, name)
        return self._handles[name]

    def get(self, path: str) -> Any:
        """The object at a path."""
        if self._lost is not None:
            raise ProgramLost(self.trouble)
        with self._turn:
            outcome = self.program.get(path)
        if outcome.error is not None and outcome.error.classes == UNDEFINED:
            self._count(outcome)
            raise AttributeError(outcome.error.message)
        return self._result_of(outcome)

    def read(self, name: str) -> Any:
        """The value of a name in the program; None if it defines no such name. Not counted as a call."""
        return self.program.get(name).value

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call the program: the value that came back, or the exception raised again."""
        if self._lost is not None:
            raise ProgramLost(self.trouble)
        self.written.restore()
        try:
            with self._turn:
                if ready := self._streams.waiting_input():
                    self.program.call("help:read_up")
                    self.program.feed(ready)
                outcome = self.program.call(path, args, keywords)
        except NotPlain as error:
            if path in self.plain_methods or path in SENT:
                violate(f"the tests use what the program returned as a plain value, and it is none ({error})")
            refuse(f"{path} is called with something that is not plain data ({error})")
        return self._result_of(outcome)

    def send(self, value: Any) -> Any:
        """A value of the tests, which cannot be scored if it cannot be sent; whether it is sent decides the program."""
        try:
            Graph(self._describe).encode(value)
        except NotPlain as error:
            raise UnsupportedTest(f"the tests give an answer something that is not plain data ({error})") from None
        return value

    def _start(self) -> Program:
        program, loaded = self._load()
        program.graph = Graph(self._describe, self._resolve, answer_type, from_program=True)
        self._keep_account(loaded)
        return program

    def _describe(self, value: Any) -> int | str:
        """An argument that is not plain: a handle, an exception, or a function of the standard library."""
        if (handle := handle_of(value)) is not None:
            return handle.plaudit_key
        if isinstance(value, ErrorClass):
            return value.__name__
        if callable(value) and (path := path_in_program(value)):
            return path
        raise NotPlain(f"{type(value).__name__} is not plain data")

    def _resolve(self, description: Any) -> Any:
        """A handle; an instance of a subclass of a plain type is its plain value, unless the tests name its class."""
        opaque = Opaque(*description)
        key = opaque.key
        if type(key) not in (int, str) or type(opaque.type_name) is not str:
            raise NotPlain("not a handle")
        if (error_class := self.errors.find(key)) is not None:
            return error_class
        kind = CoroutineHandle if opaque.type_name == "coroutine" else Handle
        handle = kind(self, key, opaque.type_name[:SHOWN])
        is_named = opaque.type_name in self.class_names
        extend = None if is_named else partial(self._extend, handle, opaque.is_member is True)
        value = self.program.graph.decode(opaque.value, extend=extend)
        if key in self._handles:
            return self._handles[key]
        if extend is not None and value is not None:
            return extend(value)
        compared = standard_object(key) if value is None else value if type(value) in COMPARABLE else None
        object.__setattr__(handle, "plaudit_value", compared)
        self._handles[key] = handle
        return handle

    def _extend(self, handle: Handle, is_member: bool, value: Any) -> Any:
        """A plain value with the further attributes of its object; types that cannot be extended stay as they are."""
        if type(value) not in EXTENSIBLE:
            return value
        extended = self._handles[handle.plaudit_key] = extend_value(handle, value, is_member)
        return extended

    def _keep_account(self, outcome: Outcome) -> None:
        """Its output, and the time it took."""
        self.cpu_s += outcome.cpu_s
        if outcome.stdout or outcome.stderr:
            self.stdout = (self.stdout + outcome.stdout)[-TAIL:]
            self.stderr = (self.stderr + outcome.stderr)[-TAIL:]

    def _result_of(self, outcome: Outcome) -> Any:
        self._count(outcome)
        if outcome.status.is_final:
            self.program.close()
            self._lost = outcome
            if (
                outcome.status is CallStatus.EXITED
                and outcome.error is not None
                and "SystemExit" in self.errors.expected
            ):
                self.begin_test()
                raise self.errors.make_error(outcome.error)
            self._losses += 1
            self.first_loss = self.first_loss or outcome
            raise ProgramLost(self.trouble)
        self._streams.show(outcome)
        if self.program.graph.has_nan and not self.allows_nan:
            self.program.graph.has_nan = False
            violate("the program gave NaN, which the tests do not name")
        if outcome.status is CallStatus.RAISED and outcome.error is not None:
            if outcome.error.classes == UNDEFINED:
                violate(str(outcome.error))
            raise self.errors.make_error(outcome.error)
        if outcome.status is CallStatus.MEMORY:
            violate("the program ran out of memory")
        return outcome.value

    def _count(self, outcome: Outcome) -> None:
        if not self.calls:
            self._on_first_value()
        self.calls += 1
        self.last = outcome
        self._keep_account(outcome)


def tail(printed: bytes) -> str:
    """The end of what a program printed, as text that can be kept anywhere."""
    return printed[-TAIL:].decode("utf-8", "backslashreplace")


def show_value(value: Any) -> str:
    """The beginning of a value's text, for people."""
    try:
        return _show(value, SHOWN)[:SHOWN]
    except (ValueError, RecursionError, MemoryError, TypeError):
        return f"a {type(value).__name__}"


def _show(value: Any, left: int) -> str:
    """`repr` that asks no handle."""
    if (handle := handle_of(value)) is not None:
        return f"<{handle.plaudit_type}>"
    if type(value) in (list, tuple, set, deque) and left > 0:
        shown = ", ".join(_show(item, left - SHOWN // 4) for item in list(value)[:SHOWN])
        return f"[{shown}]" if type(value) is not tuple else f"({shown})"
    if type(value) is dict and left > 0:
        pairs = list(value.items())[:SHOWN]
        return "{" + ", ".join(f"{_show(key, 0)}: {_show(item, left - SHOWN // 4)}" for key, item in pairs) + "}"
    return "…" if isinstance(value, list | tuple | set | dict | deque) else repr(value)
