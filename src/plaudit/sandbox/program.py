"""One program in its own locked-down process, seen from the judge.

Everything read here was written by the program's process and may be forged: it is counted, timed and decoded as plain
data. No part of it says whether the program is right.
"""

import contextlib
import fcntl
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

from plaudit.errors import SandboxError
from plaudit.frames import frame
from plaudit.sandbox.confined_process import Budget, LockedProcess, ProcessHost, RunLimits
from plaudit.sandbox.exchange import Exchange, Stopped
from plaudit.sandbox.outcome import Ending, Outcome, Raised
from plaudit.sandbox.values import NotPlain, from_text, to_text

__all__ = ["Call", "Program"]

T = TypeVar("T")
LEAVE = frame(b"")
ADD_SEALS, SEALS = 1033, 0b1111  # no writing, growing, shrinking or further sealing; Python names these on Linux only


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make: `path` is `f`, `Solution().f`, or `@3.method` of the value kept as number 3."""

    path: str
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The call as the request that is sent; NotPlain when an argument cannot travel."""
        return to_text(["call", self.path, self.args, self.kwargs] if self.kwargs else ["call", self.path, self.args])


class Program:
    """A program's process: load its source once, then call what it defines. Used by one thread at a time."""

    def __init__(
        self, host: ProcessHost, process: LockedProcess, limits: RunLimits, budget: Budget | None = None
    ) -> None:
        self._host, self._process, self._limits, self._budget = host, process, limits, budget or Budget()
        self._clock = host.clock_of(process)
        self._exchange = Exchange(process, limits, self._clock, clock_is_local=host.clock_is_local, budget=self._budget)
        self._printed = {process.stdout: 0, process.stderr: 0}
        self._end: Outcome | None = None
        self._unread = 0
        self._loaded = self._closed = self._buried = False
        self.tier = host.tier  # how strong the walls around this program are

    def load(self, source: str, stdin: bytes | None = None) -> Outcome:
        """Run a source as a module; with `stdin`, as a script (`__name__ == "__main__"`), which then is over."""
        if stdin is None:
            return next(self._ask([self._first(source)]))
        _fill(self._process.stdin, stdin)
        return next(self._send(frame(self._first(source, as_script=True).encode()) + LEAVE, 1, leaves=True))

    def call(self, path: str, args: list[Any] | None = None, kwargs: dict[str, Any] | None = None) -> Outcome:
        """Call one function with plain values; what it returned, or how it failed."""
        return next(self.call_many([Call(path, args or [], kwargs or {})]))

    def feed(self, text: str) -> None:
        """Add to what the program can read from its standard input."""
        os.pwrite(self._process.stdin, text.encode("utf-8", "surrogateescape"), os.fstat(self._process.stdin).st_size)

    def get(self, path: str) -> Outcome:
        """What a path names, without calling it."""
        return next(self._ask([to_text(["get", path])]))

    def call_many(self, calls: list[Call]) -> Iterator[Outcome]:
        """Make calls in a row, sent at once; stops after an outcome that ended the program."""
        return self._ask([call.text() for call in calls])

    def call_batch(self, requests: Sequence[str]) -> Iterator[Outcome]:
        """Make calls, given as texts, in a row; the program leaves those behind one that gave no plain data."""
        for outcome in self._send(frame(f'["many",[{",".join(requests)}]]'.encode()), len(requests)):
            if outcome.ending is not Ending.RETURNED:
                self._unread = 0
            yield outcome

    @property
    def open(self) -> bool:
        """Whether it can be asked, or belongs to the process that this one was forked from."""
        return not self._closed and not self._host.lost

    def close(self) -> None:
        """Kill the process; nothing of it is left afterwards."""
        if not self._closed:
            self._closed = True
            try:
                if not self._buried:
                    with contextlib.suppress(SandboxError):  # the server is gone, and its processes with it
                        self._kill()
            finally:
                self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _first(self, source: str, *, as_script: bool = False) -> str:
        if self._loaded:
            raise SandboxError("a program is loaded once; open another for another source")
        self._loaded = True
        return to_text(["load", source, as_script])

    def _ask(self, requests: list[str]) -> Iterator[Outcome]:
        return self._send(b"".join(frame(request.encode()) for request in requests), len(requests))

    def _send(self, requests: bytes, count: int, *, leaves: bool = False) -> Iterator[Outcome]:
        if self._closed:
            raise SandboxError("this program is closed")
        while self._unread and self._end is None:  # calls whose outcomes nobody waited for
            self._next_outcome()
        if self._end is not None:
            yield self._end
            return
        if self._budget.left_s() <= 0:
            self._end = Outcome(Ending.WALL_LIMIT, tier=self.tier)
            self._kill()
            yield self._end
            return
        self._exchange.send(requests)
        if leaves:
            self._exchange.wait_for_end()
        self._unread = count
        while self._unread and self._end is None:
            yield self._next_outcome()

    def _next_outcome(self) -> Outcome:
        self._unread -= 1
        try:
            reply, cpu_s = self._exchange.receive()
        except Stopped as stopped:
            found, cpu_s = self._explain_stop(stopped), stopped.cpu_s
        else:
            found = _read_reply(reply)
        out = err = b""
        if not (self._unread and self._exchange.has_more):  # else the next outcome has the prints of both
            out, err = self._new_prints(self._process.stdout), self._new_prints(self._process.stderr)
            if max(self._printed.values()) > self._limits.output_bytes:
                found = {"ending": Ending.OUTPUT_LIMIT}
        outcome = Outcome(**found, stdout=out, stderr=err, cpu_s=cpu_s, tier=self.tier)
        if outcome.ending.is_final:
            if not self._buried:
                self._kill()
            self._end = outcome
        return outcome

    def _explain_stop(self, stopped: Stopped) -> dict[str, Any]:
        """What became of a process that gave no answer."""
        if stopped.ending is not None:
            return {"ending": stopped.ending}
        self._buried = True
        code = self._host.ending_of(self._process)
        if not self._exchange.was_ready:
            said = os.pread(self._process.stderr, 500, 0).decode(errors="replace")
            raise SandboxError(f"a child could not be locked down: {said or f'exit code {code}'}")
        if code >= 0:
            return {"ending": Ending.EXITED, "exit_code": code}
        ending = _SIGNALS.get(-code, Ending.CRASHED)
        if ending is Ending.OUTPUT_LIMIT and self._limits.scratch_mb:
            ending = Ending.SCRATCH_LIMIT  # where it was what was printed, that is seen from its size
        return {"ending": ending, "signal": -code}

    def _new_prints(self, descriptor: int) -> bytes:
        start = self._printed[descriptor]
        size = min(os.fstat(descriptor).st_size, self._limits.output_bytes + 1)
        if size <= start:
            return b""
        self._printed[descriptor] = size
        return os.pread(descriptor, size - start, start)

    def _kill(self) -> None:
        self._buried = True
        self._host.end(self._process, self._limits)


