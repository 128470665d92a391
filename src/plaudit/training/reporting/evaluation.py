"""How good a policy is on held-out prompts: mean score and pass@k.

Samples that were not scored are left out of both, and counted; a prompt with fewer than k scored samples says nothing
about pass@k and is left out of it.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.trajectory import Trajectory

__all__ = ["Evaluation", "evaluate", "pass_at_k"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found; None where nothing says it (a reward without scores has no pass@k)."""

    score: float | None
    reward: float | None
    pass_at: dict[int, float | None]
    prompts: int
    samples: int
    unscored: int
    length: float

    def metrics(self, prefix: str = "eval/") -> dict[str, float]:
        """The numbers by name, as they go to metrics.jsonl: `eval/score`, `eval/pass@1`, …"""
        told = {"score": self.score, "reward": self.reward, "length": self.length}
        told |= {f"pass@{k}": value for k, value in self.pass_at.items()}
        told["unscored"] = self.unscored / self.samples if self.samples else 0.0
        return {f"{prefix}{name}": value for name, value in told.items() if value is not None}


def evaluate(
    scored: Iterable[tuple[Trajectory, RewardOutput]], pass_at: Sequence[int] = (1,), *, right: float = 1.0
) -> Evaluation:
    """Sum up scored samples of held-out prompts; a sample is right when its score is at least `right`."""
    pairs = list(scored)
    scores: dict[str | int, list[float]] = defaultdict(list)
    for trajectory, output in pairs:
        scores[trajectory.group_key] += [] if output.score is None else [output.score]
    return Evaluation(
        score=_mean([score for group in scores.values() for score in group]),
        reward=_mean([output.reward for _, output in pairs if output.reward is not None]),
        pass_at={k: _pass_at(list(scores.values()), k, right) for k in pass_at},
        prompts=len(scores),
        samples=len(pairs),
        unscored=sum(not output.ok for _, output in pairs),
        length=_mean([_length(trajectory) for trajectory, _ in pairs]) or 0.0,
    )


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of `k` of the samples is right, unbiased: 1 − C(n−c, k) / C(n, k)
    (arXiv:2107.03374).

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    if not 0 <= right <= samples:
        raise TrainingError(f"{right} of {samples} samples cannot be right")
    if not 1 <= k <= samples:
        raise TrainingError(f"pass@{k} needs at least {max(k, 1)} samples per prompt, got {samples}")
    return 1.0 - math.comb(samples - right, k) / math.comb(samples, k)


def _pass_at(groups: Sequence[Sequence[float]], k: int, right: float) -> float | None:
    return _mean([pass_at_k(len(group), sum(s >= right for s in group), k) for group in groups if len(group) >= k])


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _length(trajectory: Trajectory) -> float:
    """In tokens where they are known, else in words."""
    return float(len(trajectory.response.split()) if trajectory.tokens is None else len(trajectory.tokens))
