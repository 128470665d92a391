"""Score a Ray Data dataset: `map_batches` with a scorer in every actor.

Ray Data gives each column of a block one type; `score_dataset` keeps absent keys, mixed types and large integers of
files as they are.
"""

import os
from collections.abc import Mapping
from typing import Any

from plaudit import jsonline
from plaudit.columns import ColumnMapping
from plaudit.contract.contents import count_workers
from plaudit.contract.function import RewardLike
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.ray_actor import use_driver_paths
from plaudit.engine.scorer import Scorer
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, InvalidTrajectory, require
from plaudit.loading import resolve
from plaudit.trajectory import Trajectory

__all__ = ["score_ray_dataset"]

ADDED = ("reward", "score", "status", "reason", "reward_output")


def score_ray_dataset(
    reward: RewardLike | str,
    dataset: Any,
    *,
    workers: int | None = None,
    deadline_s: float | None = None,
    memory_mb: int | None = None,
    batch_size: int = 256,
    columns: Mapping[str, str] | None = None,
) -> Any:
    """The dataset with the columns reward, score, status, reason and reward_output; nothing runs before it is consumed.

    A sample that cannot be scored has no reward; `status` and `reason` say why. `columns` names where fields are found
    (field → column). Rewards that need whole groups or batches are refused.
    """
    require("ray.data", extra="ray", purpose="scoring a Ray Data dataset")
    loaded = resolve(reward)
    if loaded.reward.scope != "sample":
        raise InvalidSettings(
            f"{loaded.reward.name!r} needs a whole {loaded.reward.scope}, and Ray Data cuts batches anywhere; keep "
            "groups in files and use score_dataset"
        )
    existing = [name for name in ADDED if name in (dataset.columns() or ())]
    if existing:
        raise InvalidSettings(f"the dataset has a column {existing[0]!r} already; rename or drop it before scoring")
    limits = {"deadline_s": deadline_s, "memory_mb": memory_mb}
    return dataset.map_batches(
        _BatchScorer,
        fn_constructor_args=(Shipment.of(loaded), os.getcwd(), limits, ColumnMapping(columns or {})),
        concurrency=count_workers(loaded.reward, workers),
        batch_size=batch_size,
        batch_format="pyarrow",
    )


class _BatchScorer:
    """An actor of Ray Data's pool, with one worker process for the reward."""

    def __init__(self, shipment: Shipment, folder: str, limits: dict[str, Any], mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._scorer = Scorer(use_driver_paths(shipment, folder).as_given(), workers=1, **limits)

    def __call__(self, table: Any) -> Any:
        arrow = require("pyarrow", extra="ray", purpose="scoring a Ray Data dataset")
        samples = [self._read(row) for row in table.to_pylist()]
        scored = iter(self._scorer.score([sample for sample in samples if isinstance(sample, Trajectory)]))
        outputs = [next(scored) if isinstance(sample, Trajectory) else sample for sample in samples]
        for name in ADDED[:-1]:
            kind = arrow.float64() if name in ("reward", "score") else arrow.string()
            table = table.append_column(name, arrow.array([getattr(output, name) for output in outputs], kind))
        return table.append_column(
            ADDED[-1], arrow.array([jsonline.encode(each.to_dict()).decode() for each in outputs])
        )

    def _read(self, row: dict[str, Any]) -> Trajectory | RewardOutput:
        """The trajectory of a row, or an error output for a row without one."""
        try:
            return Trajectory.from_dict(row, self._mapping)
        except InvalidTrajectory as error:
            return RewardOutput.unscored(Status.ERROR, str(error))
