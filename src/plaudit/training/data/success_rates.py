"""How often prompts are answered right, as far as a run has seen, and how much there is to learn from them.

A group that is all right or all wrong has no advantage, so what can be learnt from a prompt goes with p(1 − p), the
variance of its success. What was not tried yet counts as p = ½.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SuccessRates"]

PRIOR = 1.0
"""How many samples the guess of ½ counts as."""


@dataclass
class SuccessRates:
    """Successes and samples by key; what was seen earlier counts less, by `memory` at each observation."""

    memory: float = 0.8
    epsilon: float = 0.05
    """What every key may be drawn for, however little there is to learn: abilities change."""
    seen: dict[Any, tuple[float, float]] = field(default_factory=dict)

    def observe(self, key: Any, scores: Iterable[float]) -> None:
        """Take the scores of samples, each in [0, 1]."""
        listed = list(scores)
        if listed:
            right, count = self.seen.get(key, (0.0, 0.0))
            self.seen[key] = (self.memory * right + sum(listed), self.memory * count + len(listed))

    def rate(self, key: Any) -> float:
        """The estimated share of right answers."""
        right, count = self.seen.get(key, (0.0, 0.0))
        return (right + PRIOR * 0.5) / (count + PRIOR)

    def weight(self, key: Any) -> float:
        """How often to draw it: p(1 − p) + ε."""
        rate = self.rate(key)
        return rate * (1.0 - rate) + self.epsilon

    def state(self) -> list[list[Any]]:
        """What a checkpoint keeps."""
        return [[key, right, count] for key, (right, count) in self.seen.items()]

    def restore(self, state: Iterable[Iterable[Any]]) -> None:
        """Go on from what `state` gave."""
        self.seen = {key: (right, count) for key, right, count in state}

    def rates(self, keys: Iterable[Any]) -> Mapping[Any, float]:
        """The rates of the keys that were tried."""
        return {key: self.rate(key) for key in keys if key in self.seen}
