"""The largest recall of wrong labels at a precision of 0.8 that any method can have which sees only the answers.

The simulated policies of `tests/labels/simulated_rollouts.py` draw answers independently, and the values of answers
mean nothing. So all that a group shows is how many responses give the label and how often the other answers occur.
Groups with right and with wrong labels are drawn from these distributions. How often each pattern occurs in one half of
them gives the probability that a label is wrong; no other ranking is better. Precision and recall are counted on the
other half. The column "ours" is `plaudit labels` on the rollouts of `benchmarks/labels.py policies`; it knows neither
the distributions nor the share of wrong labels.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.labels import PRECISION, RATES, measure_policy
from tests.labels.simulated_rollouts import POLICIES, POPULAR, UNLABELLED, Policy

GROUPS = 400_000
SIZES = (4, 8, 16)
OTHERS = 30
"""The largest number of wrong answers beside the popular mistake."""

Integers = npt.NDArray[np.int64]


def main() -> None:
    print(f"{'policy':16}{'popular':10}{'size':>5}{'best':>7}{'ours':>7}{'precision':>11}")
    for strength in POLICIES:
        for popular in POPULAR:
            policy = Policy(strength, popular)
            for size in SIZES:
                best = sum(rate * best_recall(policy, size, rate) for rate in RATES) / sum(RATES)
                ours = measure_policy(policy, size)
                precision = f"{ours.hits / ours.reported:.2f}" if ours.reported else "none"
                print(
                    f"{strength:16}{popular:10}{size:5}{best:7.2f}{ours.hits / ours.planted:7.2f}{precision:>11}",
                    flush=True,
                )


def best_recall(policy: Policy, size: int, rate: float) -> float:
    """The recall of the ranking by the true probability, at the last place where its precision is still 0.8."""
    rng = np.random.default_rng(0)
    halves = [[count_patterns(draw(rng, policy, size, is_wrong)) for is_wrong in (False, True)] for _ in range(2)]
    (right, wrong), (other_right, other_wrong) = halves

    def probability(pattern: bytes) -> float:
        is_wrong, is_right = rate * wrong[pattern], (1 - rate) * right[pattern]
        return is_wrong / (is_wrong + is_right) if is_wrong else 0.0

    hits = alarms = best = 0.0
    for pattern in sorted({*other_right, *other_wrong}, key=probability, reverse=True):
        hits += rate * other_wrong[pattern]
        alarms += (1 - rate) * other_right[pattern]
        if hits >= PRECISION * (hits + alarms):
            best = hits
    return best / (rate * GROUPS)


def draw(rng: np.random.Generator, policy: Policy, size: int, is_wrong: bool) -> Integers:
    """Of each group: how many responses give the label, then how often each other answer occurs, sorted."""
    rows = np.arange(GROUPS)
    pass_rate = rng.beta(*POLICIES[policy.strength], GROUPS)[:, None]
    share = rng.beta(*POPULAR[policy.popular], GROUPS)[:, None]
    others = rng.integers(3, OTHERS + 1, GROUPS)
    answers = 2 + (rng.random((GROUPS, size)) * others[:, None]).astype(int)  # 0 is the truth, 1 the popular mistake
    answers[rng.random((GROUPS, size)) < share] = 1
    answers[rng.random((GROUPS, size)) < pass_rate] = 0
    is_labelled = rng.random((GROUPS, size)) >= UNLABELLED
    kinds = np.stack([np.full(GROUPS, OTHERS + 2), np.ones(GROUPS, int), 2 + (rng.random(GROUPS) * others).astype(int)])
    label = kinds[rng.integers(0, 3, GROUPS), rows] if is_wrong else np.zeros(GROUPS, int)
    counts = np.stack([((answers == value) & is_labelled).sum(1) for value in range(OTHERS + 3)], axis=1)
    agree = counts[rows, label].copy()
    counts[rows, label] = 0
    return np.column_stack([agree, np.sort(counts, axis=1)[:, -size:]])


def count_patterns(patterns: Integers) -> Counter[bytes]:
    values, counts = np.unique(patterns.astype(np.int8), axis=0, return_counts=True)
    return Counter({value.tobytes(): int(count) for value, count in zip(values, counts, strict=True)})


if __name__ == "__main__":
    main()
