"""Score a folder of rollouts files, none of them held in memory: one after the other here, or many at once on Ray.

On Ray each file is one task that streams it through plaudit's own reader, scorer and writer, and comes out as `plaudit
score` writes it. Ray Data's readers would guess a type per column and block, and lose what does not fit: absent keys,
mixed types, large integers, lone surrogates. One file is never split: for few huge files use a `Scorer` on Ray.
"""

import os
import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.contract.contents import copies_of
from plaudit.contract.function import RewardFunction, Rewarding
from plaudit.contract.output import Status
from plaudit.engine.backends.ray_actor import follow_driver
from plaudit.engine.backends.ray_session import RaySession
from plaudit.engine.caching.fingerprint import reward_key
from plaudit.engine.scorer import Scorer
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, PlauditError, RolloutsError, require
from plaudit.loading import resolve
from plaudit.rollouts import RolloutsWriter, RunRecord, read_rollouts
from plaudit.rollouts.mapping import ColumnMapping

__all__ = ["DatasetSummary", "score_dataset"]

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
UNFINISHED = ".unfinished"
RECORD = ".run.json"
MAX_RETRIES = 3  # of a file whose process or node died
PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """What became of a dataset: files scored now, those skipped as done before, and those that failed and why."""

    scored: list[Path] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)
    failed: dict[Path, str] = field(default_factory=dict)
    statuses: Counter[Status] = field(default_factory=Counter)

    @property
    def samples(self) -> int:
        """How many samples the files scored now hold."""
        return self.statuses.total()

    def _add(self, file: Path, result: "_Result") -> None:
        if isinstance(result, str):
            self.failed[file] = result
        else:
            self.scored.append(file)
            self.statuses.update(result)


def score_dataset(
    reward: Rewarding | str,
    source: PathLike | Sequence[PathLike],
    destination: PathLike,
    *,
    backend: str = "ray",
    address: str | None = None,
    deadline_s: float | None = None,
    batch_size: int | None = 256,
    concurrency: int | None = None,
    columns: Mapping[str, str] | None = None,
) -> DatasetSummary:
    """Score every rollouts file of a folder (or a list of files) into a file of the same name under `destination`.

    An output appears when it is complete, so an interrupted run goes on where it stopped when it is started again, with
    the same reward and columns: others are refused. A
    file that cannot be read or scored is reported, and the others go on. Groups must not span files. With the backend
    "ray" files are scored at once, and all nodes must see `source` and `destination` under the same paths; with
    "processes" or "inline" one after the other on this machine.
    """
    if concurrency is not None and concurrency < 1:
        raise InvalidSettings(f"concurrency must be at least 1, got {concurrency}")
    ColumnMapping(columns or {})
    loaded = resolve(reward)
    home = Path(destination).absolute()
    targets = _targets(source, home)
    job = _Job(Shipment.of(loaded), os.getcwd(), home / UNFINISHED, deadline_s, batch_size, columns)
    summary = DatasetSummary(skipped=[file for file, target in targets.items() if target.exists()])
    for file in summary.skipped:
        del targets[file]
    record = RunRecord(repr(loaded.reward), reward_key(loaded.reward), {"columns": dict(columns or {})})
    if summary.skipped:
        record.check(home / RECORD, str(home))
    shutil.rmtree(job.unfinished, ignore_errors=True)  # what a killed run left
    job.unfinished.mkdir(parents=True)
    record.write(home / RECORD)
    try:
        results = (
            _results_on_ray(job, targets, address, _most_at_once(loaded.reward, concurrency))
            if backend == "ray"
            else _results_here(job, targets, backend, concurrency)
        )
        for file, result in results if targets else ():
            summary._add(file, result)
    finally:
        shutil.rmtree(job.unfinished, ignore_errors=True)
    return summary


@dataclass(frozen=True, slots=True)
class _Job:
    """What is the same for all files."""

    shipment: Shipment
    folder: str
    unfinished: Path
    deadline_s: float | None
    batch_size: int | None
    columns: Mapping[str, str] | None


def _results_here(
    job: _Job, targets: dict[Path, Path], backend: str, workers: int | None
) -> Iterator[tuple[Path, "_Result"]]:
    """Files with what became of them, one after the other."""
    with Scorer(
        job.shipment.as_given(), backend=backend, workers=workers, deadline_s=job.deadline_s, batch_size=job.batch_size
    ) as scorer:
        for file, target in targets.items():
            yield file, _score_file(job, scorer, file, target)


