"""Judge one job after the other: tests of every style, and hidden tests."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.handles.test_builtins import support_handles
from plaudit.sandbox.judging.handles.violations import UnsupportedTest
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.launcher import Launcher, ProgramSource
from plaudit.sandbox.judging.plan.test_plan import TestPlan, plan_suite
from plaudit.sandbox.judging.styles.pytest_stub import pytest_stub
from plaudit.sandbox.judging.styles.statements import judge_asserts, judge_calls
from plaudit.sandbox.judging.styles.streams import judge_streams
from plaudit.sandbox.judging.styles.test_files import judge_file
from plaudit.sandbox.judging.suites import AssertSuite, CallSuite, FileSuite, StreamSuite, Suite
from plaudit.sandbox.judging.verdict import Verdict, judge_in_turn

_STYLES: dict[type, Callable[[Launcher, Any, TestPlan], Verdict]] = {
    AssertSuite: judge_asserts,
    CallSuite: judge_calls,
    StreamSuite: judge_streams,
    FileSuite: judge_file,
}


class Judge:
    """Judges programs, in processes that `programs` opens."""

    def __init__(self, programs: ProgramSource, on_first_value: Callable[[], object] = lambda: None) -> None:
        self._programs, self._on_first_value = programs, on_first_value
        support_handles()

    def judge(self, job: Job, plans: Sequence[TestPlan | None] | None = None) -> Verdict:
        """The verdict on a program; what is wrong with the tests themselves comes back as a refusal.

        `plans` are those of the job's suites, made here unless they are given.
        """
        launcher = Launcher(
            self._programs, job.source, job.limits, job.stop_early, self._on_first_value, job.trusts_objects
        )
        plans = [None] * len(job.suites) if plans is None else plans
        judge = partial(_judge_suite, launcher)
        return judge_in_turn(zip(job.suites, plans, strict=True), judge, stop_early=job.stop_early)


def _judge_suite(launcher: Launcher, planned: tuple[Suite, TestPlan | None]) -> Verdict:
    suite, plan = planned
    try:
        plan = plan or plan_suite(suite)
        if plan.unscored and not launcher.trusts_objects:
            return Verdict(refusal=plan.unscored)
        with _pytest_replaced():
            return _STYLES[type(suite)](launcher, suite, plan)
    except (UnsupportedTest, InvalidTrajectory) as error:
        return Verdict(refusal=str(error))


@contextmanager
def _pytest_replaced() -> Iterator[None]:
    """While tests run, `import pytest` gives the stub, also where the judge is called by pytest itself."""
    before = sys.modules.get("pytest")
    sys.modules["pytest"] = pytest_stub()
    try:
        yield
    finally:
        del sys.modules["pytest"]
        if before is not None:
            sys.modules["pytest"] = before
