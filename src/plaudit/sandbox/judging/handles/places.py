"""Where tests use answers: what goes wrong there is a fault of the program, and anywhere else one of the tests.

Whether tests can be scored depends on the tests alone. So a judge refuses tests only for an expression that uses no
answer. A judge process runs one suite at a time, so the places of the current one are kept here.
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from types import FrameType
from typing import NoReturn, TypeAlias

from plaudit.sandbox.judging.handles.violations import UnsupportedTest, violate

TESTS = "<tests>"  # the file name of compiled tests
Place: TypeAlias = tuple[int | None, int | None, int | None, int | None]  # lines and columns of an expression
_answers: dict[Place, bool] = {}
_check_lines: set[int] = set()


def watch(answers: Mapping[Place, bool], check_lines: Collection[int]) -> None:
    """Set the calls that use answers, True for those with an answer among their arguments, and the lines of checks."""
    _answers.clear()
    _answers.update(answers)
    _check_lines.clear()
    _check_lines.update(check_lines)


def refuse(reason: str) -> NoReturn:
    """Refuse the tests, or fail the check where the call that cannot be made has an answer among its arguments."""
    if uses_answer():
        violate(reason)
    raise UnsupportedTest(reason)


def uses_answer() -> bool:
    """Whether the call that the tests are making has an answer among its arguments."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != TESTS:
        frame = frame.f_back
    return frame is not None and _answers.get(_place(frame, frame.f_lasti), False)


def is_of_tests(error: BaseException) -> bool:
    """Whether an error was raised by the tests, where they use no answer, and not by an answer that they evaluate."""
    steps = list(_steps(error))
    evaluated = steps and steps[-1][0].f_code.co_filename == "<string>"
    places = [_place(frame, position) for frame, position, _ in steps if frame.f_code.co_filename == TESTS]
    return not evaluated and (not places or places[-1] not in _answers)


def is_in_check(error: BaseException) -> bool:
    """Whether an error was raised while the tests evaluated a check."""
    return any(frame.f_code.co_filename == TESTS and line in _check_lines for frame, _, line in _steps(error))


def _steps(error: BaseException) -> Iterator[tuple[FrameType, int, int]]:
    """The frames, instructions and lines that an error passed through."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
        traceback = traceback.tb_next


def _place(frame: FrameType, instruction: int) -> Place:
    return list(frame.f_code.co_positions())[instruction // 2]
