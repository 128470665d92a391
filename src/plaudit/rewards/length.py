"""Reward a length: full marks on target, less the further off.

Counts words that a reader sees, not tokens, so the reward depends on no tokenizer and padding with spaces or invisible
characters changes nothing.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.settings import check_choice, check_number, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.text import count_words

DEFAULT_TARGET = 200

SHAPES: dict[str, Callable[[float, float], float]] = {
    "linear": lambda off, tolerance: max(0.0, 1.0 - off / tolerance),
    "gaussian": lambda off, tolerance: math.exp(-0.5 * (off / tolerance) ** 2),
    "target": lambda off, tolerance: 1.0 if off <= tolerance else 0.0,
}
# How much of the target a response may be off by default: nothing at all is left, one standard deviation, still on it.
DEFAULT_TOLERANCES = {"linear": 1.0, "gaussian": 0.5, "target": 0.1}


@dataclass(frozen=True, repr=False)
class LengthReward(RewardFunction):
    """1.0 for responses of the target length (in words), less the further off; 0.0 for an empty response.

    `target` and `target_length` are the same. `min_length` and `max_length` make a band that earns full marks instead.
    `tolerance` is in words: "linear" reaches 0.0 that far off, "gaussian" takes it as the standard deviation, "target"
    is 1.0 within it and 0.0 beyond. Without it, the nearest end of the target decides (all, half or a tenth of it).
    """

    target: int | None = None
    _: KW_ONLY
    target_length: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    tolerance: float | None = None
    shape: str = "linear"
    low: float = field(init=False, repr=False)
    high: float = field(init=False, repr=False)

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True

    def __post_init__(self) -> None:
        check_choice("shape", self.shape, SHAPES)
        if self.target is not None and self.target_length not in (None, self.target):
            raise InvalidSettings(f"target={self.target} and target_length={self.target_length} are the same; give one")
        set_field(self, "target", self.target if self.target is not None else self.target_length)
        set_field(self, "target_length", None)
        for name in ("target", "min_length", "max_length", "tolerance"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0)
        self._set_band()

    def _set_band(self) -> None:
        if self.min_length is None and self.max_length is None:
            low = high = float(self.target or DEFAULT_TARGET)
        else:
            low, high = self.min_length or 1.0, self.max_length or math.inf
        if not low <= (self.target or low) <= high:
            raise InvalidSettings(
                f"need min_length <= target <= max_length, got min_length={self.min_length}, target={self.target}, "
                f"max_length={self.max_length}"
            )
        set_field(self, "low", float(low))
        set_field(self, "high", float(high))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        count = count_words(trajectory.response)
        nearest = min(max(count, self.low), self.high)
        tolerance = self.tolerance or DEFAULT_TOLERANCES[self.shape] * nearest
        value = SHAPES[self.shape](abs(count - nearest), tolerance) if count else 0.0
        return RewardOutput(value, reason=f"{count} words, {self._describe_target()}", metadata={"words": count})

    def _describe_target(self) -> str:
        if self.low == self.high:
            return f"target {self.low:g}"
        return f"full marks from {self.low:g}" + (f" to {self.high:g}" if math.isfinite(self.high) else " on")
