"""Judge by standard input and output: every test is a run of the whole program, in a separate process.

Right output followed by an exception is no pass; `sys.exit(0)` is an ordinary end.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.handles.program_proxy import run_status_of, tail
from plaudit.sandbox.judging.handles.test_builtins import test_builtins
from plaudit.sandbox.judging.handles.violations import take_violation
from plaudit.sandbox.judging.handles.written_contents import WrittenContents
from plaudit.sandbox.judging.launcher import Launcher
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.recorder import Caught, short_reason
from plaudit.sandbox.judging.styles.comparing import same_text
from plaudit.sandbox.judging.suites import StreamSuite
from plaudit.sandbox.judging.verdict import RunStatus, TestResult, Verdict
from plaudit.sandbox.outcome import CallStatus, Outcome
from plaudit.sandbox.values import Graph

MAX_LOSSES = 3
Checker: TypeAlias = Callable[[str, str, str], Any]  # of input, output and expected output
OutputCheck: TypeAlias = Callable[[Outcome, str, str, StreamSuite], str]  # why a run is no pass; empty if it is


def judge_streams(launcher: Launcher, suite: StreamSuite, plan: TestPlan) -> Verdict:
    """The verdict of runs on the inputs of a suite."""

    def run(stdin_text: str) -> Outcome:
        with launcher.programs.open(launcher.limits) as program:
            outcome = program.load(launcher.source, stdin=stdin_text.encode("utf-8", "surrogateescape"))
        launcher.on_first_value()
        return outcome

    check = partial(_check_output, _load_checker(plan)) if suite.checker else output_failure
    return judge_runs(run, suite, stop_early=launcher.stop_early, check=check)


def judge_runs(run: Callable[[str], Outcome], suite: StreamSuite, *, stop_early: bool, check: OutputCheck) -> Verdict:
    """The verdict of runs, however a program is run; `check` decides on each."""
    results: list[TestResult] = []
    outcomes: list[Outcome] = []
    skipped = ""
    for index, (stdin_text, expected) in enumerate(zip(suite.inputs, suite.outputs, strict=True)):
        name = f"input {index}"
        if skipped:
            results.append(TestResult(name, passed=False, reason=f"not run: {skipped}"))
            continue
        outcome = run(stdin_text)
        outcomes.append(outcome)
        failure = check(outcome, stdin_text, expected, suite)
        results.append(TestResult(name, passed=not failure, reason=failure))
        if failure and stop_early:
            skipped = "an earlier test failed"
        elif sum(_is_loss(one) for one in outcomes) >= MAX_LOSSES:
            skipped = f"the program was lost {MAX_LOSSES} times"
    return _verdict(results, outcomes)


def output_failure(outcome: Outcome, stdin_text: str, expected: str, suite: StreamSuite) -> str:
    """Why a run is no pass; empty if it is one."""
    if not _ended_well(outcome):
        return f"the program ended: {outcome.reason}"
    output = outcome.stdout.decode("utf-8", "surrogateescape")
    if same_text(suite.compare, output, expected, suite.tolerance):
        return ""
    return f"printed {output[:100]!r}, expected {expected[:100]!r}"


def _ended_well(outcome: Outcome) -> bool:
    if outcome.status is CallStatus.EXITED:
        return outcome.exit_code == 0
    return outcome.status is CallStatus.RETURNED or (
        outcome.status is CallStatus.RAISED
        and outcome.error is not None
        and outcome.error.name == "SystemExit"
        and outcome.error.message in ("", "0", "None")
    )


def _is_loss(outcome: Outcome) -> bool:
    return outcome.status.is_final and not _ended_well(outcome)


def _load_checker(plan: TestPlan) -> Checker:
    builtins = test_builtins(
        WrittenContents(Graph), lambda name: None, lambda value: value, lambda path, args, keywords: None
    )
    namespace: dict[str, Any] = {"__name__": "__checker__", **builtins}
    try:
        exec(plan.codes[0], namespace)
    except Exception as error:
        raise InvalidTrajectory(f"the checker cannot be loaded: {short_reason(error)}") from error
    return namespace[plan.check]  # type: ignore[index, no-any-return]


def _check_output(checker: Checker, outcome: Outcome, stdin_text: str, expected: str, suite: StreamSuite) -> str:
    """Why a checker refuses a run; empty if it does not."""
    if not _ended_well(outcome):
        return f"the program ended: {outcome.reason}"
    output = outcome.stdout.decode("utf-8", "surrogateescape")
    is_right = False
    with Caught() as caught:
        is_right = bool(checker(stdin_text, output, expected))
    if violation := take_violation():
        return violation
    if caught.error is not None:
        return f"the checker raised {short_reason(caught.error)}"
    return "" if is_right else f"the checker refused {output[:100]!r}"


def _verdict(results: list[TestResult], outcomes: list[Outcome]) -> Verdict:
    lost = next((one for one in outcomes if _is_loss(one)), None)
    raised = next((one for one in outcomes if not _ended_well(one)), None)
    last = raised or outcomes[-1]
    conclusion = run_status_of(lost) if lost else RunStatus.COMPLETED
    return Verdict(
        results=results,
        conclusion=conclusion,
        reason=next((result.reason for result in results if not result.passed), ""),
        calls=len(outcomes),
        stdout=tail(last.stdout),
        stderr=tail(last.stderr),
        tier=last.tier.label,
        cpu_s=sum(outcome.cpu_s for outcome in outcomes),
    )
