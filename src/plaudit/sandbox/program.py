"""The judge's handle of one program in a confined process.

Everything read here was written by the program's process and may be forged: it is counted, timed and decoded as plain
data. No part of it says whether the program is right.
"""

import contextlib
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

from plaudit.errors import SandboxError
from plaudit.frames import frame
from plaudit.sandbox.confined_process import Budget, LockedProcess, ProcessHost, RunLimits, write_sealed
from plaudit.sandbox.exchange import Exchange, Stopped
from plaudit.sandbox.outcome import UNDEFINED, CallStatus, Outcome, Raised
from plaudit.sandbox.values import Graph, NotPlain, Opaque, dumps, loads

T = TypeVar("T")
LEAVE = frame(b"")


class Program:
    """A program's process: load its source once, then call what it defines. Used by one thread at a time."""

    def __init__(
        self, host: ProcessHost, process: LockedProcess, limits: RunLimits, budget: Budget | None = None
    ) -> None:
        self.graph = Graph(resolve=lambda description: Opaque(*description))
        self._host, self._process, self._limits, self._budget = host, process, limits, budget or Budget()
        self._clock = host.clock_of(process)
        self._exchange = Exchange(process, limits, self._clock, clock_is_local=host.clock_is_local, budget=self._budget)
        self._printed = {process.stdout: 0, process.stderr: 0}
        self._end: Outcome | None = None
        self._loaded = self._closed = self._reaped = False
        self.tier = host.tier  # how strong the walls around this program are

    def load(self, source: str, stdin: bytes | None = None) -> Outcome:
        """Run a source as a module; with `stdin`, as a script (`__name__ == "__main__"`), which then is over."""
        if self._loaded:
            raise SandboxError("a program can be loaded only once; open a new one for another source")
        self._loaded = True
        request = frame(dumps(["load", source, stdin is not None]).encode())
        if stdin is None:
            return self._ask(request)
        write_sealed(self._process.stdin, stdin)
        return self._ask(request + LEAVE, leaves=True)

    def execute(self, argv: Sequence[str], environment: Mapping[str, str], stdin: bytes, *, placed: bool) -> Outcome:
        """Become a command, and run to its end; `placed` says that it is the program that the server holds.

        Only for a process that executes; SandboxError if the command cannot be started.
        """
        write_sealed(self._process.stdin, stdin)
        command = {"argv": list(argv), "environment": dict(environment), "placed": placed}
        outcome = self._ask(frame(json.dumps(command).encode()))
        if outcome.error is not None:
            raise SandboxError(f"{argv[0]} could not be started: {outcome.error.message}")
        return outcome

    def call(self, path: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Outcome:
        """Call one function; what it returned, or how it failed. NotPlain if an argument cannot be sent."""
        graph = self.graph
        request: list[Any] = ["call", path]
        if len(graph):
            changes = graph.write_changes()  # also of containers that are released now: the program may hold them
            released = graph.release()
            request += [[graph.encode(argument) for argument in args], None, changes, released]
        else:
            request.append([graph.encode(argument) for argument in args])
        if kwargs:
            request[3:4] = [{name: graph.encode(argument) for name, argument in kwargs.items()}]
        return self._ask(frame(dumps(request).encode()))

    def feed(self, text: str) -> None:
        """Add to what the program can read from its standard input."""
        os.pwrite(self._process.stdin, text.encode("utf-8", "surrogateescape"), os.fstat(self._process.stdin).st_size)

    def get(self, path: str) -> Outcome:
        """The object at a path, without calling it."""
        return self._ask(frame(dumps(["get", path]).encode()))

    @property
    def open(self) -> bool:
        """Whether it takes calls; false after close, and in a process forked from its owner."""
        return not self._closed and not self._host.lost

    def close(self) -> None:
        """Kill the process; nothing of it is left afterwards."""
        if not self._closed:
            self._closed = True
            try:
                if not self._reaped:
                    with contextlib.suppress(SandboxError):  # the server is gone, and its processes with it
                        self._kill()
            finally:
                self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, request: bytes, *, leaves: bool = False) -> Outcome:
        if self._closed:
            raise SandboxError("this program is closed")
        if self._end is not None:
            return self._end
        if self._budget.left_s() <= 0:
            self._end = Outcome(CallStatus.WALL_LIMIT, tier=self.tier)
            self._kill()
            return self._end
        self._exchange.send(request)
        if leaves:
            self._exchange.wait_for_end()
        return self._next_outcome()

    def _next_outcome(self) -> Outcome:
        try:
            reply, cpu_s = self._exchange.receive()
        except Stopped as stopped:
            parts, cpu_s = self._explain_stop(stopped), stopped.cpu_s
        else:
            parts = self._read_reply(reply)
        out, err = self._new_prints(self._process.stdout), self._new_prints(self._process.stderr)
        if max(self._printed.values()) > self._limits.output_bytes:
            parts = {"status": CallStatus.OUTPUT_LIMIT}
        outcome = Outcome(**parts, stdout=out, stderr=err, cpu_s=cpu_s, tier=self.tier)
        if outcome.status.is_final:
            if not self._reaped:
                self._kill()
            self._end = outcome
        return outcome

    def _read_reply(self, reply: str) -> dict[str, Any]:
        """A reply as parts of an outcome; anything that the runtime does not write is a failure of the program."""
        try:
            kind, *content = _expect(list, loads(reply))
            return _REPLIES[_expect(str, kind)](self.graph, *content)
        except (NotPlain, LookupError, TypeError, ValueError, RecursionError) as error:
            return {"status": CallStatus.BAD_REPLY, "error": Raised(("BadReply",), str(error)[:200])}

    def _explain_stop(self, stopped: Stopped) -> dict[str, Any]:
        """The output for a process that ended without an answer."""
        if stopped.status is not None:
            return {"status": stopped.status}
        self._reaped = True
        code = self._host.exit_code_of(self._process)
        if not self._exchange.was_ready:
            stderr = os.pread(self._process.stderr, 500, 0).decode(errors="replace")
            raise SandboxError(f"a child could not be locked down: {stderr or f'exit code {code}'}")
        if code >= 0:
            return {"status": CallStatus.EXITED, "exit_code": code}
        status = _SIGNALS.get(-code, CallStatus.CRASHED)
        if status is CallStatus.OUTPUT_LIMIT and self._limits.scratch_mb:
            status = CallStatus.SCRATCH_LIMIT  # too much printed output is detected by its size
        return {"status": status, "signal": -code}

    def _new_prints(self, descriptor: int) -> bytes:
        start = self._printed[descriptor]
        size = min(os.fstat(descriptor).st_size, self._limits.output_bytes + 1)
        if size <= start:
            return b""
        self._printed[descriptor] = size
        return os.pread(descriptor, size - start, start)

    def _kill(self) -> None:
        self._reaped = True
        self._host.end(self._process)


