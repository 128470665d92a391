"""Correctness of the final answer: equal, close, and the numbers it contains.

Only the final answer counts, so a right number elsewhere in the working earns nothing.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypedDict

from plaudit.errors import InvalidTrajectory
from plaudit.verify import MathPolicy, MathVerdict, VerdictStatus, verify_math
from plaudit.verify.math.numeric import find_stated_numbers, is_within, number_of
from plaudit.verify.math.verdict import find_committed_answer, read_truth
from plaudit.verify.numbers import to_plain_number

PARTIAL_TOLERANCE = Fraction(1, 10)
# The problem is known to who answers it: an answer that still has to be worked out may be a copy of it.
POLICY = MathPolicy(unevaluated=False)


class NumberCheck(TypedDict):
    """The result of `check_numbers`: the numbers, the expected numbers among them, and the score of the match."""

    extracted: list[int | float]
    matches: list[bool]
    score: float


def check_answer(response: str, ground_truth: Any) -> float:
    """1.0 for the right final answer, 0.5 within 10 % of a numeric truth other than zero, else 0.0.

    Hedged, denied, retracted and contradicting answers are 0.0. Answers left to work out are wrong: "2+2" is not 4.

    >>> check_answer("2 + 2 = 4. The answer is 4.", "4")
    1.0
    """
    verdict = _verify(response, ground_truth)
    return 1.0 if verdict.correct else 0.5 if is_within(verdict, PARTIAL_TOLERANCE) else 0.0


def check_numbers(response: str, expected: Any) -> NumberCheck:
    r"""The distinct numbers in answer position ("answer is", "=", "####", `\boxed{}`, `<answer>`), and which match.

    Without any such position all numbers count. `score` is the share of expected numbers found; offering more final
    numbers than were asked for lowers it, so listing candidates does not pay. Cannot tell which number answers what; a
    single expected number must be the answer that the response commits to.

    >>> check_numbers("2 + 2 = 4. The answer is 4.", [4])
    {'extracted': [4], 'matches': [True], 'score': 1.0}
    """
    wanted = [_number(truth) for truth in _as_list(expected)]
    numbers, final = find_stated_numbers(response)
    extracted = list(dict.fromkeys(number.value for number in numbers))
    matches = [want in extracted for want in wanted]
    offered = max(len(wanted), len({number.value for number in final}))
    score = sum(matches) / offered if wanted else 0.0
    if score == 1.0 and len(wanted) == 1 and not _verify(response, _as_list(expected)[0]).correct:
        matches, score = [False], 0.0  # the one number is there, but denied, taken back or part of another
    return {"extracted": [to_plain_number(value) for value in extracted], "matches": matches, "score": score}


def extract_number(response: str) -> float | None:
    """The number that a response gives as its final answer, or None if it gives none that counts.

    >>> extract_number("The answer is 42.")
    42.0
    """
    commitment = find_committed_answer(response, POLICY)
    number = None if commitment.answer is None or commitment.rejected else number_of(commitment.answer)
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def exact_match(response: str, ground_truth: Any) -> bool:
    """Whether the final answer is the truth: equal as a number, or the same text but for case and punctuation."""
    return _verify(response, ground_truth).correct


def close_match(response: str, ground_truth: Any, tolerance: float = 0.1) -> bool:
    """Whether the final answer is the truth or off by at most `tolerance` of it (0.1 is 10 %).

    Only numbers can be close, and nothing is close to zero but zero.
    """
    if not 0.0 <= tolerance < float("inf"):
        raise ValueError(f"tolerance is a share of the truth, 0 or more, got {tolerance}")
    return is_within(_verify(response, ground_truth), Fraction(str(tolerance)))


def is_correct(response: str, ground_truth: Any) -> bool:
    """Whether the final answer is right; the same as `exact_match`, named for reading."""
    return exact_match(response, ground_truth)


def is_partially_correct(response: str, ground_truth: Any) -> bool:
    """Whether the final answer is within 10 % of a numeric truth; right answers are too. Text is never partly right."""
    return close_match(response, ground_truth, tolerance=float(PARTIAL_TOLERANCE))


def check_correctness(response: str, ground_truth: Any) -> float:
    """1.0 when the final answer is right, else 0.0: no partial credit."""
    return 1.0 if is_correct(response, ground_truth) else 0.0


def evaluate_correctness(response: str, ground_truth: Any) -> float:
    """How right the final answer is: the value of `check_answer`, with partial credit."""
    return check_answer(response, ground_truth)


def _verify(response: str, ground_truth: Any) -> MathVerdict:
    verdict = verify_math(ground_truth, response, POLICY)
    if verdict.status is VerdictStatus.UNPARSED_TRUTH:
        raise InvalidTrajectory(verdict.reason)
    return verdict


def _number(expected: Any) -> Fraction:
    value = number_of(read_truth(expected))
    if value is None:
        raise InvalidTrajectory(f"an expected number must be a number, got {expected!r:.60}")
    return value


def _as_list(expected: Any) -> list[Any]:
    return list(expected) if isinstance(expected, Iterable) and not isinstance(expected, str) else [expected]
