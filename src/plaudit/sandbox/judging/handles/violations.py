"""Checks that have failed for good, whatever the test does with the exception.

A judge process runs one test at a time, so the violations of the current check are kept here until the recorder takes
them.
"""

from typing import NoReturn

__all__ = ["CheckFailed", "ProgramLost", "UnsupportedTest", "take_violation", "violate"]

_violations: list[str] = []


class CheckFailed(AssertionError):
    """A check used a value of the program in a way that cannot pass."""


class ProgramLost(BaseException):
    """The program has ended; a test that catches `Exception` must not continue."""


class UnsupportedTest(BaseException):
    """The tests need something that cannot be judged."""


def violate(reason: str) -> NoReturn:
    """Fail the current check."""
    _violations.append(reason)
    raise CheckFailed(reason)


def take_violation() -> str:
    """The first violation since the last call; empty if there was none."""
    first = _violations[0] if _violations else ""
    _violations.clear()
    return first
