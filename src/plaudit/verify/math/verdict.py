"""Is the answer of a response the right one?

`extract` lists the candidate answers of a response without knowing the ground truth, and one loop compares them with
it. An answer counts only when the response commits to it: one that is hedged, denied, taken back or contradicted is
wrong even where it is the truth. A ground truth that cannot be read gives UNPARSED_TRUTH, not a wrong answer.
"""

import math
import numbers
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from plaudit.errors import InvalidTrajectory
from plaudit.verify.math.choices import find_letter, find_options, may_name_option
from plaudit.verify.math.comparison.forms import Method
from plaudit.verify.math.equality import Decision, decide, quote
from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.math.extraction.candidates import (
    Candidate,
    CompetingAnswer,
    Extraction,
    extract,
    find_marks,
    tidy,
)
from plaudit.verify.math.extraction.marks import DIGIT, MATHEMATICAL, Rejection, Source
from plaudit.verify.math.extraction.trust import qualifies_itself
from plaudit.verify.math.extraction.unmarked import is_bare
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import find_numbers, is_reducible_fraction, parse_plain_number
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import remove_invisible


class VerdictStatus(StrEnum):
    """The outcome of a verification."""

    OK = "ok"
    UNPARSED_ANSWER = "unparsed answer"
    UNPARSED_TRUTH = "unparsed ground truth"
    NO_ANSWER = "no answer found"


class MathVerdict(NamedTuple):
    """Whether a response is right, the answer that was found in it and where, how it was decided, and why."""

    correct: bool
    status: VerdictStatus
    reason: str
    ground_truth: str
    answer: str | None = None
    source: Source | None = None
    method: Method | None = None
    rejected: Rejection | None = None


DEFAULT = MathPolicy()
_PLAIN_NUMBER = compile_late(r"-?\d[\d.,/]*")


def verify_math(
    ground_truth: Any, response: str, policy: MathPolicy = DEFAULT, *, prompt: str | None = None
) -> MathVerdict:
    r"""Compare the final answer of a response with the ground truth; options of multiple choice come from the prompt.

    Raises InvalidTrajectory for a ground truth that is neither text nor a number.

    >>> verify_math("1/2", r"So the answer is \boxed{0.5}.").correct
    True
    """
    truth = read_truth(ground_truth)
    extraction = extract(response, policy)
    if not extraction.candidates:
        return MathVerdict(False, VerdictStatus.NO_ANSWER, Rejection.NONE_FOUND.value, truth)
    first = extraction.candidates[0]
    if extraction.rejected and not _is_truth_verbatim(truth, first.text):
        return _reject(truth, extraction, first, extraction.rejected)
    decisions = []
    for candidate in extraction.candidates:
        decision = _decide(truth, candidate.text, policy, prompt)
        if decision.equal:
            return _accept_unless_contradicted(truth, extraction, candidate, decision, policy)
        decisions.append(decision)
    return _not_equal(truth, extraction, decisions[0])


def find_committed_answer(response: str, policy: MathPolicy = DEFAULT) -> Extraction:
    """The answer that a response commits to; `rejected` also where it offers another beside it or goes on after it."""
    extraction = extract(response, policy)
    if not extraction.candidates or extraction.rejected:
        return extraction
    competing = _find_competing_answer(extraction, extraction.candidates[0], policy)
    return extraction._replace(rejected=Rejection.CONTRADICTED) if competing else extraction


def _decide(truth: str, answer: str, policy: MathPolicy, prompt: str | None) -> Decision:
    """The decision on the answer as it stands, or on the options that truth and answer name by letter."""
    decision = decide(truth, answer, policy)
    if decision.equal and prompt and not policy.unevaluated and _is_copied_fraction(answer, truth, prompt):
        return Decision(False, decision.method, f"{quote(answer)} is a fraction of the prompt, not reduced")
    if decision.equal or not prompt or not (may_name_option(truth) or may_name_option(answer)):
        return decision
    options = find_options(prompt)
    truth_letter, answer_letter = find_letter(truth, options), find_letter(answer, options)
    if truth_letter and answer_letter:
        return Decision(truth_letter == answer_letter, Method.CHOICE, f"option {answer_letter} against {truth_letter}")
    if truth_letter and answer_letter is None:
        return decide(options[truth_letter], answer, policy)._replace(method=Method.CHOICE)
    if answer_letter and truth_letter is None:
        return decide(truth, options[answer_letter], policy)._replace(method=Method.CHOICE)
    return decision


