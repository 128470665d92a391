"""`plaudit score REWARD FOLDER -o FOLDER --backend ray`: every file of a folder, on a Ray cluster."""

from pathlib import Path

from plaudit.cli.console import print_message, print_result
from plaudit.cli.options import EngineOptions, column_mapping
from plaudit.engine import score_dataset
from plaudit.errors import RolloutsError

__all__ = ["score_folder"]

SOME_FAILED = 1


def score_folder(reward: str, folder: Path, out: str | None, engine: EngineOptions, columns: list[str] | None) -> int:
    """Score each file of a folder into one of the same name; the exit code is 1 when a file failed."""
    if engine.backend != "ray" or out in (None, "-"):
        raise RolloutsError(f"{folder} is a folder; to score all its files: -o OUTFOLDER --backend ray")
    summary = score_dataset(
        reward,
        folder,
        Path(str(out)),
        address=engine.address,
        deadline_s=engine.effective_deadline_s,
        concurrency=engine.workers,
        columns=column_mapping(columns),
    )
    statuses = ", ".join(f"{count:,} {status.value}" for status, count in summary.statuses.items())
    print_result(f"{len(summary.scored)} files scored, {summary.samples:,} samples: {statuses or 'none'}")
    if summary.skipped:
        print_result(f"{len(summary.skipped)} files were done before")
    for file, reason in summary.failed.items():
        print_message(f"{file}: {reason}")
    return SOME_FAILED if summary.failed else 0
