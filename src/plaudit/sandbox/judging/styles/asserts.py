"""Judge by assert statements and `check(candidate)`: the tests run here, the program's functions in its process."""

from types import CodeType
from typing import Any

from plaudit.sandbox.judging.handles.program_proxy import NotLoaded, ProgramProxy
from plaudit.sandbox.judging.launcher import Launcher, conclude, load_failure
from plaudit.sandbox.judging.plan.rewriting import CHECK
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.styles.namespace import fill_namespace
from plaudit.sandbox.judging.suites import AssertSuite
from plaudit.sandbox.judging.verdict import Verdict

__all__ = ["judge_asserts"]


def judge_asserts(launcher: Launcher, suite: AssertSuite, plan: TestPlan) -> Verdict:
    """The verdict of such tests."""
    try:
        proxy = launcher.proxy(suite.imports)
    except NotLoaded as missing:
        return load_failure(plan.checks, missing.outcome)
    try:
        recorder = Recorder(plan.checks, proxy, stop_early=launcher.stop_early, in_answers=plan.in_answers)
        error = _run_tests(plan, proxy, recorder)
        return conclude(launcher, proxy, recorder, error)
    finally:
        proxy.close()


def _run_tests(plan: TestPlan, proxy: ProgramProxy, recorder: Recorder) -> BaseException | None:
    """Run the texts; what was raised outside of their checks."""
    namespace: dict[str, Any] = {"__name__": "__tests__", CHECK: recorder.check}
    with Caught() as caught:
        fill_namespace(namespace, plan, proxy)
        for index, code in enumerate(plan.codes):
            if plan.is_whole:
                with recorder.check(index):
                    _run_text(code, namespace, plan.check, proxy)
            else:
                _run_text(code, namespace, plan.check, proxy)
    return caught.error


def _run_text(code: CodeType, namespace: dict[str, Any], check: str | None, proxy: ProgramProxy) -> None:
    exec(code, namespace)
    if check is not None:
        namespace["check"](proxy.named(check))
