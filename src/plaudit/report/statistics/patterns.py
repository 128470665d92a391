"""Which kinds of response a reward pays, and how responses fail.

A sample fails if its score is below one half or, if the reward gives no scores, if its reward lies in the lower half of
the range of all rewards. Unscored samples are not failures.
"""

import math
import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from plaudit.contract.output import RewardOutput
from plaudit.report.figures import Example, FailurePattern, Kind, Patterns
from plaudit.report.statistics.response_kinds import find_kinds
from plaudit.report.table import RIGHT, Floats, Samples
from plaudit.rollouts import ScoredRollout
from plaudit.trajectory import Trajectory

__all__ = ["ResponseKinds", "find_patterns"]

TOP = 8
MAX_KINDS = 20_000
CLEAR = 3.0  # standard errors: with dozens of kinds, two would turn up by chance
LEAST_SHARE = 0.005
REASON = "because: "
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class ResponseKinds:
    """The rows of each kind of response and of each reason, with one example each; never all responses."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.members: dict[str, list[int]] = {}
        self.examples: dict[str, Example] = {}

    def add(self, row: int, rollout: ScoredRollout) -> None:
        """Take one sample; one that was not scored does not count."""
        trajectory, output = rollout.trajectory, rollout.output
        if output.reward is None:
            return
        index = len(self.rows)
        self.rows.append(row)
        for kind in (*sorted(find_kinds(trajectory)), *_reasons(output)):
            if kind not in self.members and len(self.members) >= MAX_KINDS:
                continue
            self.members.setdefault(kind, []).append(index)
            if (
                kind not in self.examples or output.reward < self.examples[kind].reward
            ):  # the worst shows a failure best
                self.examples[kind] = _example(trajectory, output, output.reward)


def find_patterns(samples: Samples, kinds: ResponseKinds) -> Patterns:
    """What the responses of each kind earn, and what failures have in common."""
    rewards, scores = samples.rewards[kinds.rows], samples.scores[kinds.rows]
    failing = np.zeros(0, dtype=bool)
    if len(rewards):
        middle = rewards.min() / 2 + rewards.max() / 2
        failing = np.where(np.isnan(scores), rewards < middle, scores < RIGHT)
    paid = _paid_kinds(rewards, kinds)
    return Patterns(
        responses=len(rewards),
        failing=int(failing.sum()),
        failures=_failure_patterns(failing, kinds),
        high=tuple(kind for kind in paid if kind.difference > 0)[:TOP],
        low=tuple(kind for kind in reversed(paid) if kind.difference < 0)[:TOP],
    )


def _paid_kinds(rewards: Floats, kinds: ResponseKinds) -> list[Kind]:
    """Kinds whose rewards clearly differ from those of all other responses, best first."""
    paid = []
    with np.errstate(over="ignore", invalid="ignore"):
        total, std = rewards.sum(), float(rewards.std()) if len(rewards) else 0.0
        for name, members in kinds.members.items():
            count, others = len(members), len(rewards) - len(members)
            if name.startswith(REASON) or not others or not std or count < LEAST_SHARE * len(rewards):
                continue
            earned = rewards[members].sum()
            difference = float(earned / count - (total - earned) / others)
            if abs(difference) >= CLEAR * std * math.sqrt(1 / count + 1 / others):
                paid.append(Kind(name, count, count / len(rewards), float(earned / count), difference))
    return sorted(paid, key=lambda kind: kind.difference, reverse=True)


def _failure_patterns(failing: npt.NDArray[np.bool_], kinds: ResponseKinds) -> tuple[FailurePattern, ...]:
    """What is more common among failures than among the others, the largest difference first."""
    failed = int(failing.sum())
    others = len(failing) - failed
    patterns = []
    for kind, members in kinds.members.items():
        count = int(failing[members].sum())
        if not count or count < LEAST_SHARE * failed:
            continue
        share, elsewhere = count / failed, (len(members) - count) / others if others else 0.0
        if share > elsewhere and share - elsewhere >= CLEAR * _standard_error(len(members), failed, others):
            what, example = kind.removeprefix(REASON), kinds.examples[kind]
            patterns.append(FailurePattern(what, count, share, elsewhere, example))
    patterns.sort(key=lambda pattern: pattern.share_of_failures - pattern.share_of_others, reverse=True)
    return tuple(patterns[:TOP])


def _standard_error(members: int, failures: int, others: int) -> float:
    """How much the shares of something in two sets differ by chance."""
    if not others:
        return 0.0
    overall = members / (failures + others)
    return math.sqrt(overall * (1 - overall) * (1 / failures + 1 / others))


def _reasons(output: RewardOutput) -> Iterable[str]:
    """The reasons of a reward without numbers and quotations, so that equal causes count together."""
    parts = dict.fromkeys(part.strip() for part in output.reason.split("; ") if part.strip())
    return [f"{REASON}{_NUMBER.sub('N', _QUOTED.sub('…', part)):.100}" for part in parts]


def _example(trajectory: Trajectory, output: RewardOutput, reward: float) -> Example:
    truth = "" if trajectory.ground_truth is None else str(trajectory.ground_truth)
    return Example(
        prompt=trajectory.prompt_text[-300:],
        response=trajectory.response[:500],
        ground_truth=truth[:200],
        reward=reward,
        reason=output.reason[:200],
    )
