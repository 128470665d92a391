"""The rewards and shaping terms that come with plaudit, by the names that specs use."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.rewards.code import CodeReward
from plaudit.rewards.format import FormatReward, TemplateReward
from plaudit.rewards.keyword import KeywordReward, WordReward
from plaudit.rewards.length import LengthReward
from plaudit.rewards.math import CheckNumbersReward, MathReward
from plaudit.rewards.patterns import ContinuousReward, GraduatedReward, MultiAspectReward
from plaudit.rewards.repetition import RepetitionPenalty
from plaudit.rewards.structured import StructuredOutputReward
from plaudit.shaping import CosineLength, HallucinationPenalty, LengthPenalty, ReasoningBonus, SoftOverlong

__all__ = ["BUILT_INS"]

BuiltIn: TypeAlias = type[RewardFunction] | partial[RewardFunction]


def _spelling(summary: str, reward: Callable[..., RewardFunction], **settings: Any) -> partial[RewardFunction]:
    """Another name for a reward with some settings; all of them can still be given."""
    spelled = partial(reward, **settings)
    spelled.__doc__ = summary
    return spelled


BUILT_INS: dict[str, BuiltIn] = {
    "length": LengthReward,
    "format": FormatReward,
    "keyword": KeywordReward,
    "repetition": RepetitionPenalty,
    "structured": StructuredOutputReward,
    "math": MathReward,
    "code": CodeReward,
    "check_answer": _spelling(
        "1.0 for the right final answer, 0.5 within 10 % of a numeric truth, else 0.0.", MathReward, partial=0.5
    ),
    "exact_match": _spelling("1.0 when the final answer is the ground truth, else 0.0; the same as math.", MathReward),
    "close_match": _spelling(
        "1.0 when the final answer is within `tolerance` of the ground truth (0.1 is 10 % of it), else 0.0.",
        MathReward,
        partial=1.0,
    ),
    "check_numbers": CheckNumbersReward,
    "template": TemplateReward,
    "binary": _spelling("1.0 when the final answer is right, else 0.0; the same as math.", MathReward),
    "graduated": GraduatedReward,
    "continuous": ContinuousReward,
    "multi_aspect": MultiAspectReward,
    "words": WordReward,
    "length_penalty": LengthPenalty,
    "soft_overlong": SoftOverlong,
    "cosine_length": CosineLength,
    "reasoning_bonus": ReasoningBonus,
    "hallucination_penalty": HallucinationPenalty,
}
"""Every built-in reward and shaping term by the name that configurations and the command line use."""