def _read_reply(reply: str) -> dict[str, Any]:
    """A reply as parts of an outcome: only the forms that our runtime writes are taken."""
    try:
        kind, *content = _expect(list, from_text(reply))
        return _REPLIES[_expect(str, kind)](*content)
    except (NotPlain, KeyError, TypeError, ValueError) as error:
        return {"ending": Ending.BAD_REPLY, "error": Raised("BadReply", message=str(error)[:200])}


def _read_returned(value: Any, changed: Any = None) -> dict[str, Any]:
    return {"ending": Ending.RETURNED, "value": value, **_read_changes(changed)}


def _read_opaque(kept: Any, changed: Any = None) -> dict[str, Any]:
    handle, name, traits = kept
    return {
        "ending": Ending.OPAQUE,
        "handle": _expect(int, handle),
        "type_name": _expect(str, name),
        "traits": _expect(str, traits),
        **_read_changes(changed),
    }


def _read_raised(
    name: Any, bases: Any, message: Any, line: Any, args: Any = None, attributes: Any = None
) -> dict[str, Any]:
    names = tuple(_expect(str, base) for base in _expect(list, bases))
    error = Raised(
        _expect(str, name),
        names,
        _expect(str, message),
        None if line is None else _expect(int, line),
        None if args is None else tuple(_expect(list, args)),
        {} if attributes is None else _expect(dict, attributes),
    )
    return {"ending": Ending.MEMORY if name == "MemoryError" else Ending.RAISED, "error": error}


def _read_exited(code: Any) -> dict[str, Any]:
    return {"ending": Ending.EXITED, "exit_code": _expect(int, code)}


def _read_changes(changed: Any) -> dict[str, Any]:
    if changed is None:
        return {}
    arguments, keywords = changed
    return {"arguments": _expect(list, arguments), "keywords": _expect(dict, keywords)}


def _expect(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise NotPlain(f"a reply with {type(value).__name__} where {kind.__name__} belongs")
    return value


_REPLIES: dict[str, Callable[..., dict[str, Any]]] = {
    "returned": _read_returned,
    "opaque": _read_opaque,
    "raised": _read_raised,
    "exited": _read_exited,
}
_SIGNALS: dict[int, Ending] = {signal.SIGXFSZ: Ending.OUTPUT_LIMIT, signal.SIGXCPU: Ending.CPU_LIMIT}


def _fill(descriptor: int, content: bytes) -> None:
    """Put a program's standard input in place and seal it."""
    left, place = memoryview(content), 0
    while left:
        written = os.pwrite(descriptor, left, place)
        left, place = left[written:], place + written
    fcntl.fcntl(descriptor, ADD_SEALS, SEALS)
