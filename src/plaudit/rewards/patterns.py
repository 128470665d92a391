"""The usual shapes of a correctness reward: binary, graduated, continuous.

Each takes the checks it is made of, functions of `(response, ground_truth)`, so that your own fit in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from plaudit.checks.correctness import is_correct, is_partially_correct
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidReward
from plaudit.rewards.settings import check_number, set_field
from plaudit.rewards.truth import judged, with_truth
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathVerdict
from plaudit.verify.math.distance import error_of, number_of

__all__ = ["BinaryReward", "Check", "ContinuousReward", "GraduatedReward"]

Check: TypeAlias = Callable[[str, Any], bool]


@dataclass(frozen=True, repr=False)
class BinaryReward(RewardFunction):
    """1.0 when the check says the response is correct, else 0.0; for clear right and wrong answers."""

    is_correct: Check = is_correct

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        _check_callable(self.is_correct)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return with_truth(trajectory, self._scored)

    def _scored(self, trajectory: Trajectory) -> RewardOutput:
        value = float(bool(self.is_correct(trajectory.response, trajectory.ground_truth)))
        return RewardOutput(value, score=value, reason="correct" if value else "not correct")


@dataclass(frozen=True, repr=False)
class GraduatedReward(RewardFunction):
    """The value of the first level whose check passes, else 0.0; by default 1.0 correct, 0.5 partially correct.

    The score is 1.0 only on the first level.
    """

    levels: Sequence[tuple[Check, float]] = ((is_correct, 1.0), (is_partially_correct, 0.5))
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_field(self, "levels", tuple((check, value) for check, value in self.levels))
        if not self.levels:
            raise InvalidReward("GraduatedReward needs levels: [(check, value), ...]")
        for check, value in self.levels:
            _check_callable(check)
            check_number("the value of a level", value)
        values = [0.0, *(float(value) for _, value in self.levels)]
        set_field(self, "bounds", (min(values), max(values)))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return with_truth(trajectory, self._scored)

    def _scored(self, trajectory: Trajectory) -> RewardOutput:
        for place, (check, value) in enumerate(self.levels):
            if check(trajectory.response, trajectory.ground_truth):
                name = getattr(check, "__name__", "check").replace("_", " ")
                return RewardOutput(value, score=float(place == 0), reason=f"level {place + 1}: {name}")
        return RewardOutput(0.0, score=0.0, reason="no level reached")


@dataclass(frozen=True, repr=False)
class ContinuousReward(RewardFunction):
    """1.0 − error / `max_error` for a numeric answer, never below 0.0: the closer the better."""

    max_error: float = 100.0

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_number("max_error", self.max_error, above=0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, self._scored)

    def _scored(self, verdict: MathVerdict) -> RewardOutput:
        if number_of(verdict.ground_truth) is None:
            return RewardOutput.unscored(Status.UNPARSED, f"the ground truth {verdict.ground_truth!r:.60} is no number")
        error = Fraction(0) if verdict.correct else error_of(verdict)
        if error is None:
            return RewardOutput(0.0, score=0.0, reason=f"no number to compare: {verdict.reason}")
        value = float(max(Fraction(0), 1 - error / Fraction(str(self.max_error))))
        return RewardOutput(value, score=value, reason=verdict.reason)


def _check_callable(check: Any) -> None:
    if not callable(check):
        raise InvalidReward(f"a check is a function of (response, ground_truth), got {type(check).__name__}")
