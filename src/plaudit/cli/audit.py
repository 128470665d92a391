"""`plaudit audit`: attack a reward before a policy does."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text
from typer import Option

from plaudit.audit import AttackFinding, AuditReport, Budget, Level, audit_environment, audit_reward, examples_of
from plaudit.audit.findings import read_baseline, without_accepted, write_baseline
from plaudit.audit.hits import ANY_LENGTH, ANY_TEXT, FEW
from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_ATTACKED, NOT_PASSED, OptionGroup
from plaudit.loading import find_agent
from plaudit.report.formatting import count_noun, format_optional, shorten
from plaudit.testing import load_cases

USUAL = Budget()
STYLES = {Level.HIGH: "bold red", Level.MEDIUM: "yellow", Level.LOW: "dim"}
NOTHING = "no exploit in this catalogue within this budget"
NO_BASIS = "not attacked: no honest answer was paid more than another"
MAX_SHOWN = 300
FIRST_SAMPLES = options.Rows(limit=400)


class Search(OptionGroup):
    """How long an attack may take, and where responses are scored."""

    calls: Annotated[int, Option("--calls", min=1, help="How many responses may be scored.")] = USUAL.calls
    seconds: Annotated[float, Option("--seconds", min=0.1, help="How long the search may take.")] = USUAL.seconds
    deadline: Annotated[float, Option("--deadline", metavar="SECONDS", min=0.1, help="Time limit per response.")] = 5.0
    workers: options.Workers = None
    cache: options.Cache = None


class Baseline(OptionGroup):
    """The file with accepted findings."""

    baseline: Annotated[Path | None, options.file_option("--baseline", "Accepted findings; others count.")] = None
    accept: Annotated[bool, Option("--accept", help="Write what is found into --baseline.")] = False

    def check(self) -> None:
        """Raise, before anything is attacked, for a file that cannot be written or read."""
        if self.accept and self.baseline is None:
            raise typer.BadParameter("--accept writes into a baseline; name it with --baseline FILE")
        if self.accept:
            options.check_output(self.baseline)
        elif self.baseline is not None:
            read_baseline(self.baseline)

    def apply(self, report: AuditReport) -> AuditReport:
        """The report without accepted findings; with --accept, all of them are accepted."""
        if self.baseline is None:
            return report
        if self.accept:
            write_baseline(self.baseline, report)
        return without_accepted(report, read_baseline(self.baseline))


def audit(
    reward: options.Reward,
    reading: options.Reading,
    search: Search,
    baseline: Baseline,
    output: options.Output,
    rollouts: options.MoreRollouts = None,
    rows: options.Rows = FIRST_SAMPLES,
    cases: Annotated[Path | None, Option("--cases", metavar="TABLE", help="A case table, used like rollouts.")] = None,
    every: Annotated[bool, Option("--all", help="Show every finding, not one for each cause.")] = False,
) -> int:
    """Attack REWARD with responses that are wrong by construction, and report those that it pays for.

    An environment is attacked by policies that do not reach its goal. Rows in ROLLOUTS are starts that fit it, and a
    column `actions` holds the actions that solve one.

    The exit code is 1 if something was found, and 4 if nothing was found because the attacks had no basis: no honest
    answer was paid. Otherwise, no finding means: no exploit in this catalogue within this budget.
    """
    baseline.check()
    on_progress = (lambda phase: None) if output.json else (lambda phase: output.note(f"… {phase}"))
    samples = [] if cases is None else [case.trajectory for case in load_cases(cases).cases]
    samples += rows.read_samples(rollouts, needs_response=False)
    agent = find_agent(reward)
    if agent is not None:
        report = audit_environment(agent, examples_of(samples), deadline_s=search.deadline, on_progress=on_progress)
    else:
        loaded = output.load(reading.spec(reward))
        options.check_truth(loaded.reward, samples)
        report = audit_reward(
            loaded, samples or None, budget=Budget(search.calls, search.seconds), deadline_s=search.deadline,
            workers=search.workers, cache=search.cache, on_progress=on_progress,
        )  # fmt: skip
    report = baseline.apply(report)
    causes = [_cause(group) for group in report.by_cause()]
    output.show({**asdict(report), "causes": causes}, *_render_all(report, every=every))
    if report.findings:
        return NOT_PASSED
    return DONE if report.searched or report.accepted else NOT_ATTACKED


def _cause(group: list[AttackFinding]) -> dict[str, Any]:
    """Findings with one cause, for programs."""
    operators = [finding.operator for finding in group]
    return {"cause": group[0].cause, "component": group[0].component, "count": len(group), "operators": operators}


def _render_all(report: AuditReport, *, every: bool) -> list[RenderableType]:
    groups = [[finding] for finding in report.findings] if every else report.by_cause()
    lines: list[RenderableType] = [_render(group) for group in groups]
    accepted = f", {len(report.accepted)} accepted by the baseline" if report.accepted else ""
    verdict = NOTHING if report.searched else NO_BASIS
    if report.findings:
        causes = len(report.by_cause())
        verdict = f"{count_noun(len(report.findings), 'finding')} with {count_noun(causes, 'cause')}"
    lines.append(f"{escape(report.reward)}: {verdict}{accepted} ({report.calls:,} calls, {report.seconds:.1f} s)")
    lines += [f"tried: contract{''.join(f', {phase}' for phase in report.searched)}"]
    lines += [f"not tried: {escape(reason)}" for reason in report.untried]
    lines += [f"note: {escape(note)}" for note in report.notes]
    return lines


def _render(group: list[AttackFinding]) -> RenderableType:
    """Findings with one cause: the first with its witness, the others by name."""
    finding, *others = group
    witness = finding.witness
    paid, honest = (format_optional(reward, "{:g}") for reward in (witness.reward, witness.honest_reward))
    facts = {
        "prompt": _short(witness.prompt),
        "ground truth": None if witness.ground_truth is None else _short(witness.ground_truth),
        "response": _short(witness.response),
        "paid": f"{paid} (honest: {honest}), component {finding.component}, on {_paid_on(finding)}",
        "parts": ", ".join(f"{name} {format_optional(value, '{:g}')}" for name, value in witness.components.items()),
        "remedy": finding.remedy,
        f"{len(others)} more with this cause": ", ".join(each.operator for each in others),
    }
    lines = [finding.message, *(f"{name}: {text}" for name, text in facts.items() if text)]
    shown = finding.cause if finding.cause in (ANY_TEXT, ANY_LENGTH) else f"{finding.family}, {finding.operator}"
    title = Text(f"{finding.severity}: {shown} ({finding.attacker})")
    title.stylize(STYLES[finding.severity])
    return Group(title, Padding(Text("\n".join(lines)), (0, 0, 1, 2)))


def _paid_on(finding: AttackFinding) -> str:
    """On how many prompts it was paid; a rate with its interval where there are enough of them."""
    paid = round(finding.rate * finding.prompts)
    if finding.prompts < FEW:
        return f"{paid} of {count_noun(finding.prompts, 'prompt')}"
    low, high = finding.interval
    return f"{paid} of {finding.prompts} prompts: rate {finding.rate:.0%} [{low:.0%}, {high:.0%}]"


def _short(value: Any) -> str:
    return shorten(repr(value), MAX_SHOWN)
