"""Usual patterns of rewards: graduated by checks of your own, continuous in the error, several aspects at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from plaudit.checks.correctness import is_correct, is_partially_correct
from plaudit.checks.quality import evaluate_clarity, evaluate_conciseness, evaluate_relevance
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidSettings
from plaudit.rewards.math import MathReward, require_truth, verify_response
from plaudit.settings import check_number, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify import MathVerdict
from plaudit.verify.math.numeric import error_of, number_of

Check: TypeAlias = Callable[[str, Any], bool]
PARTIAL = 0.5  # for an answer within 10 % of the truth
ASPECTS = ("correctness", "relevance", "clarity", "conciseness")


@dataclass(frozen=True, repr=False)
class GraduatedReward(RewardFunction):
    """The value of the first level whose check passes, else 0.0; by default 1.0 correct, 0.5 partially correct.

    Each check is a function of `(response, ground_truth)`; one level makes a binary reward. The score is 1.0
    only on the first level.
    """

    deterministic = True
    pure = True

    levels: Sequence[tuple[Check, float]] = ((is_correct, 1.0), (is_partially_correct, PARTIAL))
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_field(self, "levels", tuple((check, value) for check, value in self.levels))
        if not self.levels:
            raise InvalidSettings("GraduatedReward needs levels: [(check, value), ...]")
        for check, value in self.levels:
            _check_callable(check)
            check_number("the value of a level", value)
        values = [0.0, *(float(value) for _, value in self.levels)]
        set_field(self, "bounds", (min(values), max(values)))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return require_truth(trajectory, self._score)

    def _score(self, trajectory: Trajectory) -> RewardOutput:
        for index, (check, value) in enumerate(self.levels):
            if check(trajectory.response, trajectory.ground_truth):
                name = getattr(check, "__name__", "check").replace("_", " ")
                return RewardOutput(value, score=float(index == 0), reason=f"level {index + 1}: {name}")
        return RewardOutput(0.0, score=0.0, reason="no level reached")


@dataclass(frozen=True, repr=False)
class ContinuousReward(RewardFunction):
    """1.0 − error / `max_error` for a numeric answer, never below 0.0: the closer the better."""

    max_error: float = 100.0

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True
    needs_ground_truth = True

    def __post_init__(self) -> None:
        check_number("max_error", self.max_error, above=0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return verify_response(trajectory, self._score)

    def _score(self, verdict: MathVerdict) -> RewardOutput:
        if number_of(verdict.ground_truth) is None:
            reason = f"the ground truth {verdict.ground_truth!r:.60} is not a number"
            return RewardOutput.unscored(Status.UNPARSED, reason)
        error = Fraction(0) if verdict.correct else error_of(verdict)
        if error is None:
            return RewardOutput(0.0, score=0.0, reason=f"no number to compare: {verdict.reason}")
        value = float(max(Fraction(0), 1 - error / Fraction(str(self.max_error))))
        return RewardOutput(value, score=value, reason=verdict.reason)


@dataclass(frozen=True, repr=False)
class MultiAspectReward(RewardFunction):
    """0.4 · correctness + 0.3 · relevance + 0.2 · clarity + 0.1 · conciseness, or with weights of your own.

    0.6 of the weight is style, which can outweigh a wrong answer; gate it on correctness where that must not be.
    """

    deterministic = True
    pure = True

    correctness: float = 0.4
    relevance: float = 0.3
    clarity: float = 0.2
    conciseness: float = 0.1
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ASPECTS:
            check_number(f"the weight of {name}", getattr(self, name), least=0)
        total = sum(getattr(self, name) for name in ASPECTS)
        if not total:
            raise InvalidSettings("MultiAspectReward needs a weight above 0")
        set_field(self, "bounds", (0.0, float(total)))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        correctness = MathReward(partial=PARTIAL).compute_reward(trajectory)
        if not correctness.ok:
            return correctness
        response = trajectory.response
        components = {
            "correctness": correctness,
            "relevance": RewardOutput(evaluate_relevance(response, trajectory.prompt_text)),
            "clarity": RewardOutput(evaluate_clarity(response)),
            "conciseness": RewardOutput(evaluate_conciseness(response)),
        }
        value = sum(getattr(self, name) * (part.reward or 0.0) for name, part in components.items())
        reason = ", ".join(f"{name} {part.reward:.2f}" for name, part in components.items())
        return RewardOutput(value, score=correctness.score, reason=reason, components=components)


def _check_callable(check: Any) -> None:
    if not callable(check):
        raise InvalidSettings(f"a check is a function of (response, ground_truth), got {type(check).__name__}")
