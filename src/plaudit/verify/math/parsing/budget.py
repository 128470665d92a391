"""How much work one verification may cost: beyond these bounds an input is undecided, never slow.

The two exceptions never leave the package: `decide` turns them into a decision with a reason.
"""

__all__ = [
    "MAX_BITS",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "MAX_LENGTH",
    "MAX_NODES",
    "MAX_TERMS",
    "MAX_WRITTEN",
    "OverBudget",
    "Unreadable",
]

MAX_LENGTH = 20_000  # characters of one answer
MAX_NODES = 6_000  # of one tree
MAX_DEPTH = 40  # brackets within brackets
MAX_WRITTEN = 4_000  # digits of one number; Python itself reads no more than 4,300
MAX_BITS = 24_000  # of a number that is worked out
MAX_TERMS = 300  # of a sum or product that is written out
MAX_ITEMS = 2_000  # of a list


class Unreadable(ValueError):
    """Text that does not read as mathematics."""


class OverBudget(Unreadable):
    """Text that would take too long to read or to work out."""
