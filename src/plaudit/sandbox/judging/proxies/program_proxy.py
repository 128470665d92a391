"""The program under test as the tests see it: functions that look like functions, and run somewhere else.

Everything that comes back was decoded by the judge and is of exactly a plain type, so no `__eq__`, `__hash__` or
`__len__` of the program's is ever asked. A program that is lost is started again for the next test, a few times.
"""

import builtins
import math
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from plaudit.sandbox.judging.missing_packages import import_failure
from plaudit.sandbox.judging.proxies.arguments import carry_over
from plaudit.sandbox.judging.proxies.arrays import to_answer
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable, ProgramLost, RemoteErrors
from plaudit.sandbox.judging.proxies.objects import Remote, RemoteObject
from plaudit.sandbox.judging.proxies.standard_streams import StandardStreams
from plaudit.sandbox.judging.rewriting.batches import Batches
from plaudit.sandbox.judging.rewriting.facts import ODD, TestFacts
from plaudit.sandbox.judging.verdict import Conclusion
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Call, Program
from plaudit.sandbox.values import Handle, NotPlain, from_text

__all__ = ["NotLoaded", "ProgramProxy", "conclusion_of", "show_value", "tail"]

MAX_LOSSES = 3
SHOWN = 100
TAIL = 2000
_CONCLUSIONS = {
    Ending.CPU_LIMIT: Conclusion.TIMEOUT,
    Ending.WALL_LIMIT: Conclusion.TIMEOUT,
    Ending.MEMORY: Conclusion.MEMORY,
    Ending.OUTPUT_LIMIT: Conclusion.OUTPUT,
    Ending.SCRATCH_LIMIT: Conclusion.OUTPUT,
}


def conclusion_of(outcome: Outcome) -> Conclusion:
    """What a final outcome means for the run."""
    return _CONCLUSIONS.get(outcome.ending, Conclusion.CRASH)


