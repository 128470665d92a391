"""The rewards that come with plaudit, one idea a file."""

from plaudit.contract.function import RewardFunction
from plaudit.rewards.answer import CheckAnswerReward
from plaudit.rewards.aspects import MultiAspectReward
from plaudit.rewards.close import CloseMatchReward
from plaudit.rewards.code import CodeReward
from plaudit.rewards.exact import ExactMatchReward
from plaudit.rewards.format import FormatReward
from plaudit.rewards.keyword import KeywordReward
from plaudit.rewards.length import LengthReward
from plaudit.rewards.math import MathReward
from plaudit.rewards.numbers import CheckNumbersReward
from plaudit.rewards.patterns import BinaryReward, ContinuousReward, GraduatedReward
from plaudit.rewards.repetition import RepetitionPenalty
from plaudit.rewards.structured import StructuredOutputReward
from plaudit.rewards.template import TemplateReward
from plaudit.rewards.tokens import WordReward
from plaudit.shaping import CosineLength, HallucinationPenalty, LengthPenalty, ReasoningBonus, SoftOverlong

__all__ = [
    "BUILT_INS",
    "BinaryReward",
    "CheckAnswerReward",
    "CheckNumbersReward",
    "CloseMatchReward",
    "CodeReward",
    "ContinuousReward",
    "ExactMatchReward",
    "FormatReward",
    "GraduatedReward",
    "KeywordReward",
    "LengthReward",
    "MathReward",
    "MultiAspectReward",
    "RepetitionPenalty",
    "StructuredOutputReward",
    "TemplateReward",
    "WordReward",
]

BUILT_INS: dict[str, type[RewardFunction]] = {
    "length": LengthReward,
    "format": FormatReward,
    "keyword": KeywordReward,
    "repetition": RepetitionPenalty,
    "structured": StructuredOutputReward,
    "math": MathReward,
    "code": CodeReward,
    "check_answer": CheckAnswerReward,
    "exact_match": ExactMatchReward,
    "close_match": CloseMatchReward,
    "check_numbers": CheckNumbersReward,
    "template": TemplateReward,
    "binary": BinaryReward,
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
