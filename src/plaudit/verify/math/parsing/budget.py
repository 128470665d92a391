"""How much work one decision may cost: beyond these bounds an input is undecided, never slow.

Work is counted in nodes that are read, substituted or evaluated, not in seconds, so that a verdict is the same on every
machine. The two exceptions do not leave the package: `decide` turns them into a decision with a reason.
"""

import threading

__all__ = [
    "MAX_BITS",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "MAX_LENGTH",
    "MAX_LEVELS",
    "MAX_NODES",
    "MAX_TERMS",
    "OverBudget",
    "Unreadable",
    "spend",
    "start_work",
]

MAX_LENGTH = 20_000  # characters of one answer
MAX_NODES = 6_000  # of one tree
MAX_DEPTH = 40  # brackets within brackets
MAX_LEVELS = 150  # of one tree, so that no walk over it runs out of stack
MAX_BITS = 24_000  # of a number that is worked out
MAX_TERMS = 300  # of a sum or product that is written out
MAX_ITEMS = 2_000  # of a list
MAX_WORK = 200_000  # nodes that one decision evaluates


class Unreadable(ValueError):
    """Text that does not read as mathematics."""


class OverBudget(Unreadable):
    """Text that would take too long to read or to work out."""


class _Work(threading.local):
    left = MAX_WORK


_work = _Work()


def start_work() -> None:
    """Give the next decision its budget."""
    _work.left = MAX_WORK


def spend(nodes: int) -> None:
    """Pay for work before it is done; raises OverBudget where too little is left."""
    _work.left -= nodes
    if _work.left < 0:
        raise OverBudget(f"more than {MAX_WORK:,} steps")
