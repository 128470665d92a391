"""Record the result of every check while a test text runs.

A check passes when it ran at least once and never failed. Once the program is lost or a violation was recorded, the
current check has failed, whatever the test does with the exception.
"""

from typing import Protocol

from plaudit.sandbox.judging.handles.places import is_of_tests
from plaudit.sandbox.judging.handles.violations import UnsupportedTest, take_empty_loop, take_violation
from plaudit.sandbox.judging.verdict import TestResult

MAX_REASON = 300


class Watched(Protocol):
    """What a recorder asks of the program under test."""

    def begin_test(self) -> None:
        """Be ready for the next test; a lost program is started again."""

    @property
    def last_answer(self) -> str:
        """A description of the program's last answer."""

    @property
    def trouble(self) -> str:
        """Why the test at hand cannot pass any more; empty while all is well."""


class StopTests(BaseException):
    """The verdict is known: the remaining checks need not run."""


PASSING = (UnsupportedTest, StopTests)


class Recorder:
    """Results by check; `check(index)` is a context manager around each."""

    def __init__(
        self,
        names: tuple[str, ...],
        program: Watched,
        *,
        stop_early: bool,
        checks_are_tests: bool,
    ) -> None:
        self.names, self._program, self._stop_early, self._are_tests = names, program, stop_early, checks_are_tests
        self._failures: dict[int, str] = {}
        self.fault = ""  # why the tests themselves cannot be run
        self._ran: set[int] = set()

    def check(self, index: int) -> "_Check":
        return _Check(self, index)

    def begin(self, index: int) -> None:
        self._ran.add(index)
        self._program.begin_test()

    def end(self, index: int, error: BaseException | None) -> None:
        violation = take_violation()
        trouble = self._program.trouble or violation
        if not trouble and error is not None:
            self.fault = self.fault or fault_of_tests(error)
            trouble = self.fault or short_reason(error, self._program.last_answer)
        if self._are_tests:
            trouble = trouble or take_empty_loop()
        if not trouble:
            return
        self._failures.setdefault(index, trouble)
        if self._stop_early:
            raise StopTests

    @property
    def first_failure(self) -> str:
        return next(iter(self._failures.values()), "")

    def results(self, *, aborted: str) -> list[TestResult]:
        """One result per check; one that never ran has failed, if the text was `aborted`."""
        return [
            TestResult(name, index not in self._failures and index in self._ran, self._reason(index, aborted))
            for index, name in enumerate(self.names)
            if index in self._ran or aborted
        ]

    def _reason(self, index: int, aborted: str) -> str:
        return self._failures.get(index, "") if index in self._ran else f"not run: {aborted}"


class _Check:
    """One run of one check; failures end here, so that the checks after it run too."""

    __slots__ = ("_index", "_recorder")

    def __init__(self, recorder: Recorder, index: int) -> None:
        self._recorder, self._index = recorder, index

    def __enter__(self) -> None:
        self._recorder.begin(self._index)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> bool:
        if isinstance(error, PASSING):
            return False
        self._recorder.end(self._index, error)
        return True


class Caught:
    """A context manager that keeps whatever a test raised; only what must reach the judge passes through."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> "Caught":
        return self

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> bool:
        self.error = error
        return not isinstance(error, UnsupportedTest)


def fault_of_tests(error: BaseException) -> str:
    """Why the tests cannot be run, where an exception is theirs: they need files, or packages that are missing."""
    is_missing = isinstance(error, FileNotFoundError | PermissionError) and error.errno is not None
    is_missing |= isinstance(error, ImportError) and error.name is not None
    if is_missing and not error.__dict__.get("__program") and is_of_tests(error):
        return f"the tests need something that a judge does not have: {short_reason(error)}"
    return ""


def short_reason(error: BaseException, answer: str = "") -> str:
    """An exception of a test in a line: the message of an assert, what the program answered, else the exception."""
    try:
        text = str(error)
    except (ValueError, RecursionError, MemoryError):  # its message holds a value of the program's, however odd
        text = "(no message)"
    name = type(error).__name__
    if name != "AssertionError":
        return f"{name}: {text}"[:MAX_REASON]
    return (text or f"the assertion does not hold{answer and f'; {answer}'}")[:MAX_REASON]