def _read_returned(graph: Graph, value: Any, changes: Any = None) -> dict[str, Any]:
    if changes is not None:
        graph.apply_changes(changes)
    return {"status": CallStatus.RETURNED, "value": graph.decode(value)}


def _read_raised(graph: Graph, changes: Any, *description: Any) -> dict[str, Any]:
    graph.apply_changes(changes)
    error = _read_error(graph, *description)
    return {"status": CallStatus.MEMORY if error.name == "MemoryError" else CallStatus.RAISED, "error": error}


def _read_error(
    graph: Graph, classes: Any, message: Any, line: Any, args: Any, handle: Any, members: Any, cause: Any = None
) -> Raised:
    return Raised(
        tuple(_expect(str, name) for name in _expect(list, classes)),
        _expect(str, graph.decode(message)),
        None if line is None else _expect(int, line),
        tuple(graph.decode(argument) for argument in _expect(list, args)),
        None if handle is None else graph.resolve(handle),
        {name: graph.decode(value) for name, value in _expect(dict, members).items()},
        None if cause is None else _read_error(graph, *_expect(list, cause)),
    )


def _read_exited(graph: Graph, code: Any) -> dict[str, Any]:
    error = Raised(("builtins:SystemExit",), args=(_expect(int, code),))
    return {"status": CallStatus.EXITED, "exit_code": code, "error": error}


def _read_undefined(graph: Graph, message: Any) -> dict[str, Any]:
    return {"status": CallStatus.RAISED, "error": Raised(UNDEFINED, _expect(str, message))}


def _read_unsendable(graph: Graph, reason: Any) -> dict[str, Any]:
    return {"status": CallStatus.RESULT_LIMIT, "error": Raised(("ValueError",), _expect(str, reason)[:200])}


def _expect(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise NotPlain(f"a reply with {type(value).__name__} where {kind.__name__} belongs")
    return value


_REPLIES: dict[str, Callable[..., dict[str, Any]]] = {
    "returned": _read_returned,
    "raised": _read_raised,
    "exited": _read_exited,
    "undefined": _read_undefined,
    "unsendable": _read_unsendable,
}
_SIGNALS: dict[int, CallStatus] = {signal.SIGXFSZ: CallStatus.OUTPUT_LIMIT, signal.SIGXCPU: CallStatus.CPU_LIMIT}
