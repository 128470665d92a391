"""A progress bar on stderr with rate and count of failures; silent when nobody watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from plaudit.cli.console import stderr_console
from plaudit.contract.output import RewardOutput

__all__ = ["Advance", "count_lines", "show_progress"]


class Advance(Protocol):
    """Call it with every output, once it is there."""

    def __call__(self, output: RewardOutput) -> None: ...


@contextmanager
def show_progress(what: str, total: int | None, *, done: int = 0, quiet: bool) -> Iterator[Advance]:
    """Show progress while the block runs; the block calls `advance` for every output; `done` were there before."""
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
