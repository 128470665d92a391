"""What judging one program needs: how to start it, under which limits, and whom to tell of its first answer."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from plaudit.sandbox.judging.plan import CallPlan
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy, Started, conclusion_of, tail
from plaudit.sandbox.judging.rewriting.names import bare_imports, with_prefix
from plaudit.sandbox.judging.verdict import Conclusion, TestResult, Verdict
from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Call
from plaudit.sandbox.sandbox import Sandbox

__all__ = ["Launcher", "load_failure"]

MAX_REASON = 500
MAX_PLANS = 512


@dataclass(frozen=True, slots=True)
class Launcher:
    """One program and how to start it; `plans` is shared by all programs of a judge."""

    sandbox: Sandbox
    source: str
    limits: RunLimits
    stop_early: bool = True
    on_first_value: Callable[[], object] = lambda: None
    plans: dict[str, CallPlan] = field(default_factory=dict)
    made: list[Call] | None = None  # where the calls of the tests are to be recorded

    def other(self, source: str, made: list[Call] | None = None) -> "Launcher":
        """The same for another program, such as the reference; no plans, and nobody is told."""
        return replace(self, source=source, made=made, plans={}, on_first_value=lambda: None)

    def proxy(self, imports: list[str], plan: CallPlan | None = None) -> ProgramProxy:
        """The program, loaded after the data set's own import lines and asked all of a plan; raises NotLoaded."""
        prefix = bare_imports("\n".join(imports)) if imports else ""
        source = with_prefix(prefix, self.source)
        proxy = ProgramProxy(lambda asked: self._load(source, asked), self.on_first_value, plan)
        proxy.made = self.made
        return proxy

    def plan(self, key: str) -> CallPlan:
        """The plan of the tests `key`, a new one where there is none."""
        if key not in self.plans:
            if len(self.plans) >= MAX_PLANS:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = CallPlan()
        return self.plans[key]

    def _load(self, source: str, plan: CallPlan) -> Started:
        program = self.sandbox.open(self.limits)
        outcomes = program.load_and_call(source, plan.frames, len(plan.keys))
        outcome = next(outcomes)
        if outcome.ending is Ending.RETURNED:
            return Started(program, outcome, outcomes)
        program.close()
        raise NotLoaded(outcome)


def load_failure(names: list[str], outcome: Outcome) -> Verdict:
    """The verdict on a program that could not be loaded: no test passed."""
    reason = f"the program could not be loaded: {outcome.reason}"[:MAX_REASON]
    return Verdict(
        results=[TestResult(name, passed=False, reason=reason) for name in names or ["load"]],
        conclusion=conclusion_of(outcome) if outcome.ending.is_final else Conclusion.UNLOADED,
        reason=reason,
        stdout=tail(outcome.stdout),
        stderr=tail(outcome.stderr),
        tier=outcome.tier.label,
        cpu_s=outcome.cpu_s,
    )
