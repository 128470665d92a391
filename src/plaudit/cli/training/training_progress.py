"""A training run as it goes on: a live line on a terminal, a line every few steps in a pipe; and its end as a table."""

import math
from collections.abc import Mapping
from types import TracebackType

from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from plaudit.cli.console import print_message, stderr_console
from plaudit.training.config.schema import RunConfig
from plaudit.training.engines.engine import Outcome

__all__ = ["TrainingProgress", "outcome_table"]

SHOWN = {
    "reward": "reward {:.3f}",
    "score": "score {:.3f}",
    "kl": "kl {:.4f}",
    "entropy": "entropy {:.3f}",
    "length": "length {:.1f}",
    "filter/share": "left out {:.0%}",
    "tokens_per_s": "{:,.0f} tok/s",
}
LINES = 12
"""How many lines a pipe gets, besides evaluations."""
EVALUATIONS = {"eval/score": "score", "eval/greedy": "greedy score", "eval/reward": "reward", "eval/length": "length"}


class TrainingProgress:
    """Draws a run; use it as a context manager around the run."""

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        console = stderr_console()
        self._steps, self._quiet, self._live = config.steps, quiet, console.is_terminal and not quiet
        self._every = max(1, config.steps // LINES)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}"),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._warming: TaskID | None = None
        self._training: TaskID | None = None

    def __enter__(self) -> "TrainingProgress":
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._progress.stop()

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""
        if self._warming is None:
            self._warming = self._progress.add_task("warm start", total=steps, numbers="")
        self._progress.update(self._warming, completed=step, numbers=f"loss {loss:.3f}", visible=step < steps)
        if step == steps and not self._quiet:
            print_message(f"warm start: {steps} supervised steps, loss {loss:.3f}")

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken."""
        if self._training is None:
            self._training = self._progress.add_task("training", total=self._steps, numbers="")
        numbers = _numbers(metrics)
        self._progress.update(self._training, completed=step, numbers=numbers)
        evaluated = "eval/length" in metrics
        if not self._quiet and (evaluated or (not self._live and step % self._every == 0)):
            said = ", ".join(part for part in (_evaluation(metrics) if evaluated else "", numbers) if part)
            print_message(f"step {step:>{len(str(self._steps))}}: {said}")

    def note(self, text: str) -> None:
        """Something else that the user should know."""
        if not self._quiet:
            print_message(text)


def outcome_table(outcome: Outcome) -> RenderableType:
    """The evaluations before and after, and where everything is."""
    table = Table("held out", "before", "after", box=None, padding=(0, 2, 0, 0))
    for key in (*EVALUATIONS, *sorted(key for key in outcome.after if key.startswith("eval/pass@"))):
        if key in outcome.after:
            before = outcome.before.get(key)
            table.add_row(
                EVALUATIONS.get(key, key.removeprefix("eval/")),
                "" if before is None else f"{before:.3f}",
                f"{outcome.after[key]:.3f}",
            )
    return Group(table, Text(f"{outcome.step} steps; everything is in {outcome.folder.path}"))


def _numbers(metrics: Mapping[str, float]) -> str:
    parts_shown = [
        form.format(metrics[key])
        for key, form in SHOWN.items()
        if key in metrics and not (key == "filter/share" and not metrics[key])
    ]
    parts = [metrics.get(f"time/{part}", 0.0) for part in ("sample", "reward", "update")]
    if total := math.fsum(parts):
        parts_shown.append("sample/reward/update " + "/".join(f"{part / total:.0%}" for part in parts))
    if metrics.get("status/ok", 1.0) < 1.0:
        parts_shown.append(f"{1.0 - metrics['status/ok']:.1%} not scored")
    return "  ".join(parts_shown)


def _evaluation(metrics: Mapping[str, float]) -> str:
    names = {key: name for key, name in EVALUATIONS.items() if key in metrics and key in ("eval/score", "eval/greedy")}
    names = names or {"eval/reward": "reward"}
    return "held out: " + ", ".join(f"{name} {metrics[key]:.3f}" for key, name in names.items() if key in metrics)
