"""`plaudit score REWARD FOLDER -o FOLDER`: every file of a folder into one of the same name."""

from pathlib import Path

from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.cli.scoring.run_report import TOO_MANY_UNSCORED, has_too_many_unscored
from plaudit.contract.output import Status
from plaudit.engine import DatasetSummary, score_dataset
from plaudit.errors import RolloutsError
from plaudit.report.formatting import count_noun

__all__ = ["score_folder"]

SOME_FAILED = 1


def score_folder(
    reward: str,
    folder: Path,
    out: str | None,
    engine: options.EngineOptions,
    columns: list[str] | None,
    max_unscored: float,
    *,
    json: bool,
) -> int:
    """Score each file of a folder into one of the same name; the exit code is 1 if a file failed."""
    if out in (None, "-"):
        raise RolloutsError(f"{folder} is a folder; name a folder for its scored files: -o OUTFOLDER")
    if Path(str(out)).is_file():
        raise RolloutsError(f"{out} is a file; a folder is scored into a folder")
    summary = score_dataset(
        options.load_reward(reward),
        folder,
        Path(str(out)),
        backend=engine.backend.value,
        address=engine.address,
        workers=engine.workers,
        deadline_s=engine.effective_deadline_s,
        cache=engine.cache,
        columns=options.column_mapping(columns),
        check=options.check_first_samples,
    )
    if json:
        print_json(_plain(summary))
    else:
        _print_summary(summary, str(out))
    for file, reason in summary.failed.items():
        print_message(f"{file}: {reason}")
    statuses = (f"{count:,} × {each.value}" for each, count in summary.statuses.most_common() if each is not Status.OK)
    if has_too_many_unscored(summary.samples, summary.statuses[Status.OK], max_unscored, statuses):
        return TOO_MANY_UNSCORED
    return SOME_FAILED if summary.failed else 0


def _print_summary(summary: DatasetSummary, out: str) -> None:
    statuses = ", ".join(f"{count:,} {status.value}" for status, count in summary.statuses.items())
    files, samples = count_noun(len(summary.scored), "file"), count_noun(summary.samples, "sample")
    print_result(f"{files} scored into {out}, {samples}: {statuses or 'none'}")
    if summary.skipped:
        print_result(f"done before: {count_noun(len(summary.skipped), 'file')}")


def _plain(summary: DatasetSummary) -> dict[str, object]:
    return {
        "scored": [str(file) for file in summary.scored],
        "skipped": [str(file) for file in summary.skipped],
        "failed": {str(file): reason for file, reason in summary.failed.items()},
        "statuses": {status.value: count for status, count in summary.statuses.items()},
    }
