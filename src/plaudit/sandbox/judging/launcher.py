"""What judging one program needs: how to start it, under which limits, and how a run of tests becomes a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.judging.handles.program_proxy import NotLoaded, ProgramProxy, run_status_of, tail
from plaudit.sandbox.judging.handles.violations import take_empty_loop, take_refusal, take_violation
from plaudit.sandbox.judging.plan.names import imports_in, with_prefix
from plaudit.sandbox.judging.recorder import Caught, Recorder, StopTests, fault_of_tests, short_reason
from plaudit.sandbox.judging.verdict import RunStatus, TestResult, Verdict
from plaudit.sandbox.outcome import CallStatus, Outcome
from plaudit.sandbox.program import Program

MAX_REASON = 500


class ProgramSource(Protocol):
    """Where processes for programs come from: a sandbox, or the client of a judge."""

    def open(self, limits: RunLimits) -> Program:
        """A process for one program."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """One program and how to start it; `trusts_objects` lets its objects answer comparisons."""

    programs: ProgramSource
    source: str
    limits: RunLimits
    stop_early: bool = True
    on_first_value: Callable[[], object] = lambda: None
    trusts_objects: bool = False

    def judge(
        self,
        names: tuple[str, ...],
        run: Callable[[ProgramProxy, Recorder], None],
        imports: Sequence[str] = (),
        *,
        checks_are_tests: bool = True,
    ) -> Verdict:
        """The verdict of named checks, which `run` runs; import lines of the data set run before the program.

        Each check is a test (`checks_are_tests`), or they are parts of one.
        """
        source = with_prefix(imports_in("\n".join(imports)) if imports else "", self.source)
        for take in (take_violation, take_refusal, take_empty_loop):
            take()
        try:
            proxy = ProgramProxy(lambda: self._load(source), self.on_first_value, trusts_objects=self.trusts_objects)
        except NotLoaded as missing:
            return _load_failure(names, missing.outcome)
        recorder = Recorder(names, proxy, stop_early=self.stop_early, checks_are_tests=checks_are_tests)
        try:
            with Caught() as caught:
                run(proxy, recorder)
            return _conclude(self, proxy, recorder, caught.error)
        finally:
            proxy.close()

    def _load(self, source: str) -> tuple[Program, Outcome]:
        program = self.programs.open(self.limits)
        outcome = program.load(source)
        if outcome.status is CallStatus.RETURNED:
            return program, outcome
        program.close()
        raise NotLoaded(outcome)


def _load_failure(names: Sequence[str], outcome: Outcome) -> Verdict:
    """The verdict on a program that could not be loaded: no test passed."""
    reason = f"the program could not be loaded: {outcome.reason}"[:MAX_REASON]
    return Verdict(
        results=[TestResult(name, passed=False, reason=reason) for name in names or ["load"]],
        conclusion=run_status_of(outcome) if outcome.status.is_final else RunStatus.UNLOADED,
        reason=reason,
        stdout=tail(outcome.stdout),
        stderr=tail(outcome.stderr),
        tier=outcome.tier.label,
        cpu_s=outcome.cpu_s,
    )


def _conclude(launcher: Launcher, proxy: ProgramProxy, recorder: Recorder, error: BaseException | None) -> Verdict:
    """The verdict on a run: its checks, how the program ended, and what was raised outside of checks."""
    fault = take_refusal() or recorder.fault or ("" if error is None else fault_of_tests(error))
    if fault:
        return Verdict(refusal=fault)
    if not proxy.calls:
        why = recorder.first_failure or ("" if error is None else short_reason(error))
        return Verdict(refusal=f"the tests never called the program{f': {why}' if why else ''}")
    stopped = isinstance(error, StopTests)
    aborted = "an earlier test failed" if stopped else "" if error is None else short_reason(error)
    results = recorder.results(aborted=aborted)
    outside = take_violation() or ("" if stopped else aborted or take_empty_loop())
    if outside:
        results.append(TestResult("outside of checks", passed=False, reason=outside))
    loss, last = proxy.first_loss, proxy.last
    return Verdict(
        results=results,
        conclusion=run_status_of(loss) if loss else RunStatus.COMPLETED,
        reason=next((result.reason for result in results if not result.passed), ""),
        calls=proxy.calls,
        stdout=tail(proxy.stdout),
        stderr=tail(proxy.stderr),
        tier=last.tier.label if last else "",
        cpu_s=proxy.cpu_s,
        trusts_objects=launcher.trusts_objects,
    )
