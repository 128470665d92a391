"""Small terms that guide learning beside the main reward; keep their weight well below it."""

from plaudit.shaping.cosine import CosineLength
from plaudit.shaping.group_length import GroupLength
from plaudit.shaping.length import LengthPenalty
from plaudit.shaping.overlong import SoftOverlong
from plaudit.shaping.potential import PotentialShaping
from plaudit.shaping.style import HallucinationPenalty, ReasoningBonus

__all__ = [
    "CosineLength",
    "GroupLength",
    "HallucinationPenalty",
    "LengthPenalty",
    "PotentialShaping",
    "ReasoningBonus",
    "SoftOverlong",
]