class NotLoaded(Exception):
    """The program could not even be loaded."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class ProgramProxy:
    """One program, loaded, for one run of tests; `calls` counts what it answered.

    It sees a call only when it has answered the one before, as arguments may give expected values away; but for those
    of which `batches` says that they do not.
    """

    def __init__(self, load: Callable[[], tuple[Program, Outcome]], on_first_value: Callable[[], object]) -> None:
        self._load, self._on_first_value = load, on_first_value
        self.stdout = self.stderr = b""
        self.cpu_s = 0.0
        self.program = self._start()
        self._lost: Outcome | None = None
        self._losses = 0
        self._obstacle = ""
        self.made: list[Call] | None = None  # where every call is to be recorded
        self.errors = RemoteErrors()
        self.facts = TestFacts()
        self._objects: dict[int, RemoteObject] = {}  # one stand-in for one object, so that tests can compare by `is`
        self._streams = StandardStreams()
        self.import_failures: list[str] = []
        self.batches: Batches = {}  # what may be sent together
        self._place = 0  # of the next call among all that the tests make
        self._sent: deque[str] = deque()  # calls of a batch whose outcomes are still to come
        self._outcomes: Iterator[Outcome] = iter(())
        self.carrying: tuple[Any, ...] | None = ()  # which arguments the tests want to see changed; None: all
        self.calls = 0
        self.first_loss: Outcome | None = None
        self.last: Outcome | None = None

    def begin_test(self) -> None:
        """Be ready for the next test; a lost program is started again."""
        if self._lost is not None and self._losses < MAX_LOSSES:
            self.program = self._start()
            self._sent.clear()
            self._lost = None
            self._objects.clear()

    @property
    def trouble(self) -> str:
        """Why the test at hand cannot pass any more."""
        return self._obstacle or ("" if self._lost is None else f"the program ended: {self._lost.reason}")

    @property
    def last_answer(self) -> str:
        """What the last call gave, for people."""
        if self.last is None:
            return ""
        if self.last.ending is not Ending.RETURNED:
            return self.last.reason[:SHOWN]
        return f"the last call returned {show_value(self.last.value)}"

    def close(self) -> None:
        self.program.close()

    def named(self, name: str) -> Any:
        """What stands for the program's `name` in the tests: an exception class by its ending, else a function."""
        if name.endswith(("Error", "Exception")) or name in self.facts.exceptions:
            return self.errors.named(name)
        return Remote(self, name)

    @property
    def expects_objects(self) -> bool:
        """Whether the tests use attributes that no plain type has."""
        return self.facts.expects_objects

    def get(self, path: str) -> Any:
        """What a path names over there."""
        if self._lost is not None:
            raise ProgramLost(self.trouble)
        self._sent.clear()
        return self._result_of(path, self.program.get(path), (), {})

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call across the boundary: the value that came back, or the exception raised again."""
        if self._lost is not None:
            raise ProgramLost(self.trouble)
        if given := self._streams.waiting_input():
            self.program.feed(given)
        outcome = self._ask(path, list(args), keywords)
        return self._result_of(path, outcome, args, keywords)

    def _start(self) -> Program:
        program, loaded = self._load()
        self._keep_account(loaded)
        return program

    def _keep_account(self, outcome: Outcome) -> None:
        """What it printed, and the time it took."""
        self.cpu_s += outcome.cpu_s
        if outcome.stdout or outcome.stderr:
            self.stdout = (self.stdout + outcome.stdout)[-TAIL:]
            self.stderr = (self.stderr + outcome.stderr)[-TAIL:]

    def _ask(self, path: str, args: list[Any], keywords: dict[str, Any]) -> Outcome:
        args = [self._to_handle(one) for one in args]
        keywords = {name: self._to_handle(one) for name, one in keywords.items()}
        try:
            request = Call(path, args, keywords).text()
            if self.made is not None:
                self.made.append(Call(*from_text(request)[1:]))  # as they are now
            return self._ask_in_batch(request)
        except NotPlain as error:
            if "deep" in str(error) and self.calls:  # a value of the program's, handed on
                raise AssertionError(f"{path} would be called with a value that is {error}") from None
            self._obstacle = f"cannot be split: {path} is called with something that is not plain data ({error})"
            raise NotSplittable(self._obstacle) from None

    def _ask_in_batch(self, request: str) -> Outcome:
        """The outcome of a call, which may have been sent with an earlier one, or have others sent with it."""
        place, self._place = self._place, self._place + 1
        if not (self._sent and self._sent.popleft() == request):
            batch = self.batches.get(place, ())
            requests = batch if batch and batch[0] == request else (request,)
            self._sent, self._outcomes = deque(requests[1:]), self.program.call_batch(requests)
        outcome = next(self._outcomes)
        if outcome.ending is not Ending.RETURNED:
            self._sent.clear()
        return outcome

    def _to_handle(self, value: Any) -> Any:
        """An argument as it travels: what came from the program goes back as the object it stands for."""
        if isinstance(value, Remote):
            value = value.resolve()
        elif _is_builtin(value):
            value = self.get(f"builtins:{value.__name__}")
        if isinstance(value, RemoteObject):
            return Handle(value.number)
        if type(value) in (list, tuple):
            return type(value)(self._to_handle(item) for item in value)
        if type(value) is dict:
            return {self._to_handle(key): self._to_handle(item) for key, item in value.items()}
        return value

    def _result_of(self, path: str, outcome: Outcome, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        self._count(outcome)
        if outcome.ending.is_final:
            self._lost = outcome
            self._losses += 1
            self.first_loss = self.first_loss or outcome
            self.program.close()
            raise ProgramLost(self.trouble)
        if self.carrying != ():
            _carry(args, keywords, outcome, self.carrying)
        self._streams.show(outcome)
        if outcome.ending is Ending.RAISED and outcome.error is not None:
            self.import_failures.append(import_failure(outcome))
            raise self.errors.make_error(outcome.error)
        if outcome.ending is Ending.MEMORY:
            raise MemoryError("the program ran out of memory")
        if outcome.ending is Ending.OPAQUE:
            return self._object(path, outcome)
        expected = self.facts.odd_numbers
        if len(expected) < len(ODD) and (odd := _odd_number(outcome.value, expected)):
            raise AssertionError(f"{path} returned {odd}, of which the tests know nothing")
        return to_answer(outcome.value)

    def _object(self, path: str, outcome: Outcome) -> RemoteObject:
        """The stand-in for an object that stays over there."""
        number, name = outcome.handle or 0, outcome.type_name
        if number not in self._objects:
            asked_for = name[:1].isupper() and name in self.facts.program_names  # a class that the tests name
            self._objects[number] = RemoteObject(self, number, name, outcome.traits, asked_for=asked_for)
        return self._objects[number]

    def _count(self, outcome: Outcome) -> None:
        if not self.calls:
            self._on_first_value()
        self.calls += 1
        self.last = outcome
        self._keep_account(outcome)


def _is_builtin(value: Any) -> bool:
    """Whether a value is a built-in function or class, of which the program has one of its own."""
    return type(value) in (type, type(len)) and getattr(builtins, value.__name__, None) is value


def tail(printed: bytes) -> str:
    """The end of what a program printed, as text that can be kept anywhere."""
    return printed[-TAIL:].decode("utf-8", "backslashreplace")


def show_value(value: Any) -> str:
    """The beginning of a value's text, for people; whatever it is."""
    try:
        return repr(value)[:SHOWN]
    except (ValueError, RecursionError, MemoryError):
        return f"a {type(value).__name__}"


def _odd_number(value: Any, expected: frozenset[str]) -> str:
    """NaN or infinity in a result, unless expected; neither is above or near anything, so `not x > y` lets it pass."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float | complex | Decimal):
            word = "nan" if item != item else "inf" if abs(item) == math.inf else ""
            if word and word not in expected:
                return word
        elif isinstance(item, dict):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset | deque):
            waiting.extend(item)
        elif type(item).__name__ == "ndarray" and item.dtype.kind in "fc":
            waiting.extend(item.ravel().tolist())
    return ""


def _carry(args: tuple[Any, ...], keywords: dict[str, Any], outcome: Outcome, which: tuple[Any, ...] | None) -> None:
    for place, (before, after) in enumerate(zip(args, outcome.arguments or (), strict=False)):
        if which is None or place in which:
            carry_over(before, after)
    for name, after in (outcome.keywords or {}).items():
        if name in keywords and (which is None or name in which):
            carry_over(keywords[name], after)
