"""What judging one program needs: how to start it, under which limits, and whom to tell of its first answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.judging.missing_packages import import_failure, missing_package
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy, conclusion_of, tail
from plaudit.sandbox.judging.rewriting.names import bare_imports, with_prefix
from plaudit.sandbox.judging.verdict import Conclusion, TestResult, Verdict
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Call, Program

__all__ = ["Launcher", "ProgramSource", "load_failure"]

MAX_REASON = 500


class ProgramSource(Protocol):
    """Where processes for programs come from: a sandbox, or the client of a judge."""

    def open(self, limits: RunLimits) -> Program:
        """A process for one program."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """One program and how to start it; `made` is where the calls of the tests are recorded."""

    programs: ProgramSource
    source: str
    limits: RunLimits
    stop_early: bool = True
    on_first_value: Callable[[], object] = lambda: None
    made: list[Call] | None = None

    def other(self, source: str, made: list[Call] | None = None) -> "Launcher":
        """The same for another program, such as the reference, of whose answers nobody is told."""
        return replace(self, source=source, made=made, on_first_value=lambda: None)

    def proxy(self, imports: list[str]) -> ProgramProxy:
        """The program, loaded after the data set's own import lines; raises NotLoaded."""
        prefix = bare_imports("\n".join(imports)) if imports else ""
        source = with_prefix(prefix, self.source)
        proxy = ProgramProxy(lambda: self._load(source), self.on_first_value)
        proxy.made = self.made
        return proxy

    def _load(self, source: str) -> tuple[Program, Outcome]:
        program = self.programs.open(self.limits)
        outcome = program.load(source)
        if outcome.ending is Ending.RETURNED:
            return program, outcome
        program.close()
        raise NotLoaded(outcome)


def load_failure(launcher: Launcher, names: list[str], outcome: Outcome) -> Verdict:
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
        missing_package=missing_package(launcher.source, import_failure(outcome)),
    )
