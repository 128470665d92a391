"""Tables of answers for the tests of comparison: a line each, `truth ~~ answer`, under a heading for their form."""

import pytest

from plaudit.verify import MathPolicy, decide

__all__ = ["DEFAULT", "are_different", "are_same", "pairs"]

DEFAULT = MathPolicy()


def pairs(table):
    """The cases of a table as parameters of a test."""
    form, found = "", []
    for line in filter(None, table.splitlines()):
        if line.startswith("# "):
            form = line[2:]
        else:
            truth, answer = line.split("  ~~  ")
            found.append(pytest.param(truth, answer, id=f"{form}: {truth} | {answer}"))
    return found


def are_same(truth, answer):
    """Whether the two are equal, whichever of them is the truth."""
    return decide(truth, answer, DEFAULT).equal is True and decide(answer, truth, DEFAULT).equal is True


def are_different(truth, answer):
    """Whether the answer is wrong; the other way round it may be right, as 3.14 is a rounded truth for π."""
    return decide(truth, answer, DEFAULT).equal is not True
