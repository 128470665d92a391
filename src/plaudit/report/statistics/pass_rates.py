"""How often prompts are solved: the pass rates of groups, and pass@k."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from plaudit.errors import InvalidSettings
from plaudit.report.distribution import Bin
from plaudit.report.figures import PassAtK, PassRates
from plaudit.report.table import RIGHT, Groups, Samples

__all__ = ["pass_at_k", "pass_rates"]

BINS = 10


def pass_rates(samples: Samples) -> PassRates | None:
    """The pass rates of a run; None if no sample has a score."""
    groups = Groups.of(samples, samples.scored & ~np.isnan(samples.scores), least=1)
    right = groups.sums((samples.scores[groups.rows] >= RIGHT).astype(float)).astype(int)
    solved = Counter(zip(groups.sizes.tolist(), right.tolist(), strict=True))
    if not solved:
        return None
    return PassRates(
        groups=solved.total(),
        never=sum(groups for (_, right), groups in solved.items() if right == 0),
        always=sum(groups for (size, right), groups in solved.items() if right == size),
        bins=_bins(solved),
        pass_at=_pass_at(solved),
    )


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of `k` of the samples is right, unbiased: 1 − C(n−c, k) / C(n, k)
    (arXiv:2107.03374).

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    if not 0 <= right <= samples:
        raise InvalidSettings(f"{right} of {samples} samples cannot be right")
    if not 1 <= k <= samples:
        raise InvalidSettings(f"pass@{k} needs at least {max(k, 1)} samples per prompt, got {samples}")
    if k > samples - right:
        return 1.0
    fewer, more = sorted((k, right))  # C(n−c, k) / C(n, k) = Π (n−more−i) / (n−i) over i < fewer
    return 1.0 - math.prod((samples - more - index) / (samples - index) for index in range(fewer))


def _pass_at(solved: Mapping[tuple[int, int], int]) -> tuple[PassAtK, ...]:
    """From how many groups there are by size and right samples."""
    largest = max(size for size, _ in solved)
    figures = []
    for k in sorted({1 << power for power in range(largest.bit_length())} | {largest}):
        large = {(size, right): groups for (size, right), groups in solved.items() if size >= k}
        passed = math.fsum(groups * pass_at_k(size, right, k) for (size, right), groups in large.items())
        figures.append(PassAtK(k, passed / sum(large.values()), sum(large.values())))
    return tuple(figures)


def _bins(solved: Mapping[tuple[int, int], int]) -> tuple[Bin, ...]:
    counts = [0] * BINS
    for (size, right), groups in solved.items():
        if 0 < right < size:
            counts[right * BINS // size] += groups
    return tuple(Bin(index / BINS, (index + 1) / BINS, count) for index, count in enumerate(counts))
