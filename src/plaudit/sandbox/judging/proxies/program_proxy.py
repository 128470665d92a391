"""The program under test as the tests see it: functions that look like functions, and run somewhere else.

Everything that comes back was decoded by the judge and is of exactly a plain type, so no `__eq__`, `__hash__` or
`__len__` of the program's is ever asked. A program that is lost is started again for the next test, a few times.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from plaudit.sandbox.judging.plan import CallPlan, PlanBroken, Replay, copy_call
from plaudit.sandbox.judging.proxies.arguments import carry_over
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable, ProgramLost, RemoteErrors
from plaudit.sandbox.judging.proxies.objects import Remote, RemoteObject, plain_or_remote
from plaudit.sandbox.judging.verdict import Conclusion
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Call, Program
from plaudit.sandbox.values import Handle, NotPlain

__all__ = ["ProgramProxy", "NotLoaded", "Started", "conclusion_of", "odd_numbers_in", "show_value", "tail"]

MAX_LOSSES = 3
ODD = frozenset({"nan", "inf"})
SHOWN = 100
TAIL = 2000
NO_CALLS = CallPlan()
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


@dataclass(frozen=True, slots=True)
class Started:
    """A program that was loaded, how that went, and the outcomes of the calls it was asked at once."""

    program: Program
    loaded: Outcome
    outcomes: Iterator[Outcome]


class ProgramProxy:
    """One program, loaded, for one run of tests; `calls` counts what it answered.

    With a `plan`, everything in it is asked at once, and the tests are answered from that.
    """

    def __init__(
        self,
        started: Callable[[CallPlan], Started],
        on_first_value: Callable[[], object],
        plan: CallPlan | None = None,
    ) -> None:
        self._started, self._on_first_value = started, on_first_value
        self.stdout = self.stderr = b""
        self.cpu_s = 0.0
        self._replay: Replay | None = None
        self.program = self._start(plan)
        self._lost: Outcome | None = None
        self._losses = 0
        self._obstacle = ""
        self._recorded: CallPlan | None = None
        self.made: list[Call] | None = None  # where every call is to be recorded
        self.errors = RemoteErrors()
        self.carries_over = False
        self.odd_numbers = ODD
        self.calls = 0
        self.first_loss: Outcome | None = None
        self.last: Outcome | None = None

    def begin_test(self) -> None:
        """Be ready for the next test; a lost program is started again."""
        if self._lost is not None and self._losses < MAX_LOSSES:
            self.program = self._start()
            self._lost = None

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
        if name.endswith(("Error", "Exception")):
            return self.errors.named(name)
        return Remote(self, name)

    def record(self, plan: CallPlan) -> None:
        """Note every call in `plan`, so that the next program can be asked all at once."""
        self._recorded = plan

    def check_plan(self) -> None:
        """Raise PlanBroken again where a test has swallowed it."""
        if self._replay is not None and self._replay.broken:
            raise PlanBroken

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call across the boundary: the value that came back, or the exception raised again."""
        if self._lost is not None:
            raise ProgramLost(self.trouble)
        outcome = self._ask(path, list(args), keywords)
        return self._result_of(path, outcome, args, keywords)

    def _start(self, plan: CallPlan | None = None) -> Program:
        started = self._started(plan or NO_CALLS)
        self._replay = Replay(plan, started.outcomes) if plan else None
        self._keep_account(started.loaded)
        return started.program

    def _keep_account(self, outcome: Outcome) -> None:
        """What it printed, and the time it took."""
        self.cpu_s += outcome.cpu_s
        if outcome.stdout or outcome.stderr:
            self.stdout = (self.stdout + outcome.stdout)[-TAIL:]
            self.stderr = (self.stderr + outcome.stderr)[-TAIL:]

    def _ask(self, path: str, args: list[Any], keywords: dict[str, Any]) -> Outcome:
        args, keywords = [_to_handle(one) for one in args], {name: _to_handle(one) for name, one in keywords.items()}
        try:
            if self.made is not None:
                self.made.append(copy_call(path, args, keywords))
            if self._recorded is not None:
                self._recorded.add(path, args, keywords)
            if self._replay is not None:
                return self._replay.next(path, args, keywords)
            return self.program.call(path, args, keywords)
        except NotPlain as error:
            if "deep" in str(error) and self.calls:  # a value of the program's, handed on
                raise AssertionError(f"{path} would be called with a value that is {error}") from None
            self._obstacle = f"cannot be split: {path} is called with something that is not plain data ({error})"
            raise NotSplittable(self._obstacle) from None

    def _result_of(self, path: str, outcome: Outcome, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        self._count(outcome)
        if outcome.ending.is_final:
            self._lost = outcome
            self._losses += 1
            self.first_loss = self.first_loss or outcome
            self.program.close()
            raise ProgramLost(self.trouble)
        if self.carries_over:
            _carry(args, keywords, outcome)
        if outcome.ending is Ending.RAISED and outcome.error is not None:
            raise self.errors.make_error((outcome.error.name, *outcome.error.bases), outcome.error.message)
        if outcome.ending is Ending.MEMORY:
            raise MemoryError("the program ran out of memory")
        if outcome.ending is Ending.OPAQUE:
            return plain_or_remote(self, path, outcome.handle or 0, outcome.type_name)
        if len(self.odd_numbers) < len(ODD) and (odd := _odd_number(outcome.value, self.odd_numbers)):
            raise AssertionError(f"{path} returned {odd}, of which the tests know nothing")
        return outcome.value

    def _count(self, outcome: Outcome) -> None:
        if not self.calls:
            self._on_first_value()
        self.calls += 1
        self.last = outcome
        self._keep_account(outcome)


def _to_handle(value: Any) -> Any:
    """An argument as it travels: what came from the program goes back as the object it stands for."""
    if isinstance(value, RemoteObject):
        return Handle(value.number)
    if type(value) is list:
        return [_to_handle(item) for item in value]
    return value


def tail(printed: bytes) -> str:
    """The end of what a program printed, as text that can be kept anywhere."""
    return printed[-TAIL:].decode("utf-8", "backslashreplace")


def show_value(value: Any) -> str:
    """The beginning of a value's text, for people; whatever it is."""
    try:
        return repr(value)[:SHOWN]
    except (ValueError, RecursionError, MemoryError):
        return f"a {type(value).__name__}"


def odd_numbers_in(tests: str) -> frozenset[str]:
    """Which of NaN and infinity a test text speaks of."""
    return frozenset(word for word in ODD if word in tests.lower())


def _odd_number(value: Any, expected: frozenset[str]) -> str:
    """NaN or infinity in a result, unless expected; neither is above or near anything, so `not x > y` lets it pass."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is float or kind is complex:
            word = "nan" if item != item else "inf" if abs(item) == math.inf else ""
            if word and word not in expected:
                return word
        elif kind in (list, tuple, set, frozenset):
            waiting.extend(item)
        elif kind is dict:
            waiting.extend(item.values())
    return ""


def _carry(args: tuple[Any, ...], keywords: dict[str, Any], outcome: Outcome) -> None:
    for before, after in zip(args, outcome.arguments or (), strict=False):
        carry_over(before, after)
    for name, after in (outcome.keywords or {}).items():
        if name in keywords:
            carry_over(keywords[name], after)
