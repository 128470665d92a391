"""Compare two rewards or scored files (`plaudit diff`), and labels with answers (`plaudit labels`)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from plaudit import jsonline
from plaudit import labels as label_tools
from plaudit import report as reports
from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED, OptionGroup
from plaudit.diff import Difference, Disagreement, compare_pairs, pair_files, pair_rewards
from plaudit.diff.difference import RIGHT
from plaudit.diff.matching import ScoredPair
from plaudit.engine import Scorer
from plaudit.report.formatting import bare_table, format_duration, format_optional, shorten
from plaudit.rollouts import Rollout, RolloutsWriter
from plaudit.trajectory import Trajectory

MAX_TEXT = 60


def diff(
    old: Annotated[str, Argument(metavar="OLD", help="A reward, or a scored file.")],
    new: Annotated[str, Argument(metavar="NEW", help="Another reward, or the same samples scored again.")],
    output: options.Output,
    processes: options.Processes,
    rollouts: Annotated[str | None, Argument(metavar="[ROLLOUTS]", help="Samples to score with both rewards.")] = None,
    threshold: options.Threshold = RIGHT,
    count: Annotated[int, options.count("How many disagreements to show.", least=0)] = 10,
    out: Annotated[Path | None, options.out_file("Write a page that shows both sides.")] = None,
    columns: options.Columns = None,
) -> int:
    """Compare two rewards on ROLLOUTS, or two scored files: flips, order within groups, advantages, statuses.

    The exit code is 1 when a sample flips or its status changes; rewards that differ by less do not count.
    """
    options.check_output(out)
    if rollouts is None:
        for path in (old, new):
            if not Path(path).is_file():
                raise typer.BadParameter(f"{path!r} is not a file; two rewards need ROLLOUTS to be compared on")
        pairs: Iterable[ScoredPair] = pair_files(old, new, columns=options.column_mapping(columns))
    else:
        rewards = output.load(old), output.load(new)
        samples: Iterator[Trajectory] = (rollout.trajectory for rollout in options.open_rollouts(rollouts, columns))
        for each in rewards:
            samples = options.check_truth(each.reward, samples)
        pairs = pair_rewards(*rewards, samples, **processes.settings)
    kept = list(pairs) if out else pairs
    difference = compare_pairs(kept, threshold=threshold)
    if out and isinstance(kept, list):
        _write_page(out, difference, kept, old, new)
    output.show(difference.to_dict(), *_render_difference(difference, count))
    if out:
        output.note(f"the page is in {out}; open it in a browser")
    return NOT_PASSED if difference.flips or difference.status_changes else DONE


def _write_page(out: Path, difference: Difference, pairs: list[ScoredPair], old: str, new: str) -> None:
    runs = [
        reports.build_report(name, (Rollout(*scored) for scored in side), max_bytes=reports.MAX_BYTES // 2)
        for name, side in (
            (old, ((trajectory, output) for trajectory, output, _ in pairs)),
            (new, ((trajectory, output) for trajectory, _, output in pairs)),
        )
    ]
    reports.write_page(runs, out, difference=difference)


def _render_difference(difference: Difference, rows: int) -> list[RenderableType]:
    groups = difference.groups
    means = " → ".join(map(format_optional, (difference.mean.old, difference.mean.new)))
    order = format_optional(groups.order_agreement, "{:.1%}")
    lines: list[RenderableType] = [
        f"{difference.count:,} samples, {difference.changed:,} rewards differ, {len(difference.flips):,} flip",
        f"mean reward     {means}{_compared(difference)}",
        f"median latency  {_duration(difference.latency_s.old)} → {_duration(difference.latency_s.new)}",
        *(f"status          {change}: {count:,}" for change, count in difference.status_changes.items()),
    ]
    if groups.compared:
        lines += [
            f"order in groups {order} of the ordered pairs alike, {groups.compared:,} groups",
            f"advantages      cosine {format_optional(groups.advantage_cosine)}",
            f"dead groups     {groups.dead_old:,} → {groups.dead_new:,} ({groups.dead_gained:,} gained, "
            f"{groups.dead_lost:,} lost)",
        ]
    shown = [*difference.flips, *(each for each in difference.worst if each not in difference.flips)][:rows]
    if shown:
        lines.append(_table(shown, {each.index for each in difference.flips}))
    if len(difference.flips) > rows:
        lines.append(f"{len(difference.flips) - rows:,} more flips; --count or --json shows them")
    return lines


def _table(disagreements: list[Disagreement], flipped: set[int]) -> Table:
    table = Table("sample", "old", "new", "response")
    for each in disagreements:
        name = f"{each.index}" if each.id is None else f"{each.index} ({each.id})"
        marked = Text(name, style="bold" if each.index in flipped else "")
        text = " ".join(each.response.split())
        old, new = format_optional(each.old, absent=each.old_status), format_optional(each.new, absent=each.new_status)
        table.add_row(marked, old, new, Text(shorten(text, MAX_TEXT)))
    return table


def _duration(seconds: float | None) -> str:
    return "none" if seconds is None else format_duration(seconds)


def _compared(difference: Difference) -> str:
    """The number of samples that the means leave out."""
    left_out = difference.count - difference.compared
    return f" (over the {difference.compared:,} samples that both score)" if left_out else ""


class LabelFiles(OptionGroup):
    """The files that are made of findings."""

    out: Annotated[Path | None, options.out_file("Write a page on which to decide on findings.")] = None
    decisions: Annotated[
        Path | None, options.file_option("--decisions", "The decisions that were downloaded from the page.")
    ] = None
    patch: Annotated[Path | None, options.file_option("--patch", "Write corrected labels, as JSON lines.")] = None
    mask: Annotated[Path | None, options.file_option("--mask", "Write the rollouts with label_suspect.")] = None
    cases: Annotated[Path | None, options.file_option("--cases", "Write misjudged responses as a case table.")] = None
    overwrite: options.Overwrite = False

    def write(self, report: "label_tools.LabelReport", rollouts: list[Rollout], name: str, reward: str) -> None:
        """Write the files that the options name."""
        decided = None if self.decisions is None else label_tools.read_decisions(self.decisions)
        if self.out is not None:
            label_tools.write_page(self.out, report, f"Labels of {name}")
        if self.patch is not None:
            rows = label_tools.build_patch(report, decided)
            self.patch.write_bytes(b"".join(jsonline.encode(row) + b"\n" for row in rows))
        if self.mask is not None:
            with RolloutsWriter(self.mask, overwrite=True) as writer:
                for rollout in label_tools.masked_rollouts(rollouts, report, decided):
                    writer.write(rollout)
        if self.cases is not None:
            self.cases.write_text(label_tools.build_cases(report, reward), encoding="utf-8")


def labels(
    rollouts: options.Rollouts,
    rows: options.Rows,
    files: LabelFiles,
    processes: options.Processes,
    output: options.Output,
    reward: Annotated[
        str | None, Option("--reward", metavar="REWARD", help="Score with it first; else the file's own scores count.")
    ] = None,
    threshold: options.Threshold = RIGHT,
    count: Annotated[int, options.count("How many findings to show.", least=0)] = 20,
) -> int:
    """Find wrong labels and misjudged responses in ROLLOUTS with several responses to each prompt.

    Labels are compared with the answers that responses agree on; what was paid is compared with both. The exit code
    is 1 when something was found.
    """
    options.check_output(files.out, files.patch, files.mask, files.cases, overwrite=files.overwrite)
    kept = rows.read(rollouts)
    if reward is not None:
        with Scorer(output.load(reward), **processes.settings) as scorer:
            kept = list(scorer.score_stream([each.trajectory for each in kept], interleaved=True))
    report = label_tools.examine(kept, threshold)
    files.write(report, kept, Path(rollouts).name, reward or "math")
    output.show(report.to_dict(), *_render_labels(report, count))
    if files.out is not None:
        output.note(f"the page is in {files.out}; open it in a browser")
    return NOT_PASSED if report.findings else DONE


def _render_labels(report: "label_tools.LabelReport", count: int) -> list[RenderableType]:
    left_out = f", {report.unread} without a readable answer" if report.unread else ""
    unscored = f", {report.unscored} not scored" if report.unscored else ""
    unlabelled = f", {report.unlabelled} samples without a label left out" if report.unlabelled else ""
    lines: list[RenderableType] = [
        f"{report.groups:,} groups, {report.responses:,} responses{left_out}{unscored}{unlabelled}",
        report.label_errors,
    ]
    if not report.findings:
        return [*lines, "nothing was found"]
    rows = (
        (
            f"{each.affected:.1f}",
            each.kind.value if each.probability is None else f"{each.kind.value} ({each.probability:.0%})",
            each.group[:40],
            each.evidence,
        )
        for each in report.findings[:count]
    )
    table = bare_table("affected", "what", "group", "evidence", rows=rows)
    more = len(report.findings) - count
    return [*lines, table, *([f"… and {more} more (-n shows more, -o writes a page)"] if more > 0 else [])]
