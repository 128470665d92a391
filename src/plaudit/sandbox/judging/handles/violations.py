"""Checks that have failed for good, whatever the test does with the exception.

A judge process runs one test at a time, so the violations of the current check are kept here until the recorder takes
them.
"""

from typing import Any, NoReturn

_violations: list[str] = []
_refusals: list[str] = []
_loops: dict[int, bool] = {}  # loops over answers that the current test has come to: whether their checks have run


class CheckFailed(AssertionError):
    """A check used a value of the program in a way that cannot pass."""


class ProgramLost(BaseException):
    """The program has ended; a test that catches `Exception` must not continue."""


class UnsupportedTest(BaseException):
    """The tests need something that cannot be judged, also where they catch this exception."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        _refusals.append(reason)


def violate(reason: str) -> NoReturn:
    """Fail the current check."""
    _violations.append(reason)
    raise CheckFailed(reason)


def take_violation() -> str:
    """The first violation since the last call; empty if there was none."""
    return _take_first(_violations)


def take_refusal() -> str:
    """Why the tests cannot be judged, since the last call; empty if they can."""
    return _take_first(_refusals)


def _take_first(reasons: list[str]) -> str:
    first = reasons[0] if reasons else ""
    reasons.clear()
    return first


def note_turn(loop: int, runs: bool, value: Any = True) -> Any:
    """Note that the tests have come to a loop over an answer, which is the value, or that its checks run."""
    _loops[loop] = runs or _loops.get(loop, False)
    return value


def take_empty_loop() -> str:
    """Why the checks of a loop never ran since the last call; empty if all did."""
    has_empty = not all(_loops.values())
    _loops.clear()
    return "not run: what the program gave to loop over was empty" if has_empty else ""
