"""Judge one job after the other: tests of every style, hidden tests, made-up inputs."""

from collections.abc import Callable
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.launcher import Launcher, ProgramSource
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.rewriting.test_names import run_remote_coroutines
from plaudit.sandbox.judging.styles.asserts import judge_asserts, prepare_asserts
from plaudit.sandbox.judging.styles.calls import judge_calls
from plaudit.sandbox.judging.styles.doctests import judge_doctests, prepare_doctests
from plaudit.sandbox.judging.styles.fuzzing import judge_fuzzing
from plaudit.sandbox.judging.styles.in_process import judge_in_process
from plaudit.sandbox.judging.styles.streams import judge_streams
from plaudit.sandbox.judging.styles.test_files import judge_file, prepare_file
from plaudit.sandbox.judging.suites import AssertSuite, CallSuite, DoctestSuite, FileSuite, StreamSuite, Suite
from plaudit.sandbox.judging.verdict import Conclusion, Verdict
from plaudit.sandbox.program import Call

__all__ = ["Judge", "prepare_suite"]

_STYLES: dict[type, Callable[[Launcher, Any], Verdict]] = {
    AssertSuite: judge_asserts,
    CallSuite: judge_calls,
    StreamSuite: judge_streams,
    FileSuite: judge_file,
    DoctestSuite: judge_doctests,
}


_PREPARE: dict[type, Callable[[Any], object]] = {
    AssertSuite: prepare_asserts,
    FileSuite: prepare_file,
    DoctestSuite: prepare_doctests,
}


def prepare_suite(suite: Suite) -> None:
    """Parse and compile the tests of a suite, to be found again by whoever judges by it."""
    if type(suite) in _PREPARE:
        _PREPARE[type(suite)](suite)


class Judge:
    """Judges programs, in processes that `programs` opens."""

    def __init__(self, programs: ProgramSource, on_first_value: Callable[[], object] = lambda: None) -> None:
        self._programs, self._on_first_value = programs, on_first_value
        run_remote_coroutines()

    def judge(self, job: Job) -> Verdict:
        """The verdict on a program; what is wrong with the tests themselves comes back as a refusal."""
        launcher = Launcher(self._programs, job.source, job.limits, job.stop_early, self._on_first_value)
        verdict: Verdict | None = None
        for suite in job.suites:
            if job.in_process and isinstance(suite, AssertSuite | FileSuite):
                part = judge_in_process(launcher, suite)
            else:
                part = _judge_suite(launcher, suite)
            verdict = part if verdict is None else merge(verdict, part)
            if verdict.refusal or (job.stop_early and not verdict.passed):
                break
        if verdict is None:
            return Verdict(refusal="there are no tests")
        if job.fuzz and not verdict.refusal and not (job.stop_early and not verdict.passed):
            return merge(verdict, _judge_fuzzing(launcher, job))
        return verdict


def _judge_fuzzing(launcher: Launcher, job: Job) -> Verdict:
    """The verdict of inputs made up from those that the tests use; the reference must pass the tests itself."""
    made: list[Call] = []
    for suite in job.suites:
        if isinstance(suite, StreamSuite):
            return Verdict(refusal="inputs can be made up for functions only, not for standard input")
        verdict = _judge_suite(launcher.other(job.reference, made), suite)
        if not verdict.passed:
            return Verdict(refusal=f"the reference does not pass the tests: {verdict.refusal or verdict.reason}")
    imports = [line for suite in job.suites for line in getattr(suite, "imports", ())]
    own = [call for call in made if not call.path.startswith("@") and ":" not in call.path]
    try:
        return judge_fuzzing(launcher, job.reference, own, job.fuzz, imports)
    except NotSplittable as error:
        return Verdict(refusal=str(error))


def _judge_suite(launcher: Launcher, suite: Suite) -> Verdict:
    try:
        return _STYLES[type(suite)](launcher, suite)
    except (NotSplittable, InvalidTrajectory) as error:
        return Verdict(refusal=str(error))


def merge(first: Verdict, second: Verdict) -> Verdict:
    """Two verdicts on one program as one."""
    completed = first.conclusion is Conclusion.COMPLETED
    return Verdict(
        results=[*first.results, *second.results],
        conclusion=second.conclusion if completed else first.conclusion,
        reason=first.reason or second.reason,
        refusal=first.refusal or second.refusal,
        calls=first.calls + second.calls if first.calls and second.calls else 0,
        stdout=second.stdout or first.stdout,
        stderr=second.stderr or first.stderr,
        tier=first.tier,
        cpu_s=first.cpu_s + second.cpu_s,
        split=first.split and second.split,
        missing_package=first.missing_package or second.missing_package,
    )