def _most_at_once(reward: RewardFunction, concurrency: int | None) -> int | None:
    copies = copies_of(reward)
    return concurrency if copies is None else min(copies, concurrency or copies)


def _results_on_ray(
    job: _Job, targets: dict[Path, Path], address: str | None, concurrency: int | None
) -> Iterator[tuple[Path, "_Result"]]:
    """Files with what became of them, as they are done."""
    session = RaySession(address, concurrency or os.cpu_count() or 1)
    ray = session.ray
    task = ray.remote(_score_file_on_node).options(
        num_cpus=1, max_retries=MAX_RETRIES, runtime_env=session.runtime_env, scheduling_strategy="SPREAD"
    )
    waiting, running = deque(targets.items()), dict[Any, Path]()
    try:
        shared = ray.put(job)
        at_once = concurrency or max(1, int(ray.cluster_resources().get("CPU", 1)))
        while waiting or running:
            while waiting and len(running) < at_once:
                file, target = waiting.popleft()
                running[task.remote(shared, file, target)] = file
            for reference in ray.wait(list(running))[0]:
                yield running.pop(reference), _result(ray, reference)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        session.leave()


def _result(ray: Any, reference: Any) -> "_Result":
    errors = require("ray.exceptions", extra="ray", purpose="the Ray backend")
    try:
        result: _Result = ray.get(reference)
    except errors.RayError as error:
        return " ".join(str(error).split())
    return result


def _score_file_on_node(job: _Job, file: Path, target: Path) -> "_Result":
    """Runs on a node, with a worker process of its own."""
    shipment = follow_driver(job.shipment, job.folder)
    with Scorer(shipment.as_given(), workers=1, deadline_s=job.deadline_s, batch_size=job.batch_size) as scorer:
        return _score_file(job, scorer, file, target)


def _score_file(job: _Job, scorer: Scorer, file: Path, target: Path) -> "_Result":
    """Score one file into a folder of this attempt's own, then move it into place."""
    statuses: Counter[Status] = Counter()
    try:
        with tempfile.TemporaryDirectory(dir=job.unfinished) as folder:
            part = Path(folder) / file.name
            trajectories = (rollout.trajectory for rollout in read_rollouts(file, columns=job.columns))
            with RolloutsWriter(part) as writer:
                for scored in scorer.score_stream(trajectories):
                    writer.write(scored)
                    statuses[scored.output.status] += 1
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
            return statuses
    except (PlauditError, OSError) as error:
        return str(error)


def _targets(source: PathLike | Sequence[PathLike], home: Path) -> dict[Path, Path]:
    """Each file with the one it is scored into."""
    found = _in_folder(Path(source).absolute(), home) if isinstance(source, str | os.PathLike) else _list_files(source)
    targets = {file: home / name for file, name in found}
    for file, target in targets.items():
        if target == file:
            raise RolloutsError(f"{file} would be scored into itself; name another destination")
    if len(set(targets.values())) < len(targets):
        twice = next(name for name, count in Counter(target.name for target in targets.values()).items() if count > 1)
        raise RolloutsError(f"two files are called {twice}; give their folder instead, or score them one by one")
    return targets


def _in_folder(folder: Path, home: Path) -> list[tuple[Path, Path]]:
    """The rollouts files at any depth; hidden ones, those that begin with an underscore and outputs are left out."""
    if not folder.is_dir():
        raise RolloutsError(f"{folder} is not a folder; name a folder of rollouts files, or give a list of files")
    found = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        ours = file.name.lower().endswith(SUFFIXES) and not any(part.startswith((".", "_")) for part in name.parts)
        if ours and file.is_file() and (folder == home or not file.is_relative_to(home)):
            found.append((file, name))
    if not found:
        raise RolloutsError(f"{folder} holds no rollouts files (they end in {', '.join(SUFFIXES)})")
    return found


def _list_files(files: Sequence[PathLike]) -> list[tuple[Path, Path]]:
    if not files:
        raise RolloutsError("the list of files to score is empty")
    return [(Path(file).absolute(), Path(Path(file).name)) for file in files]


_Result: TypeAlias = Counter[Status] | str  # statuses of a file's samples, or why it failed
