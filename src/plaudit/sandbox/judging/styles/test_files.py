"""Judge by the text of a test file, as pytest or unittest would run it, without pytest in the judge's process.

Modules that the file imports and that do not exist here are the program. Test cases of unittest are run by unittest
itself. For pytest's functions, classes, fixtures and marks there is a documented subset.
"""

import sys
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from plaudit.sandbox.judging.handles.program_proxy import ProgramProxy
from plaudit.sandbox.judging.handles.violations import UnsupportedTest
from plaudit.sandbox.judging.launcher import Launcher
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.recorder import Recorder
from plaudit.sandbox.judging.styles.fixtures import Fixtures
from plaudit.sandbox.judging.styles.pytest_stub import CASES, SKIPPED, Skipped
from plaudit.sandbox.judging.styles.statements import fill_namespace
from plaudit.sandbox.judging.suites import FileSuite
from plaudit.sandbox.judging.verdict import Verdict

MODULE = "test_program"


@dataclass(frozen=True, slots=True)
class FoundTests:
    """Tests that run together: their names, and a function that runs them with a recorder, the first as `start`."""

    names: list[str]
    run: Callable[[Recorder, int], None]


def judge_file(launcher: Launcher, suite: FileSuite, plan: TestPlan) -> Verdict:
    """The verdict of a test file."""

    def run(proxy: ProgramProxy, recorder: Recorder) -> None:
        module = sys.modules[MODULE] = ModuleType(MODULE)
        module.__dict__["__file__"] = f"{MODULE}.py"
        fill_namespace(module.__dict__, plan, proxy)
        exec(plan.codes[0], module.__dict__)
        fixtures = Fixtures(module.__dict__)
        groups = collect_tests(module.__dict__, fixtures)
        recorder.names = tuple(name for group in groups for name in group.names)
        start = 0
        for group in groups:
            group.run(recorder, start)
            start += len(group.names)
        fixtures.close()

    return launcher.judge((), run)


def collect_tests(namespace: dict[str, Any], fixtures: Fixtures) -> list[FoundTests]:
    """The tests of a file that was run, in its order; UnsupportedTest where one cannot be run."""
    if "load_tests" in namespace or "pytestmark" in namespace:
        raise UnsupportedTest("the test file defines load_tests or pytestmark, which is not supported")
    tests: list[FoundTests] = []
    for name, thing in list(namespace.items()):
        if isinstance(thing, type) and issubclass(thing, unittest.TestCase):
            if thing.__module__ == MODULE and (case := _find_case(thing)) is not None:
                tests.append(case)
        elif isinstance(thing, type) and name.startswith("Test") and thing.__module__ == MODULE:
            tests += _of_class(name, thing, fixtures)
        elif isinstance(thing, FunctionType) and name.startswith("test"):
            tests += _of_function(name, thing, fixtures, None)
    return tests


def _find_case(case: type[unittest.TestCase]) -> FoundTests | None:
    """The tests of a `TestCase`, inherited ones too; those that are marked to be skipped are left out."""
    names = [] if _is_skipped(case) else unittest.defaultTestLoader.getTestCaseNames(case)
    names = [name for name in names if not _is_skipped(getattr(case, name))]
    if not names:
        return None
    return FoundTests([f"{case.__name__}.{name}" for name in names], partial(_run_case, case, names))


def _is_skipped(thing: Any) -> bool:
    return bool(getattr(thing, "__unittest_skip__", False) or getattr(thing, SKIPPED, False))


def _run_case(case: type[unittest.TestCase], names: list[str], recorder: Recorder, start: int) -> None:
    tests = [case(name) for name in names]
    result = _CaseResult(recorder, {id(test): start + index for index, test in enumerate(tests)})
    suite = unittest.TestSuite(tests)
    suite._removeTestAtIndex = lambda index: None  # type: ignore[attr-defined]  # tests are told apart by identity
    suite.run(result)
    if result.error is not None:
        raise result.error


class _CaseResult(unittest.TestResult):
    """Passes what unittest reports on to the recorder."""

    def __init__(self, recorder: Recorder, indexes: dict[int, int]) -> None:
        super().__init__()
        self._recorder, self._indexes = recorder, indexes
        self._current: BaseException | None = None
        self.error: BaseException | None = None  # outside of tests, as in `setUpClass`

    def startTest(self, test: Any) -> None:  # noqa: N802
        self._current = None
        self._recorder.begin(self._indexes[id(test)])

    def stopTest(self, test: Any) -> None:  # noqa: N802
        self._recorder.end(self._indexes[id(test)], self._current)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        error = err[1]
        if isinstance(error, UnsupportedTest):
            raise error
        if id(test) in self._indexes:
            self._current = self._current or error
        else:
            self.error = self.error or error

    addFailure = addError  # noqa: N815

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self.addError(test, (None, AssertionError("the test was skipped while it ran"), None))


def _of_class(name: str, group: type, fixtures: Fixtures) -> list[FoundTests]:
    """The tests of a class, inherited ones too, and of classes within it."""
    if _is_skipped(group):
        return []
    members: dict[str, None] = {}
    for base in reversed(group.__mro__[:-1]):
        members |= dict.fromkeys(vars(base))
    tests: list[FoundTests] = []
    for member in members:
        thing = getattr(group, member)
        if isinstance(thing, type) and member.startswith("Test"):
            tests += _of_class(f"{name}.{member}", thing, fixtures)
        elif callable(thing) and member.startswith("test"):
            tests += _of_function(f"{name}.{member}", thing, fixtures, group)
    return tests


def _of_function(name: str, function: Any, fixtures: Fixtures, group: type | None) -> list[FoundTests]:
    if _is_skipped(function):
        return []
    cases = [{**outer, **inner} for outer in getattr(group, CASES, [{}]) for inner in getattr(function, CASES, [{}])]
    if not cases:
        return [FoundTests([name], partial(_fail_without_rows, name))]
    for case in cases:
        fixtures.check(function, case, group)
    names = [f"{name}[{index}]" if len(cases) > 1 else name for index in range(len(cases))]
    return [
        FoundTests([label], partial(_run_function, function, case, fixtures, group))
        for label, case in zip(names, cases, strict=True)
    ]


def _fail_without_rows(name: str, recorder: Recorder, start: int) -> None:
    with recorder.check(start):
        raise AssertionError(f"{name} is parametrized by an empty list")


def _run_function(
    function: Any, case: dict[str, Any], fixtures: Fixtures, group: type | None, recorder: Recorder, start: int
) -> None:
    with recorder.check(start):
        try:
            fixtures.run(function, case, group)
        except Skipped:
            raise AssertionError("the test was skipped while it ran, which a program could bring about") from None
