"""Other names for `MathReward` with some settings, as people look for them; all settings can still be given."""

from functools import partial
from typing import Any

from plaudit.rewards.math import MathReward


def _spelling(summary: str, **settings: Any) -> partial[MathReward]:
    spelled: partial[MathReward] = partial(MathReward, **settings)
    spelled.__doc__ = summary
    return spelled


check_answer = _spelling("1.0 for the right final answer, 0.5 within 10 % of a numeric truth, else 0.0.", partial=0.5)
exact_match = _spelling("1.0 when the final answer is the ground truth, else 0.0; the same as math.")
close_match = _spelling(
    "1.0 when the final answer is within `tolerance` of the ground truth (0.1 is 10 % of it), else 0.0.", partial=1.0
)
binary = _spelling("1.0 when the final answer is right, else 0.0; the same as math.")
