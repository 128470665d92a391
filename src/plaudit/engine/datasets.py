"""Score a folder of rollouts files one after the other, without holding a file in memory."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from plaudit.columns import ColumnMapping
from plaudit.contract.function import RewardLike
from plaudit.contract.output import Status
from plaudit.engine.caching.cache import Cache
from plaudit.engine.caching.identity import reward_key
from plaudit.engine.scorer import Scorer
from plaudit.errors import PlauditError, RolloutsError
from plaudit.loading import Loaded, resolve
from plaudit.rollouts import RolloutsWriter, RunRecord, read_rollouts
from plaudit.trajectory import Trajectory

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
UNFINISHED = ".unfinished"
RECORD = ".run.json"
PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """The result of scoring a dataset: files scored now, files skipped because they were done, and failed files with
    reasons.
    """

    scored: list[Path] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)
    failed: dict[Path, str] = field(default_factory=dict)
    statuses: Counter[Status] = field(default_factory=Counter)

    @property
    def samples(self) -> int:
        """The number of samples in the files scored now."""
        return self.statuses.total()


def score_dataset(
    reward: RewardLike | Loaded | str,
    source: PathLike | Sequence[PathLike],
    destination: PathLike,
    *,
    backend: str = "ray",
    address: str | None = None,
    workers: int | None = None,
    deadline_s: float | None = None,
    cache: Cache | str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    check: Callable[[Scorer, Iterator[Trajectory]], object] | None = None,
) -> DatasetSummary:
    """Score every rollouts file of a folder (or a list of files) into a file of the same name under `destination`.

    Files are read and written here, one after the other, and scored on the backend. An output file appears when it is
    complete, so an interrupted run continues with the next file if it is started again with the same reward and
    columns; others are refused. A file that cannot be read or scored is reported. Groups must not span files. `check`
    gets the samples that are to be scored before anything is written; it may raise, and need not read them all.
    """
    ColumnMapping(columns or {})
    loaded = reward if isinstance(reward, Loaded) else resolve(reward)
    home = Path(destination).absolute()
    targets = _targets(source, home)
    summary = DatasetSummary(skipped=[file for file, target in targets.items() if target.exists()])
    record = RunRecord(repr(loaded.reward), reward_key(loaded.reward), {"columns": dict(columns or {})})
    if summary.skipped:
        record.check(home / RECORD, str(home))
    remaining = [file for file in targets if file not in summary.skipped]
    with Scorer(
        loaded, backend=backend, address=address, workers=workers, deadline_s=deadline_s, cache=cache
    ) as scorer:
        if check is not None:
            check(scorer, _readable_samples(remaining, columns))
        unfinished = home / UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)  # left by a killed run
        unfinished.mkdir(parents=True)
        try:
            record.write(home / RECORD)
            for file in remaining:
                try:
                    statuses = _score_file(scorer, file, unfinished / file.name, columns)
                    targets[file].parent.mkdir(parents=True, exist_ok=True)
                    os.replace(unfinished / file.name, targets[file])
                except (PlauditError, OSError) as error:
                    summary.failed[file] = str(error)
                else:
                    summary.scored.append(file)
                    summary.statuses.update(statuses)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return summary


def _readable_samples(files: Sequence[Path], columns: Mapping[str, str] | None) -> Iterator[Trajectory]:
    """The samples of files up to what cannot be read; scoring reports the files that it concerns."""
    for file in files:
        with suppress(PlauditError, OSError):
            yield from (rollout.trajectory for rollout in read_rollouts(file, columns=columns))


def _score_file(scorer: Scorer, file: Path, target: Path, columns: Mapping[str, str] | None) -> Counter[Status]:
    statuses: Counter[Status] = Counter()
    with RolloutsWriter(target, overwrite=True) as writer:
        for scored in scorer.score_stream(rollout.trajectory for rollout in read_rollouts(file, columns=columns)):
            writer.write(scored)
            statuses[scored.output.status] += 1
    return statuses


def _targets(source: PathLike | Sequence[PathLike], home: Path) -> dict[Path, Path]:
    """Map each source file to its output file."""
    sources = (
        _in_folder(Path(source).absolute(), home) if isinstance(source, str | os.PathLike) else _list_files(source)
    )
    targets = {file: home / name for file, name in sources}
    for file, target in targets.items():
        if target == file:
            raise RolloutsError(f"{file} would be scored into itself; name another destination")
    if len(set(targets.values())) < len(targets):
        twice = next(name for name, count in Counter(target.name for target in targets.values()).items() if count > 1)
        raise RolloutsError(f"two files are called {twice}; give their folder instead, or score them one by one")
    return targets


def _in_folder(folder: Path, home: Path) -> list[tuple[Path, Path]]:
    """The rollouts files at any depth, except hidden ones, names that begin with an underscore, and outputs."""
    if not folder.is_dir():
        raise RolloutsError(f"{folder} is not a folder; name a folder of rollouts files, or give a list of files")
    files = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        ours = file.name.lower().endswith(SUFFIXES) and not any(part.startswith((".", "_")) for part in name.parts)
        if ours and file.is_file() and (folder == home or not file.is_relative_to(home)):
            files.append((file, name))
    if not files:
        raise RolloutsError(f"{folder} holds no rollouts files (they end in {', '.join(SUFFIXES)})")
    return files


def _list_files(files: Sequence[PathLike]) -> list[tuple[Path, Path]]:
    if not files:
        raise RolloutsError("the list of files to score is empty")
    return [(Path(file).absolute(), Path(Path(file).name)) for file in files]
