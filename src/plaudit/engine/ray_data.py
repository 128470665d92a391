"""Score a Ray Data dataset: the columns it has, and beside them reward, score, status, reason and the whole output.

For pipelines that live in Ray Data: blocks stream through a pool of actors, so the dataset may be larger than memory.
Ray Data gives each column of a block one type; to score files with absent keys, mixed types or integers of any size as
they are, use `score_dataset`.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit import jsonline
from plaudit.contract.contents import count_workers
from plaudit.contract.function import Rewarding
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.ray_actor import follow_driver
from plaudit.engine.scorer import Scorer
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, InvalidTrajectory, RolloutsError, require
from plaudit.loading import resolve
from plaudit.rollouts.mapping import ColumnMapping
from plaudit.trajectory import Trajectory

__all__ = ["score_ray_dataset"]

ADDED = ("reward", "score", "status", "reason", "reward_output")


def score_ray_dataset(
    reward: Rewarding | str,
    dataset: Any,
    *,
    workers: int | None = None,
    deadline_s: float | None = None,
    memory_mb: int | None = None,
    batch_size: int = 256,
    columns: Mapping[str, str] | None = None,
) -> Any:
    """The dataset with the outputs of a reward as columns; nothing runs before it is consumed or written.

    A sample that cannot be scored has no reward and says why in `status` and `reason`. `columns` names where fields are
    found (field → column), as on the command line. Rewards that look across samples need whole groups: use
    `score_dataset` for them.
    """
    require("ray.data", extra="ray", purpose="scoring a Ray Data dataset")
    loaded = resolve(reward)
    if loaded.reward.scope != "sample":
        raise InvalidSettings(
            f"{loaded.reward.name!r} looks at a {loaded.reward.scope} at once, and Ray Data cuts batches anywhere; "
            "keep groups in files and use score_dataset"
        )
    taken = [name for name in ADDED if name in (dataset.columns() or ())]
    if taken:
        raise InvalidSettings(f"the dataset has a column {taken[0]!r} already; rename or drop it before scoring")
    job = _Job(Shipment.of(loaded), os.getcwd(), deadline_s, memory_mb, ColumnMapping(columns or {}))
    return dataset.map_batches(
        _BatchScorer,
        fn_constructor_args=(job,),
        concurrency=count_workers(loaded.reward, workers),
        batch_size=batch_size,
        batch_format="pyarrow",
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """What every actor needs to know."""

    shipment: Shipment
    folder: str
    deadline_s: float | None
    memory_mb: int | None
    mapping: ColumnMapping


class _BatchScorer:
    """An actor of Ray Data's pool, with one worker process for the reward."""

    def __init__(self, job: _Job) -> None:
        self._mapping = job.mapping
        reward = follow_driver(job.shipment, job.folder).as_given()
        self._scorer = Scorer(reward, workers=1, deadline_s=job.deadline_s, memory_mb=job.memory_mb)

    def __call__(self, table: Any) -> Any:
        arrow = require("pyarrow", extra="ray", purpose="scoring a Ray Data dataset")
        outputs = list(self._outputs(table.to_pylist()))
        types = {"reward": arrow.float64(), "score": arrow.float64()}
        for name in ADDED:
            column = arrow.array([_cell(output, name) for output in outputs], types.get(name, arrow.string()))
            table = table.append_column(name, column)
        return table

    def _outputs(self, rows: list[dict[str, Any]]) -> Iterator[RewardOutput]:
        read = [self._read(row) for row in rows]
        scored = iter(self._scorer.score([sample for sample in read if isinstance(sample, Trajectory)]))
        for sample in read:
            yield next(scored) if isinstance(sample, Trajectory) else sample

    def _read(self, row: dict[str, Any]) -> Trajectory | RewardOutput:
        """The trajectory of a row, or what is to be said of a row that holds none."""
        try:
            return Trajectory.from_dict(self._mapping.rename(row))
        except (InvalidTrajectory, RolloutsError) as error:
            return RewardOutput.unscored(Status.ERROR, str(error))


def _cell(output: RewardOutput, name: str) -> float | str | None:
    if name == "reward_output":
        return jsonline.encode(output.to_dict()).decode()
    value: float | str | None = getattr(output, name)
    return value
