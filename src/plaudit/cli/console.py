"""Where output goes: results to standard output, everything about the run (progress, notes, errors) to standard error.

While a command runs, file descriptor 1 leads to standard error, so that whatever a reward, a library or a process of
theirs prints cannot get between our results. Colours follow the terminal and NO_COLOR; a pipe gets none, and 100
columns unless COLUMNS says otherwise. Characters that an encoding lacks are escaped. Progress is a bar on a terminal;
for training, also a line now and then in a pipe.
"""

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO, TypeAlias

import msgspec
from rich.console import Console, RenderableType
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
from rich.table import Column, Table
from rich.text import Text

from plaudit.contract.output import RewardOutput
from plaudit.report.formatting import bare_table

PIPE_WIDTH = 100
_results: list[TextIO] = []  # where results go while standard output is reserved


@contextmanager
def reserve_stdout() -> Iterator[None]:
    """Keep standard output for results; what others print meanwhile goes to standard error."""
    sys.stdout.flush()
    try:
        descriptor = os.dup(sys.stdout.fileno())
        original = os.dup(1)
    except (OSError, ValueError):  # no file behind it, as in a notebook: nothing below Python can write to it either
        with _reserve(sys.stdout), redirect_stdout(sys.stderr):
            yield
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        os.dup2(2, 1)
        with (
            open(descriptor, "w", encoding=encoding, errors="backslashreplace") as results,
            _reserve(results),
            redirect_stdout(sys.stderr),
        ):
            yield
    finally:
        os.dup2(original, 1)
        os.close(original)


@contextmanager
def _reserve(results: TextIO) -> Iterator[None]:
    _results.append(results)
    try:
        yield
    finally:
        _results.pop()


def print_result(*renderables: RenderableType) -> None:
    """Print results."""
    _console(_stdout()).print(*renderables, sep="\n")


def print_report(*renderables: RenderableType) -> None:
    """Print a report of the run to standard error, when standard output is used for something else."""
    stderr_console().print(*renderables, sep="\n")


def print_text(text: str) -> None:
    """Print a text unchanged, at once."""
    _stdout().write(text)
    _stdout().flush()


def print_json(value: Any) -> None:
    """Print a result as JSON, for programs."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError:  # lone surrogates: only escapes can carry them
        text = json.dumps(msgspec.to_builtins(value), indent=2).encode()
    write_bytes(text + b"\n")


def write_bytes(data: bytes) -> None:
    """Write data to standard output."""
    stream = _stdout()
    stream.flush()
    if isinstance(stream, io.TextIOWrapper):
        stream.buffer.write(data)
    else:
        stream.write(data.decode())


def print_message(message: str) -> None:
    """Print a message about the run."""
    stderr_console().print(message, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print Python's warnings as messages, each text once, without the place in plaudit's code."""
    printed: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if (text := str(message)) not in printed:
            printed.add(text)
            print_message(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def stderr_console() -> Console:
    """The console for messages and progress bars."""
    return _console(sys.stderr)


def _stdout() -> TextIO:
    return _results[-1] if _results else sys.stdout


def _console(stream: TextIO) -> Console:
    known_width = stream.isatty() or "COLUMNS" in os.environ
    return Console(file=stream, width=None if known_width else PIPE_WIDTH, highlight=False, emoji=False)


class ResultLine(NamedTuple):
    """One test and its result in words."""

    passed: bool
    name: str
    outcome: str


def results_table(what: str, lines: Iterable[ResultLine]) -> Table:
    """A line for each test; `what` is the name of a test in this table."""
    verdicts = {True: Text("passed", style="green"), False: Text("FAILED", style="red")}
    headers = (Column(name, overflow="fold") for name in (what, "result"))
    return bare_table("", *headers, rows=((verdicts[line.passed], line.name, line.outcome) for line in lines))


Advance: TypeAlias = Callable[[RewardOutput], None]
"""Call it with every output, once it is there."""


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
    """The number of lines of a plain file, for the progress bar; None where counting would cost as much as reading."""
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
        """Print a note for the user."""
        if not self._quiet:
            print_message(text)
