"""What a scoring run looked like: spread of rewards, failures, latency, groups.

Built sample by sample and kept as bare floats, so that a run of millions of samples can be summed up while it streams.
Samples that were not scored count in `statuses` and `failures` only, never as a number.
"""

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.markup import html_table
from plaudit.report.distribution import Distribution, quantile
from plaudit.report.failures import Failure, FailureCounts
from plaudit.report.groups import GroupNumbers, GroupSummary, GroupSums
from plaudit.trajectory import Trajectory

__all__ = ["Latency", "SlowSample", "Summary", "SummaryBuilder", "summarize"]

TOP = 5
MOST_COMPONENTS = 200


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per sample."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class SlowSample:
    """A sample that took long."""

    index: int
    id: str | int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A scoring run in numbers. Components at any depth are named `outer/inner`; the first 200 names count."""

    count: int
    statuses: dict[str, int]
    reward: Distribution | None
    score: Distribution | None
    components: dict[str, Distribution]
    latency: Latency | None
    component_latency: dict[str, Latency]
    slowest: tuple[SlowSample, ...]
    failures: tuple[Failure, ...]
    groups: GroupSummary

    @property
    def ok(self) -> int:
        """How many samples were scored."""
        return self.statuses.get(Status.OK.value, 0)

    def _repr_html_(self) -> str:
        """Tables for notebooks: the spread of every value, and why samples were not scored."""
        known = {"reward": self.reward, "score": self.score, **self.components}
        names = ("count", "unscored", "mean", "mean_all", "std", "min", "p25", "p50", "p75", "max")
        spreads = [[name, *(getattr(one, each) for each in names)] for name, one in known.items() if one is not None]
        statuses = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        table = html_table(["", *names], spreads, title=f"{self.count:,} samples: {statuses}")
        failures = [[one.count, one.status, one.reason, one.example] for one in self.failures[:TOP]]
        return table + (html_table(["n", "status", "why not scored", "first"], failures) if failures else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = asdict(self)
        plain["groups"]["dead"] = self.groups.dead
        return plain


def summarize(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> Summary:
    """The summary of trajectories with their outputs, numbered from 0."""
    builder = SummaryBuilder()
    for index, (trajectory, output) in enumerate(scored):
        builder.add(trajectory, output, index)
    return builder.summary()


class SummaryBuilder:
    """Takes samples one by one; `summary()` may be asked for at any time. `numbers` may be those of another table."""

    def __init__(self, numbers: GroupNumbers | None = None) -> None:
        self._statuses: Counter[str] = Counter()
        self._rewards, self._scores = array("d"), array("d")
        self._seconds = array("d")
        self._components: dict[str, array[float]] = {}
        self._component_seconds: dict[str, array[float]] = {}
        self._listed_unscored: Counter[str] = Counter()
        self._without_number: Counter[str] = Counter()
        self._slowest: list[tuple[float, int, SlowSample]] = []
        self._failures = FailureCounts()
        self._groups = GroupSums(numbers)

    def add(self, trajectory: Trajectory, output: RewardOutput, index: int) -> None:
        """Take one sample; `index` is its place in the run."""
        self._statuses[output.status.value] += 1
        if output.reward is not None:
            self._rewards.append(output.reward)
            self._groups.add(trajectory, output.reward, output.score)
        else:
            self._groups.index_of(trajectory)
            self._failures.add(output, trajectory.label(index))
        if output.score is not None:
            self._scores.append(output.score)
        if output.latency_s is not None:
            self._seconds.append(output.latency_s)
            _keep_slowest(self._slowest, len(self._seconds), SlowSample(index, trajectory.id, output.latency_s))
        if output.components:
            self._add_components(output)

    def summary(self) -> Summary:
        """What the samples so far look like."""
        return Summary(
            count=self._statuses.total(),
            statuses={status.value: self._statuses[status.value] for status in Status if self._statuses[status.value]},
            reward=Distribution.of(self._rewards, self._unscored),
            score=Distribution.of(self._scores, self._unscored),
            components={
                name: spread
                for name, values in self._components.items()
                if (spread := Distribution.of(values, self._component_unscored(name))) is not None
            },
            latency=_latency(self._seconds),
            component_latency={
                name: latency
                for name, values in self._component_seconds.items()
                if (latency := _latency(values)) is not None
            },
            slowest=tuple(sample for _, _, sample in sorted(self._slowest, reverse=True)),
            failures=self._failures.failures(),
            groups=self._groups.summary(),
        )

    @property
    def _unscored(self) -> int:
        return self._statuses.total() - self._statuses[Status.OK.value]

    def _component_unscored(self, name: str) -> int:
        """Samples in which the component has no number; an unscored sample may not even list its components."""
        return self._unscored - self._listed_unscored[name] + self._without_number[name]

    def _add_components(self, output: RewardOutput) -> None:
        for name, component in output.flat_components().items():
            if name not in self._components and len(self._components) == MOST_COMPONENTS:
                continue
            values = self._components.setdefault(name, array("d"))
            self._listed_unscored[name] += not output.ok
            if component.reward is not None:
                values.append(component.reward)
            else:
                self._without_number[name] += 1
            if component.latency_s is not None:
                self._component_seconds.setdefault(name, array("d")).append(component.latency_s)


def _keep_slowest(slowest: list[tuple[float, int, SlowSample]], turn: int, sample: SlowSample) -> None:
    """Keep the largest; `turn` differs for every sample, so that samples themselves are never compared."""
    item = (sample.seconds, -turn, sample)
    if len(slowest) < TOP:
        heapq.heappush(slowest, item)
    elif item > slowest[0]:
        heapq.heapreplace(slowest, item)


def _latency(seconds: "array[float]") -> Latency | None:
    if not seconds:
        return None
    ordered = sorted(seconds)
    return Latency(quantile(ordered, 0.5), quantile(ordered, 0.95), quantile(ordered, 0.99))
