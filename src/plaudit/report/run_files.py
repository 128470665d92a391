"""The files of a run: its rollouts, its metrics if training left some, and rollouts that are read as the file grows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from plaudit import jsonline
from plaudit.columns import ColumnMapping
from plaudit.errors import InvalidOutput, InvalidTrajectory, RolloutsError
from plaudit.rollouts import Rollout, ScoredRollout, read_rollouts
from plaudit.rollouts.reading import rollout_of

ROLLOUTS, METRICS = "rollouts.jsonl", "metrics.jsonl"
DEPTH = 3


@dataclass(frozen=True, slots=True)
class RunFiles:
    """A rollouts file, and the metrics file if both are in a run folder."""

    name: str
    rollouts: Path
    metrics: Path | None = None


def run_files(path: Path) -> RunFiles:
    """The files of a run folder, or of a rollouts file alone."""
    if not path.is_dir():
        return RunFiles(path.name, path)
    if not (path / ROLLOUTS).is_file():
        raise RolloutsError(f"{path} is not a run folder: it has no {ROLLOUTS}; name a run folder or a rollouts file")
    return RunFiles(path.resolve().name, path / ROLLOUTS, path / METRICS)


def find_runs(path: Path) -> list[RunFiles]:
    """The run at a path, or the runs in the folders below it, by name."""
    if not path.is_dir() or (path / ROLLOUTS).is_file():
        return [run_files(path)]
    below = sorted(
        file.parent
        for depth in range(1, DEPTH + 1)
        for file in path.glob("/".join(["*"] * depth + [ROLLOUTS]))
        if file.is_file()
    )
    if not below:
        raise RolloutsError(f"there is no run in {path}: no folder in it has a {ROLLOUTS}")
    return [RunFiles(str(each.relative_to(path)), each / ROLLOUTS, each / METRICS) for each in below]


class GrowingRollouts:
    """Reads the scored rollouts of a file again and again, each time what is new.

    A line counts once it ends with a newline, or when the file is `complete`. A file that was cut back, as a resumed
    training does, or that was replaced is read from its start; `on_restart` is called first. Files in other formats
    than JSON lines are read from the start whenever they change. `left_out` counts lines that are no scored rollouts.
    """

    def __init__(self, path: Path, on_restart: Callable[[], None]) -> None:
        self.path, self._on_restart = path, on_restart
        self._restart()

    def read(self, *, most: int | None = None, complete: bool = False) -> Iterator[ScoredRollout]:
        """The new rollouts, at most `most` lines of them."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._read_to or (size > self._read_to and not self._continues()):
            self._restart()
            self._on_restart()
        if size > self._read_to:
            is_lines = self.path.suffix == ".jsonl"
            yield from islice(self._read_lines(complete), most) if is_lines else self._read_file(size)

    def _restart(self) -> None:
        self._read_to, self._last_line, self.left_out = 0, b"", 0

    def _continues(self) -> bool:
        """Whether the file still has the line that was read last: a file that replaced it may be larger."""
        if self.path.suffix != ".jsonl":
            return self._read_to == 0
        with self.path.open("rb") as file:
            file.seek(self._read_to - len(self._last_line))
            return file.read(len(self._last_line)) == self._last_line

    def _read_lines(self, complete: bool) -> Iterator[ScoredRollout]:
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n") and not complete:
                    return
                self._read_to += len(line)
                self._last_line = line
                rollout = None if line.isspace() else _scored_rollout(line)
                self.left_out += rollout is None and not line.isspace()
                if rollout is not None:
                    yield rollout

    def _read_file(self, size: int) -> Iterator[ScoredRollout]:
        self._read_to = size
        for rollout in read_rollouts(self.path, skip_bad=True):
            self.left_out += rollout.output is None
            if rollout.output is not None:
                yield Rollout(rollout.trajectory, rollout.output)


def _scored_rollout(line: bytes) -> ScoredRollout | None:
    """The rollout of a line; None for a line that is none, or without an output."""
    try:
        rollout = rollout_of(jsonline.decode(line.rstrip(b"\r\n")), ColumnMapping({}))
    except (jsonline.InvalidJSON, InvalidTrajectory, InvalidOutput, RolloutsError):
        return None
    return None if rollout.output is None else Rollout(rollout.trajectory, rollout.output)
