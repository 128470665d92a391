"""A training run as it goes on: a live line on a terminal, a line every few steps in a pipe; and its end as a table."""

from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType

from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from plaudit.cli.console import print_message, stderr_console
from plaudit.report.coverage import CoveredMean, format_mean
from plaudit.training.config.schema import RunConfig
from plaudit.training.engine import Outcome

__all__ = ["TrainingProgress", "outcome_table"]

LINES = 12
"""How many lines a pipe gets, besides evaluations."""
EVALUATIONS = {
    "eval/score": "score", "eval/greedy": "greedy score", "eval/reward": "reward",
    "eval/greedy_reward": "greedy reward", "eval/length": "length",
}  # fmt: skip


class TrainingProgress:
    """Draws a run; use it as a context manager around the run."""

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        console = stderr_console()
        self._steps, self._quiet, self._live = config.steps, quiet, console.is_terminal and not quiet
        self._every = max(1, config.steps // LINES)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
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
            said = "; ".join(part for part in (numbers, _evaluation(metrics) if evaluated else "") if part)
            print_message(f"step {step:>{len(str(self._steps))}}/{self._steps}{self._time_left()}: {said}")

    def _time_left(self) -> str:
        """How long the rest takes, where that can be told."""
        task = self._progress.tasks[self._training] if self._training is not None else None
        left = None if task is None else task.time_remaining
        return "" if not left else f", {timedelta(seconds=round(left))} left"

    def note(self, text: str) -> None:
        """Something else that the user should know."""
        if not self._quiet:
            print_message(text)


def outcome_table(outcome: Outcome) -> RenderableType:
    """The evaluations before and after, and where everything is."""
    table = Table("held out", "before", "after", box=None, padding=(0, 2, 0, 0))
    passes = sorted(key for key in outcome.after if key.startswith("eval/pass@") and "_" not in key)
    for key in (*EVALUATIONS, *passes, *_by_task(outcome.after)):
        if key in outcome.after:
            table.add_row(
                EVALUATIONS.get(key, key.removeprefix("eval/").removeprefix("task/").replace("/score", ": score")),
                _mean(outcome.before, key),
                _mean(outcome.after, key),
            )
    unscored = outcome.folder.unscored_share()
    note = f"{unscored:.1%} of the samples were not scored; " if unscored else ""
    return Group(table, Text(f"{note}{outcome.step} steps; everything is in {outcome.folder.path}"))


def _by_task(metrics: Mapping[str, float]) -> list[str]:
    """The keys that tell how well each of several tasks is done: scores, or rewards where there are none."""
    tasks = [key for key in metrics if key.startswith("eval/task/")]
    return [key for key in tasks if key.endswith("/score")] or [key for key in tasks if key.endswith("/reward")]


def _numbers(metrics: Mapping[str, float]) -> str:
    """What a line of 80 columns has room for; metrics.jsonl has the rest."""
    shown = [f"{name} {_mean(metrics, name)}" for name in ("reward", "score") if name in metrics]
    return ", ".join(shown) or ("no sample scored" if metrics.get("status/ok") == 0.0 else "")


def _evaluation(metrics: Mapping[str, float]) -> str:
    scores = [key for key in ("eval/score", "eval/greedy") if key in metrics]
    keys = scores or [key for key in ("eval/reward", "eval/greedy_reward") if key in metrics]
    return "held out: " + (", ".join(f"{EVALUATIONS[key]} {_mean(metrics, key)}" for key in keys) or "no sample scored")


def _mean(metrics: Mapping[str, float], key: str) -> str:
    mean = CoveredMean.from_metrics(metrics, key)
    return "" if mean is None else format_mean(mean)
