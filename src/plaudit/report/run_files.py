"""The files of a run that a report is made of: its rollouts, and its metrics where training left some."""

from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import RolloutsError

__all__ = ["RunFiles", "find_runs", "run_files"]

ROLLOUTS, METRICS = "rollouts.jsonl", "metrics.jsonl"
DEPTH = 3


@dataclass(frozen=True, slots=True)
class RunFiles:
    """A rollouts file, and the metrics beside it where it lies in a run folder."""

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
        found.parent
        for depth in range(1, DEPTH + 1)
        for found in path.glob("/".join(["*"] * depth + [ROLLOUTS]))
        if found.is_file()
    )
    if not below:
        raise RolloutsError(f"there is no run in {path}: no folder in it has a {ROLLOUTS}")
    return [RunFiles(str(each.relative_to(path)), each / ROLLOUTS, each / METRICS) for each in below]
