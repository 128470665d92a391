"""The rewards of a batch as named numbers, for metrics.jsonl and every other log.

Means are over what was scored; how much was not stands beside them under `status/`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput, Status
from plaudit.report.distribution import Distribution

__all__ = ["reward_metrics"]


def reward_metrics(outputs: Iterable[RewardOutput]) -> dict[str, float]:
    """`reward` (mean) with `reward/min`, `/max`, `/std` and `/skewness`, `score`, `component/<name>`, `extra/<name>`
    for numbers in the outputs' metadata (a reward file's `extra_logs`), and `status/<status>` as shares of the batch.
    """
    listed = list(outputs)
    metrics: dict[str, float] = {}
    spread = Distribution.of(output.reward for output in listed if output.reward is not None)
    if spread is not None:
        metrics = {"reward": spread.mean, "reward/min": spread.min, "reward/max": spread.max, "reward/std": spread.std}
        metrics |= {} if spread.skewness is None else {"reward/skewness": spread.skewness}
    means = _Means({})
    for output in listed:
        means.add("score", output.score)
        for name, component in output.flat_components().items():
            means.add(f"component/{name}", component.reward)
        for name, value in output.metadata.items():
            means.add(f"extra/{name}", value)
    return {**metrics, **means.means(), **_shares(listed)}


@dataclass(frozen=True, slots=True)
class _Means:
    """Running sums by name."""

    sums: dict[str, tuple[float, int]]

    def add(self, name: str, value: object) -> None:
        if isinstance(value, bool | int | float) and math.isfinite(value):
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = (total + value, count + 1)

    def means(self) -> dict[str, float]:
        return {name: total / count for name, (total, count) in self.sums.items()}


def _shares(outputs: Sequence[RewardOutput]) -> dict[str, float]:
    """The share of every status there is; `status/ok` always."""
    counts = {status: sum(output.status is status for output in outputs) for status in Status}
    return {
        f"status/{status.value}": count / len(outputs)
        for status, count in counts.items()
        if outputs and (count or status is Status.OK)
    }
