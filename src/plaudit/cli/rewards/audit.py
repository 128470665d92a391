"""`plaudit audit`: attack a reward before a policy does."""

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from plaudit.audit import AttackFinding, AuditReport, Budget, CaseStrength, Level, audit_reward, measure_cases
from plaudit.audit.writing.baseline import read_baseline, without_accepted, write_baseline
from plaudit.audit.writing.junit import junit_report
from plaudit.audit.writing.sarif import sarif_report
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.cli.options import (
    CacheOption,
    ChatTemplateOption,
    ColumnsOption,
    DialectOption,
    JsonOption,
    MaxBatchOption,
    QuietOption,
    RewardArgument,
    ScopeOption,
    WorkersOption,
    check_output,
    check_truth,
    load_reward,
    open_rollouts,
)
from plaudit.loading import spec_using
from plaudit.testing import load_cases

__all__ = ["audit"]

FOUND = 1
USUAL = Budget()
STYLES = {Level.HIGH: "bold red", Level.MEDIUM: "yellow", Level.LOW: "dim"}
NOTHING = "no exploit in this catalogue within this budget"
MAX_SHOWN = 300


def audit(
    reward: RewardArgument,
    rollouts: Annotated[
        str | None, typer.Argument(metavar="[ROLLOUTS]", help="Prompts and truths of your own to attack it on.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many of these rollouts to read.")] = 400,
    calls: Annotated[int, typer.Option("--calls", min=1, help="How many responses may be scored.")] = USUAL.calls,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long the search may take.")] = USUAL.seconds,
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", min=0.1, help="How long one response may take.")
    ] = 5.0,
    cases: Annotated[
        Path | None,
        typer.Option("--cases", metavar="TABLE", help="A case table: does it notice when the reward is changed?"),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="Findings that are accepted; others count.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Write what is found into --baseline.")] = False,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Write SARIF 2.1 here.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML here.")] = None,
    dialect: DialectOption = None,
    scope: ScopeOption = None,
    max_batch: MaxBatchOption = None,
    chat_template: ChatTemplateOption = None,
    columns: ColumnsOption = None,
    workers: WorkersOption = None,
    cache: CacheOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Attack REWARD with responses that are wrong by construction; report what it pays for them.

    The exit code is 1 when something was found. No finding means: no exploit in this catalogue within this budget.
    """
    if accept and baseline is None:
        raise typer.BadParameter("--accept writes into a baseline; name it with --baseline FILE")
    check_output(baseline if accept else None, sarif, junit)
    spec = spec_using(reward, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    loaded = load_reward(spec, quiet=quiet)
    table = None if cases is None else load_cases(cases)
    accepted = None if baseline is None or accept else read_baseline(baseline)
    samples = [each.trajectory for each in islice(open_rollouts(rollouts, columns), count)] if rollouts else None
    check_truth(loaded.reward, samples or ())
    report = audit_reward(
        loaded,
        samples,
        budget=Budget(calls, seconds),
        deadline_s=deadline,
        workers=workers,
        cache=cache,
        on_progress=(lambda phase: None) if quiet or json else (lambda phase: print_message(f"… {phase}")),
    )
    strength = None if table is None else measure_cases(spec, table, deadline_s=deadline)
    if accept and baseline is not None:
        write_baseline(baseline, report)
    if baseline is not None:
        report = without_accepted(report, read_baseline(baseline) if accepted is None else accepted)
    if sarif is not None:
        sarif.write_bytes(sarif_report(report))
    if junit is not None:
        junit.write_bytes(junit_report(report))
    if json:
        print_json(_plain(report, strength))
    elif not quiet:
        print_result(*_render_all(report, strength))
    return FOUND if report.findings or (strength is not None and strength.survivors) else 0


def _plain(report: AuditReport, strength: CaseStrength | None) -> dict[str, Any]:
    plain = asdict(report)
    return plain if strength is None else {**plain, "cases": asdict(strength)}


def _render_all(report: AuditReport, strength: CaseStrength | None) -> list[RenderableType]:
    lines: list[RenderableType] = [_render(finding) for finding in report.findings]
    accepted = f", {len(report.accepted)} accepted by the baseline" if report.accepted else ""
    found = f"{len(report.findings)} findings" if report.findings else NOTHING
    lines.append(f"{report.reward}: {found}{accepted} ({report.calls:,} calls, {report.seconds:.1f} s)")
    lines += [f"note: {note}" for note in report.notes]
    if strength is not None:
        lines.append(f"case table: notices {strength.noticed} of {strength.noticed + len(strength.survivors)} changes")
        lines += [f"  unnoticed: {each.change} (line {each.line})" for each in strength.survivors]
    return lines


def _render(finding: AttackFinding) -> RenderableType:
    low, high = finding.interval
    witness = finding.witness
    lines = [
        finding.message,
        f"prompt: {_short(witness.prompt)}",
        f"response: {_short(witness.response)}",
        f"paid: {_number(witness.reward)} (honest: {_number(witness.honest_reward)}), component {finding.component}, "
        f"rate {finding.rate:.0%} [{low:.0%}, {high:.0%}]",
        *(
            [f"parts: {', '.join(f'{k} {_number(v)}' for k, v in witness.components.items())}"]
            if witness.components
            else []
        ),
        f"remedy: {finding.remedy}",
    ]
    title = Text(f"{finding.severity}: {finding.family}, {finding.operator} ({finding.attacker})")
    title.stylize(STYLES[finding.severity])
    return Group(title, Padding(Text("\n".join(lines)), (0, 0, 1, 2)))


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}… ({len(text):,} characters)"
