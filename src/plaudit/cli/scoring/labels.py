"""`plaudit labels`: find wrong labels and misjudged responses in rollouts."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import RenderableType
from rich.table import Table

from plaudit import jsonline
from plaudit import labels as label_tools  # which imports numpy when it is used
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.engine import Scorer
from plaudit.loading import Loaded
from plaudit.rollouts import Rollout, RolloutsWriter

__all__ = ["labels"]

FOUND = 1
Decisions: TypeAlias = "Mapping[str, tuple[label_tools.Decision, str]]"


def labels(
    rollouts: options.Rollouts,
    reward: Annotated[
        str | None,
        typer.Option("--reward", metavar="REWARD", help="Score with this reward first; else the file's own scores."),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="From which score or reward on a sample is right.")
    ] = 0.5,
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="How many findings to show.")] = 20,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write a page on which to decide on findings.")
    ] = None,
    decisions: Annotated[
        Path | None, typer.Option("--decisions", metavar="FILE", help="Decisions that were downloaded from the page.")
    ] = None,
    patch: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="Write corrected labels here, as JSON lines.")
    ] = None,
    mask: Annotated[
        Path | None, typer.Option("--mask", metavar="FILE", help="Write the rollouts with a column label_suspect here.")
    ] = None,
    cases: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="Write misjudged responses as a case table here.")
    ] = None,
    columns: options.Columns = None,
    limit: options.Limit = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    workers: options.Workers = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Find wrong labels and misjudged responses in ROLLOUTS with several responses to each prompt.

    Labels are compared with the answers that responses agree on; what was paid is compared with both. The exit code
    is 1 when something was found.
    """
    options.check_output(out, patch, mask, cases, overwrite=overwrite)
    decided = None if decisions is None else label_tools.read_decisions(decisions)
    kept = list(islice(options.open_rollouts(rollouts, columns), limit))
    if reward is not None:
        kept = _scored(kept, options.load_reward(reward, quiet=quiet), deadline or None, workers)
    report = label_tools.examine(kept, threshold)
    _write(report, kept, decided, (out, patch, mask, cases), f"Labels of {Path(rollouts).name}", reward or "math")
    if json:
        print_json(report.to_dict())
    else:
        print_result(*_render(report, count))
    if out is not None and not quiet:
        print_message(f"the page is in {out}; open it in a browser")
    return FOUND if report.findings else 0


def _write(
    report: "label_tools.LabelReport",
    rollouts: list[Rollout],
    decided: "Decisions | None",
    files: tuple[Path | None, Path | None, Path | None, Path | None],
    title: str,
    reward: str,
) -> None:
    """Write the page, the patch, the mask and the cases that were asked for."""
    page, patch, mask, cases = files
    if page is not None:
        label_tools.write_page(page, report, title)
    if patch is not None:
        with patch.open("w", encoding="utf-8") as file:
            file.writelines(jsonline.encode(each).decode() + "\n" for each in label_tools.build_patch(report, decided))
    if mask is not None:
        with RolloutsWriter(mask, overwrite=True) as writer:
            for rollout in label_tools.masked_rollouts(rollouts, report, decided):
                writer.write(rollout)
    if cases is not None:
        cases.write_text(label_tools.build_cases(report, reward), encoding="utf-8")


def _scored(rollouts: list[Rollout], loaded: Loaded, deadline_s: float | None, workers: int | None) -> list[Rollout]:
    samples = [each.trajectory for each in rollouts]
    with Scorer(loaded, backend="processes", deadline_s=deadline_s, workers=workers) as scorer:
        return [Rollout(*pair) for pair in zip(samples, scorer.score(samples), strict=True)]


def _render(report: "label_tools.LabelReport", count: int) -> list[RenderableType]:
    low, high = report.interval
    left_out = f", {report.unread} without a readable answer" if report.unread else ""
    unscored = f", {report.unscored} not scored" if report.unscored else ""
    unlabelled = f", {report.unlabelled} samples without a label left out" if report.unlabelled else ""
    lines: list[RenderableType] = [
        f"{report.groups:,} groups, {report.responses:,} responses{left_out}{unscored}{unlabelled}",
        f"wrong labels: about {report.error_rate:.1%} (95 % interval {low:.1%} to {high:.1%})",
    ]
    if not report.findings:
        return [*lines, "nothing was found"]
    table = Table("affected", "what", "group", "evidence", box=None, pad_edge=False)
    for finding in report.findings[:count]:
        chance = "" if finding.probability is None else f" ({finding.probability:.0%})"
        table.add_row(f"{finding.affected:.1f}", f"{finding.kind.value}{chance}", finding.group[:40], finding.evidence)
    more = len(report.findings) - count
    return [*lines, table, *([f"… and {more} more (-n shows more, -o writes a page)"] if more > 0 else [])]
