"""Analysis of a reward in training: its distribution over the steps, the kinds of response it pays, the failures."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaudit.contract.output import RewardOutput
from plaudit.report.collecting import summary_of
from plaudit.report.distribution import Distribution
from plaudit.report.figures import FailurePattern, Kind, Summary
from plaudit.report.statistics.patterns import ResponseKinds, find_patterns
from plaudit.report.table import NO_STEP, Samples, SampleTable
from plaudit.rollouts import Rollout
from plaudit.trajectory import Trajectory

__all__ = ["FailurePattern", "Kind", "Period", "RewardAnalysis", "analyze"]

PERIODS = 10


@dataclass(frozen=True, slots=True)
class Period:
    """The rewards of some steps in a row."""

    first_step: int
    last_step: int
    reward: Distribution


@dataclass(frozen=True, slots=True)
class RewardAnalysis:
    """The whole analysis; `high` and `low` are the kinds of response that earn clearly more and less than others."""

    summary: Summary
    variance: float
    periods: tuple[Period, ...]
    high: tuple[Kind, ...]
    low: tuple[Kind, ...]
    failing: int
    failures: tuple[FailurePattern, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        reward = self.summary.reward
        return {"skewness": reward.skewness if reward else None, **asdict(self), "summary": self.summary.to_dict()}

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def analyze(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> RewardAnalysis:
    """The analysis of scored trajectories, for instance those of a run's rollouts file."""
    table, kinds = SampleTable(), ResponseKinds()
    for trajectory, output in scored:
        kinds.add(table.add(trajectory, output), Rollout(trajectory, output))
    summary, patterns = summary_of(table), find_patterns(table.samples(), kinds)
    return RewardAnalysis(
        summary=summary,
        variance=summary.reward.std**2 if summary.reward else 0.0,
        periods=_periods(table.samples()),
        high=patterns.high,
        low=patterns.low,
        failing=patterns.failing,
        failures=patterns.failures,
    )


def _periods(samples: Samples) -> tuple[Period, ...]:
    rewarded = samples.scored & (samples.steps != NO_STEP)
    steps, rewards = samples.steps[rewarded], samples.rewards[rewarded]
    known = np.unique(steps)
    size = math.ceil(len(known) / PERIODS) or 1
    periods = []
    for part in np.split(known, range(size, len(known), size)):
        distribution = Distribution.of(rewards[np.isin(steps, part)].tolist())
        if distribution is not None:
            periods.append(Period(int(part[0]), int(part[-1]), distribution))
    return tuple(periods)
