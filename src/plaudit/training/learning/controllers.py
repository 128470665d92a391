"""Weights of the loss that follow what they are to control: the KL to the reference, and the policy's entropy.

A controller is told a measurement after every batch and says the weight for the next one. Its state is one of plain
numbers, which a checkpoint keeps.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["EntropyController", "KLController"]

LARGEST_STEP = 0.2
"""How far off its target a KL may seem to be: one wild batch must not throw the weight."""


@dataclass
class KLController:
    """The weight of the KL, raised while the KL is above `target` and lowered while it is below
    (Ziegler et al. 2019, arXiv:1909.08593); without a target it stays."""

    weight: float
    target: float | None = None
    horizon: int = 10_000
    """In how many samples the weight changes by a fifth where the KL is far off."""

    def observe(self, kl: float, samples: int) -> None:
        """Take note of the mean KL of a token in a batch of so many samples."""
        if self.target is None or not math.isfinite(kl):
            return
        error = min(LARGEST_STEP, max(-LARGEST_STEP, kl / self.target - 1.0))
        self.weight *= max(0.0, 1.0 + error * samples / self.horizon)

    def state(self) -> dict[str, Any]:
        """What changes, for a checkpoint."""
        return {"weight": self.weight}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.weight = state["weight"]


@dataclass
class EntropyController:
    """The weight of the entropy bonus: it rises by `step` while the entropy is at most `target`, falls while it is
    above, and counts only in the former case (Skywork-OR1, arXiv:2505.22312); without a target it stays."""

    weight: float
    target: float | None = None
    step: float = 0.005
    largest: float = 1.0
    last: float = 0.0
    """The entropy that was measured last."""

    @property
    def active(self) -> bool:
        """Whether there is, or may be, a bonus at all."""
        return self.target is not None or self.weight > 0.0

    @property
    def bonus(self) -> float:
        """The weight for the next batch."""
        return self.weight if self.target is None or self.last <= self.target else 0.0

    def observe(self, entropy: float) -> None:
        """Take note of the mean entropy at the tokens of a batch."""
        if self.target is None or not math.isfinite(entropy):
            return
        up = entropy <= self.target
        self.weight = min(self.largest, self.weight + self.step) if up else max(0.0, self.weight - self.step)
        self.last = entropy

    def state(self) -> dict[str, Any]:
        """What changes, for a checkpoint."""
        known = asdict(self)
        return {name: known[name] for name in ("weight", "last")}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.weight, self.last = state["weight"], state["last"]
