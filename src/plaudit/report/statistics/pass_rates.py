"""How often prompts are solved: the pass rates of groups, and pass@k."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from plaudit.errors import InvalidSettings
from plaudit.report.distribution import Bin
from plaudit.report.statistics.table import SampleTable

__all__ = ["PassAtK", "PassRates", "pass_at_k", "pass_rates"]

BINS = 10


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The mean of pass@k over the groups with at least `k` judged samples."""

    k: int
    value: float
    groups: int


@dataclass(frozen=True, slots=True)
class PassRates:
    """Pass rates of the groups as a histogram: never solved, ten bins between, always solved; pass@k for k = 1, 2, 4, …

    Only samples with a score count; a response is right from a score of one half on.
    """

    groups: int
    never: int
    always: int
    bins: tuple[Bin, ...]
    pass_at: tuple[PassAtK, ...]


def pass_rates(table: SampleTable) -> PassRates | None:
    """The pass rates of a run; None where no sample has a score."""
    judged = ([right for row in rows if (right := table.is_right(row)) is not None] for rows in table.by_group())
    solved = Counter((len(group), sum(group)) for group in judged if group)
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
    return 1.0 - math.prod((samples - more - place) / (samples - place) for place in range(fewer))


def _pass_at(solved: Mapping[tuple[int, int], int]) -> tuple[PassAtK, ...]:
    """From how many groups there are by size and right samples."""
    largest = max(size for size, _ in solved)
    found = []
    for k in sorted({1 << power for power in range(largest.bit_length())} | {largest}):
        large = {(size, right): groups for (size, right), groups in solved.items() if size >= k}
        passed = math.fsum(groups * pass_at_k(size, right, k) for (size, right), groups in large.items())
        found.append(PassAtK(k, passed / sum(large.values()), sum(large.values())))
    return tuple(found)


def _bins(solved: Mapping[tuple[int, int], int]) -> tuple[Bin, ...]:
    counts = [0] * BINS
    for (size, right), groups in solved.items():
        if 0 < right < size:
            counts[right * BINS // size] += groups
    return tuple(Bin(place / BINS, (place + 1) / BINS, count) for place, count in enumerate(counts))
