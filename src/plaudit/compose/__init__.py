"""Rewards made of rewards, beyond what `+ - *`, `.clip`, `.gate` and `.normalized` say."""

from plaudit.compose.combinators import bonus, cautious, gdpo, lexicographic, maximum, median, minimum, product
from plaudit.compose.tasks import TaskReward

__all__ = [
    "TaskReward",
    "bonus",
    "cautious",
    "gdpo",
    "lexicographic",
    "maximum",
    "median",
    "minimum",
    "product",
]
