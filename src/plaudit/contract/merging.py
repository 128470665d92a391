"""Bring several parts together: names made unique, the widest scope, scores by share, token rewards by slope."""

from collections.abc import Iterable, Sequence

from plaudit.contract.alignment import token_rewards_of
from plaudit.contract.output import RewardOutput, TokenUnit
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = ["combined_score", "combined_tokens", "stretched", "unique_names", "widest_scope"]

_WIDEST_FIRST: tuple[Scope, ...] = ("batch", "group", "sample")


def combined_score(outputs: Sequence[RewardOutput], shares: Sequence[float]) -> float | None:
    told = [(output.score, share) for output, share in zip(outputs, shares, strict=True) if output.score is not None]
    total = sum(share for _, share in told)
    if not total:
        return None
    return min(1.0, max(0.0, sum(score * share for score, share in told) / total))


def combined_tokens(
    trajectory: Trajectory, outputs: Sequence[RewardOutput], slopes: Sequence[float]
) -> tuple[list[float] | None, TokenUnit]:
    """Σ slope · token rewards, by word where all count words, else by token."""
    given = [(output, slope) for output, slope in zip(outputs, slopes, strict=True) if output.token_rewards is not None]
    if not given:
        return None, "word"
    by_word = all(output.token_unit == "word" for output, _ in given)
    columns = [
        stretched(output.token_rewards if by_word else token_rewards_of(output, trajectory), slope) or []
        for output, slope in given
    ]
    return [sum(values) for values in zip(*columns, strict=True)], "word" if by_word else "token"


def stretched(token_rewards: list[float] | None, slope: float | None) -> list[float] | None:
    if token_rewards is None or slope is None:
        return None
    return [slope * value for value in token_rewards]


def unique_names(names: Sequence[str]) -> list[str]:
    """Names made unique by numbering the later ones: length, length_2."""
    taken: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        unique.append(candidate)
    return unique


def widest_scope(scopes: Iterable[Scope]) -> Scope:
    """What must be given at once so that every part gets as much as it looks at."""
    return min(scopes, key=_WIDEST_FIRST.index)
