"""Progress on standard error: a bar on a terminal; for training, also a line now and then in a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from plaudit.cli.console import print_message, stderr_console
from plaudit.contract.output import RewardOutput

__all__ = ["Advance", "StepProgress", "count_lines", "show_progress"]


class Advance(Protocol):
    """Call it with every output, once it is there."""

    def __call__(self, output: RewardOutput) -> None: ...


@contextmanager
def show_progress(what: str, total: int | None, *, done: int = 0, quiet: bool) -> Iterator[Advance]:
    """Show progress while the block runs; the block calls `advance` for every output. `done` outputs exist already."""
    console = stderr_console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]} not scored"),
    )
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task(what, total=total, completed=done, failed=0)
        failed = 0

        def advance(output: RewardOutput) -> None:
            nonlocal failed
            failed += not output.ok
            progress.update(task, advance=1, failed=failed)

        yield advance


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


def count_lines(rollouts: str) -> int | None:
    """How many lines a plain file has, for the bar; None where counting would cost as much as reading."""
    path = Path(rollouts)
    if path.suffix != ".jsonl" or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


class StepProgress:
    """The steps of a training run; use it as a context manager around the run.

    A terminal gets a live line per phase, a pipe about `lines` lines.
    """

    def __init__(self, *, lines: int, quiet: bool) -> None:
        console = stderr_console()
        self._lines, self._quiet, self._live = lines, quiet, console.is_terminal and not quiet
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}"),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._progress.stop()

    def show_live(self, phase: str, step: int, steps: int, numbers: str) -> None:
        """Show a step of a phase on a terminal; a phase that is over disappears."""
        if phase not in self._tasks:
            self._tasks[phase] = self._progress.add_task(phase, total=steps, numbers="")
        self._progress.update(self._tasks[phase], completed=step, numbers=numbers, visible=step < steps)

    def show_step(self, phase: str, step: int, steps: int, numbers: str, *, results: str = "") -> None:
        """Show a step of a phase; in a pipe only some of them. A step with results is printed in any case."""
        self.show_live(phase, step, steps, numbers)
        if results or (not self._live and step % max(1, steps // self._lines) == 0):
            left = self._progress.tasks[self._tasks[phase]].time_remaining
            time_left = f", {timedelta(seconds=round(left))} left" if left else ""
            line = "; ".join(part for part in (numbers, results) if part)
            self.note(f"step {step:>{len(str(steps))}}/{steps}{time_left}: {line}")

    def note(self, text: str) -> None:
        """Print something else that the user should know."""
        if not self._quiet:
            print_message(text)
