"""Is the answer of a response the right one? Numbers are compared exactly, everything else as normalised text."""

import enum
import math
import numbers
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.verify.answers import Answer, How, Trouble, final_answer, spoken
from plaudit.verify.values import MAX_LENGTH, FalseEquation, Value, comparable, value_of

__all__ = ["Judgement", "Truth", "Verdict", "judge", "read_truth"]


class Verdict(enum.Enum):
    """What a comparison came to."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class Truth:
    """A ground truth that answers can be compared with."""

    text: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with the answer it is about and a reason in words."""

    verdict: Verdict
    reason: str
    answer: Answer | None
    truth: Truth

    @property
    def is_right(self) -> bool:
        return self.verdict is Verdict.RIGHT

    @property
    def error(self) -> Fraction | None:
        """How far the answer is from the truth, where both are numbers and the answer counts."""
        answer, truth = self.answer, self.truth
        if answer is None or answer.trouble or answer.value is None or truth.value is None:
            return None
        return abs(answer.value.number - truth.value.number)

    def is_within(self, tolerance: Fraction) -> bool:
        """True when the answer is right or off by at most `tolerance` of a truth that is not zero."""
        if self.is_right or self.error is None or self.truth.value is None:
            return self.is_right
        return self.error <= tolerance * abs(self.truth.value.number) if self.truth.value.number else False


def read_truth(ground_truth: Any) -> Truth:
    """A ground truth as text and, where it is one, as a number; raises InvalidTrajectory for what is neither."""
    if isinstance(ground_truth, numbers.Real | Decimal) and not isinstance(ground_truth, bool):
        if math.isfinite(ground_truth):
            return Truth(str(ground_truth), Value(Fraction(str(ground_truth))))
    elif isinstance(ground_truth, str | bool) and comparable(str(ground_truth)):
        return _text_truth(str(ground_truth))
    raise InvalidTrajectory(
        f"the ground truth must be text or a finite number, got {type(ground_truth).__name__} {ground_truth!r:.60}"
    )


def judge(response: str, truth: Truth) -> Judgement:
    """Compare the final answer of a response with the truth."""
    answer = final_answer(response)
    if answer is None:
        return Judgement(Verdict.NO_ANSWER, "no answer found", None, truth)
    shown = f"{_short(answer.text)} ({answer.how.value})"
    if _same_text(answer, truth) or _is_whole(response, truth):
        return Judgement(Verdict.RIGHT, f"{shown} is the truth", answer, truth)
    if answer.trouble:
        return Judgement(Verdict.WRONG, f"{answer.trouble.value}: {shown}", answer, truth)
    if answer.value and truth.value and answer.value.same_as(truth.value):
        return Judgement(Verdict.RIGHT, f"{shown} equals {_short(truth.text)}", answer, truth)
    if answer.how is How.WHOLE and truth.value is not None:
        return Judgement(Verdict.NO_ANSWER, "no answer found", answer, truth)
    return Judgement(Verdict.WRONG, f"{shown} is not {_short(truth.text)}", answer, truth)


def _text_truth(text: str) -> Truth:
    """Worked solutions are reduced to the answer that they mark with a box, a tag or hashes."""
    answer = final_answer(text)
    if answer is not None and answer.how in (How.BOXED, How.TAGGED, How.HASHES) and not answer.trouble:
        return Truth(answer.text, answer.value)
    try:
        return Truth(text, value_of(text))
    except FalseEquation:
        return Truth(text, None)


def _same_text(answer: Answer, truth: Truth) -> bool:
    """A choice of answers may itself be the truth ("4, 5"); any other trouble stands."""
    text, whole = comparable(answer.text[:MAX_LENGTH]), comparable(answer.whole[:MAX_LENGTH])
    if answer.trouble is Trouble.HEDGED:
        return whole != text and comparable(truth.text) == whole
    return answer.trouble is None and comparable(truth.text) in (text, whole)


def _is_whole(response: str, truth: Truth) -> bool:
    """Whether the response is the truth word for word; far longer text cannot be."""
    said = spoken(response).strip()
    return len(said) <= 4 * len(truth.text) + 100 and comparable(said) == comparable(truth.text)


def _short(text: str) -> str:
    text = " ".join(text[:200].split())
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
