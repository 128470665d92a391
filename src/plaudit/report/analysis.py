"""What a reward did in training: its spread, which kinds of response it pays, and how responses fail.

A sample fails when its score is below one half, or, where the reward gives no scores, when its reward lies in the lower
half of the range of all rewards. Samples that were not scored are told apart from failures: nobody judged them.
"""

import json
import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.report.distribution import Distribution
from plaudit.report.response_kinds import find_kinds
from plaudit.report.statistics.table import total
from plaudit.report.summary import Summary, SummaryBuilder
from plaudit.trajectory import Trajectory

__all__ = ["Example", "FailurePattern", "Kind", "Period", "RewardAnalysis", "RewardAnalyzer", "analyze"]

PERIODS = 10
TOP = 8
MAX_KINDS = 20_000
CLEAR = 3.0  # standard errors: with dozens of kinds, two would turn up by chance
FAILING_SCORE = 0.5
WORTH_TELLING = 0.005  # share


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of response: how many there were, what they earned, and how much more than all others."""

    name: str
    count: int
    share: float
    mean: float
    difference: float


@dataclass(frozen=True, slots=True)
class Example:
    """A response to look at."""

    prompt: str
    response: str
    ground_truth: str
    reward: float
    reason: str


@dataclass(frozen=True, slots=True)
class FailurePattern:
    """A reason or a kind that is common among failures: the share of failures it is found in, and of the others."""

    what: str
    count: int
    share_of_failures: float
    share_of_others: float
    example: Example


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
        plain = asdict(self)
        plain["summary"] = self.summary.to_dict()
        reward = self.summary.reward
        return {"skewness": reward.skewness if reward else None, **plain}

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def analyze(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> RewardAnalysis:
    """The analysis of scored trajectories, for instance those of a run's rollouts file."""
    analyzer = RewardAnalyzer()
    for trajectory, output in scored:
        analyzer.add(trajectory, output)
    return analyzer.analysis()


class RewardAnalyzer:
    """Takes samples one by one, keeping numbers and one example per pattern, never all responses."""

    def __init__(self) -> None:
        self._summary = SummaryBuilder()
        self._count = 0
        self._rewards, self._scores = array("d"), array("d")  # a score that is not there is NaN
        self._steps: dict[int, array[float]] = defaultdict(lambda: array("d"))
        self._members: dict[str, array[int]] = {}
        self._examples: dict[str, tuple[float, Example]] = {}

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        self._summary.add(trajectory, output, self._count)
        self._count += 1
        if output.reward is None:
            return
        place = len(self._rewards)
        self._rewards.append(output.reward)
        self._scores.append(math.nan if output.score is None else output.score)
        if trajectory.training_step is not None:
            self._steps[trajectory.training_step].append(output.reward)
        for what in (*sorted(find_kinds(trajectory)), *_reasons(output)):
            self._join(what, place, trajectory, output)

    def analysis(self) -> RewardAnalysis:
        """What the samples so far say."""
        failing = self._find_failing()
        summary = self._summary.summary()
        spread = summary.reward.std if summary.reward else 0.0
        kinds = self._kinds(spread)
        return RewardAnalysis(
            summary=summary,
            variance=spread * spread,
            periods=self._periods(),
            high=tuple(kind for kind in kinds if kind.difference > 0)[:TOP],
            low=tuple(kind for kind in reversed(kinds) if kind.difference < 0)[:TOP],
            failing=sum(failing),
            failures=self._failure_patterns(failing),
        )

    def _join(self, what: str, place: int, trajectory: Trajectory, output: RewardOutput) -> None:
        if what not in self._members and len(self._members) >= MAX_KINDS:
            return
        self._members.setdefault(what, array("q")).append(place)
        reward = output.reward or 0.0
        if what not in self._examples or reward < self._examples[what][0]:  # the worst shows a failure best
            self._examples[what] = (reward, _example(trajectory, output))

    def _find_failing(self) -> list[bool]:
        if not self._rewards:
            return []
        middle = min(self._rewards) / 2 + max(self._rewards) / 2
        pairs = zip(self._rewards, self._scores, strict=True)
        return [reward < middle if math.isnan(score) else score < FAILING_SCORE for reward, score in pairs]

    def _kinds(self, spread: float) -> list[Kind]:
        """Kinds whose rewards clearly differ from those of all other responses, best first."""
        found = []
        of_all = total(self._rewards)
        for name, members in self._members.items():
            count, others = len(members), len(self._rewards) - len(members)
            if name.startswith(REASON) or not others or not spread or count < WORTH_TELLING * len(self._rewards):
                continue
            earned = total(self._rewards[place] for place in members)
            difference = earned / count - (of_all - earned) / others
            if abs(difference) >= CLEAR * spread * math.sqrt(1 / count + 1 / others):
                found.append(Kind(name, count, count / len(self._rewards), earned / count, difference))
        return sorted(found, key=lambda kind: kind.difference, reverse=True)

    def _failure_patterns(self, failing: Sequence[bool]) -> tuple[FailurePattern, ...]:
        """What is more common among failures than among the others, most telling first."""
        failed = sum(failing)
        others = len(failing) - failed
        patterns = []
        for what, members in self._members.items():
            count = sum(failing[place] for place in members)
            if not count or count < WORTH_TELLING * failed:
                continue
            share, elsewhere = count / failed, (len(members) - count) / others if others else 0.0
            if share > elsewhere and share - elsewhere >= CLEAR * _standard_error(len(members), failed, others):
                example = self._examples[what][1]
                patterns.append(FailurePattern(what.removeprefix(REASON), count, share, elsewhere, example))
        patterns.sort(key=lambda pattern: pattern.share_of_failures - pattern.share_of_others, reverse=True)
        return tuple(patterns[:TOP])

    def _periods(self) -> tuple[Period, ...]:
        steps = sorted(self._steps)
        size = math.ceil(len(steps) / PERIODS) or 1
        periods = []
        for start in range(0, len(steps), size):
            part = steps[start : start + size]
            spread = Distribution.of(reward for step in part for reward in self._steps[step])
            if spread is not None:
                periods.append(Period(part[0], part[-1], spread))
        return tuple(periods)


def _standard_error(members: int, failures: int, others: int) -> float:
    """How much the shares of something in two sets differ by chance."""
    if not others:
        return 0.0
    overall = members / (failures + others)
    return math.sqrt(overall * (1 - overall) * (1 / failures + 1 / others))


REASON = "because: "
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def _reasons(output: RewardOutput) -> Iterable[str]:
    """What the reward said, with numbers and quotations left out, so that equal causes count together."""
    said = Counter(part.strip() for part in output.reason.split("; ") if part.strip())
    return [f"{REASON}{_NUMBER.sub('N', _QUOTED.sub('…', part)):.100}" for part in said]


def _example(trajectory: Trajectory, output: RewardOutput) -> Example:
    truth = "" if trajectory.ground_truth is None else str(trajectory.ground_truth)
    return Example(
        prompt=trajectory.prompt_text[-300:],
        response=trajectory.response[:500],
        ground_truth=truth[:200],
        reward=output.reward or 0.0,
        reason=output.reason[:200],
    )