def _is_copied_fraction(answer: str, truth: str, prompt: str) -> bool:
    """Whether an answer is a fraction that can be reduced and that the prompt shows already."""
    if not is_reducible_fraction(answer) or is_reducible_fraction(truth):
        return False
    value = parse_plain_number(answer)
    shown = [number for number in find_numbers(prompt) if number.is_fraction and number.value == value]
    return any(is_reducible_fraction(number.text) for number in shown)


def _accept_unless_contradicted(
    truth: str, extraction: Extraction, candidate: Candidate, decision: Decision, policy: MathPolicy
) -> MathVerdict:
    """Right, unless the response offers something else beside the right answer."""
    if competing := _find_competing_answer(extraction, candidate, policy):
        return _reject(truth, extraction, candidate, Rejection.CONTRADICTED, competing)
    return MathVerdict(
        True, VerdictStatus.OK, decision.reason, truth, candidate.text, extraction.source, decision.method
    )


def _find_competing_answer(extraction: Extraction, candidate: Candidate, policy: MathPolicy) -> CompetingAnswer | None:
    """The first answer that a response gives beside a candidate and that differs from it."""
    for competing in extraction.competing_answers:
        if not candidate.holds_all and _differs(candidate.text, competing, policy):
            return competing
    return None


def _differs(answer: str, competing: CompetingAnswer, policy: MathPolicy) -> bool:
    """Whether a competing answer is another answer of the same kind, no remark in words or other form of the same."""
    if bool(DIGIT.search(answer)) != bool(DIGIT.search(competing.text)):
        return False
    if DIGIT.search(answer) and not is_bare(competing.text):
        return False
    forms = dict.fromkeys(form for form in (competing.text, competing.whole) if form)
    pairs = [pair for form in forms for pair in ((answer, form), (form, answer))]
    verdicts = [decide(one, other, policy).equal for one, other in pairs]
    return verdicts[0] is False and True not in verdicts


def _is_truth_verbatim(truth: str, answer: str) -> bool:
    """Whether an answer in words is the truth itself: "not defined at 3"."""
    return " ".join(truth.split()) == " ".join(answer.split()) and qualifies_itself(truth)


def _reject(
    truth: str, extraction: Extraction, candidate: Candidate, why: Rejection, competing: CompetingAnswer | None = None
) -> MathVerdict:
    beside = f" and {quote(competing.text)}" if competing else ""
    reason = f"{why.value}: {quote(candidate.text)}{beside}"
    return MathVerdict(False, VerdictStatus.OK, reason, truth, candidate.text, extraction.source, rejected=why)


def _not_equal(truth: str, extraction: Extraction, decision: Decision) -> MathVerdict:
    answer = extraction.answer or ""
    status, reason = VerdictStatus.OK, decision.reason
    if decision.unparsed == "truth":
        status, reason = VerdictStatus.UNPARSED_TRUTH, f"the ground truth cannot be read: {reason}"
    elif decision.equal is None:
        status, reason = VerdictStatus.UNPARSED_ANSWER, f"{quote(answer)} is undecided: {reason}"
    elif extraction.source is Source.WHOLE and not MATHEMATICAL.search(answer) and DIGIT.search(truth):
        # mere words where the truth is a number: "I do not know" for 42
        return MathVerdict(False, VerdictStatus.NO_ANSWER, Rejection.NONE_FOUND.value, truth)
    return MathVerdict(False, status, reason, truth, answer, extraction.source, decision.method)


@lru_cache(maxsize=64)  # the samples of a group share their truth
def _read_text(text: str) -> str | None:
    text = text if text.isascii() else remove_invisible(text)
    if not text.strip():
        return None
    marks = [] if _PLAIN_NUMBER.fullmatch(text) else find_boxes(text, closed=False) or find_marks(text)
    return tidy(marks[-1].text if marks else text)


def read_truth(ground_truth: Any) -> str:
    """The answer in a ground truth; raises InvalidTrajectory for what is no text with something in it and no number."""
    if isinstance(ground_truth, str | bool):
        if (text := _read_text(str(ground_truth))) is not None:
            return text
    elif isinstance(ground_truth, numbers.Real | Decimal) and math.isfinite(ground_truth):
        return str(ground_truth)
    raise InvalidTrajectory(
        f"the ground truth must be text or a finite number, got {type(ground_truth).__name__} {ground_truth!r:.60}"
    )
