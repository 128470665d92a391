"""`plaudit diff`: compare two rewards, or two scored files, on the same samples."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plaudit import report as reports
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.diff import Difference, Disagreement, compare_pairs, pair_files, pair_rewards
from plaudit.diff.matching import ScoredPair
from plaudit.rollouts import Rollout
from plaudit.trajectory import Trajectory

__all__ = ["diff"]

DIFFERENT = 1
MAX_TEXT = 60


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A reward, or a scored file.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another reward, or the same samples scored again.")],
    rollouts: Annotated[
        str | None, typer.Argument(metavar="[ROLLOUTS]", help="Samples to score with both rewards.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="From which score or reward on a sample is right.")
    ] = 0.5,
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="How many disagreements to show.")] = 10,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write a page that shows both sides.")
    ] = None,
    columns: options.Columns = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    workers: options.Workers = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
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
        rewards = options.load_reward(old, quiet=quiet), options.load_reward(new, quiet=quiet)
        samples: Iterator[Trajectory] = (rollout.trajectory for rollout in options.open_rollouts(rollouts, columns))
        for each in rewards:
            samples = options.check_truth(each.reward, samples)
        pairs = pair_rewards(*rewards, samples, backend="processes", deadline_s=deadline or None, workers=workers)
    kept = list(pairs) if out else pairs
    difference = compare_pairs(kept, threshold=threshold)
    if out and isinstance(kept, list):
        _write_page(out, difference, kept, old, new)
    if json:
        print_json(difference.to_dict())
    else:
        print_result(*_render(difference, count))
    if out and not quiet:
        print_message(f"the page is in {out}; open it in a browser")
    return DIFFERENT if difference.flips or difference.status_changes else 0


def _write_page(out: Path, difference: Difference, pairs: list[ScoredPair], old: str, new: str) -> None:
    runs = [
        reports.build_report(name, (Rollout(*scored) for scored in side), room=reports.MAX_BYTES // 2)
        for name, side in (
            (old, ((trajectory, output) for trajectory, output, _ in pairs)),
            (new, ((trajectory, output) for trajectory, _, output in pairs)),
        )
    ]
    reports.write_page(runs, out, difference=difference)


def _render(difference: Difference, rows: int) -> list[RenderableType]:
    groups = difference.groups
    lines: list[RenderableType] = [
        f"{difference.count:,} samples, {difference.changed:,} rewards differ, {len(difference.flips):,} flip",
        f"mean reward     {_number(difference.mean.old)} → {_number(difference.mean.new)}{_compared(difference)}",
        f"median latency  {_seconds(difference.latency_s.old)} → {_seconds(difference.latency_s.new)}",
        *(f"status          {change}: {count:,}" for change, count in difference.status_changes.items()),
    ]
    if groups.compared:
        lines += [
            f"order in groups {_share(groups.order_agreement)} of the ordered pairs alike, {groups.compared:,} groups",
            f"advantages      cosine {_number(groups.advantage_cosine)}",
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
        table.add_row(
            marked, _value(each.old, each.old_status), _value(each.new, each.new_status),
            Text(text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"),
        )  # fmt: skip
    return table


def _value(reward: float | None, status: str) -> str:
    return status if reward is None else f"{reward:.4g}"


def _compared(difference: Difference) -> str:
    """How many samples the means leave out."""
    left_out = difference.count - difference.compared
    return f" (over the {difference.compared:,} samples that both score)" if left_out else ""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _seconds(value: float | None) -> str:
    return "none" if value is None else f"{1000 * value:.3g} ms"


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"
