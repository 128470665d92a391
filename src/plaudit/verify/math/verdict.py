"""Is the answer of a response the right one?

An answer counts only when the response commits to it: one that is hedged, denied, taken back or contradicted is wrong
even where it says the truth. A ground truth that cannot be read is nobody's wrong answer, and the status says so.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from plaudit.verify.math.choices import find_letter, find_options
from plaudit.verify.math.comparison.forms import Method
from plaudit.verify.math.equality import Decision, decide, quote
from plaudit.verify.math.extract import (
    Extraction,
    extract,
    extract_final_statement,
    extract_unmarked,
    read_response,
    read_truth,
)
from plaudit.verify.math.extraction.doubts import Rejection, denies_itself
from plaudit.verify.math.extraction.marks import Source
from plaudit.verify.math.extraction.rivals import Rival
from plaudit.verify.math.extraction.unmarked import is_bare
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import normalize_text

__all__ = ["MathVerdict", "VerdictStatus", "find_committed_answer", "verify_math"]


class VerdictStatus(StrEnum):
    """What became of a verification."""

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


def verify_math(
    ground_truth: Any, response: str, policy: MathPolicy = DEFAULT, *, prompt: str | None = None
) -> MathVerdict:
    r"""Compare the final answer of a response with the ground truth; options of multiple choice come from the prompt.

    Raises InvalidTrajectory for a ground truth that is neither text nor a number.

    >>> verify_math("1/2", r"So the answer is \boxed{0.5}.").correct
    True
    """
    truth = read_truth(ground_truth)
    found = extract(response, policy)
    if found.answer is None:
        return MathVerdict(False, VerdictStatus.NO_ANSWER, Rejection.NONE_FOUND.value, truth)
    if found.rejected and not _is_truth_verbatim(truth, found):
        return _reject(truth, found, found.rejected)
    if found.condition and not _is_given(found.condition, prompt):
        return _reject(truth, found, Rejection.CONDITIONAL)
    decision = _decision(truth, found.answer, policy, prompt)
    if decision.equal:
        return _accept_unless_rivalled(truth, found, decision, policy)
    if found.together and (joint := decide(truth, found.together, policy)).equal:
        others = tuple(rival for rival in found.rivals if rival.why is not Rejection.CONTRADICTED)
        return _accept_unless_rivalled(truth, found._replace(answer=found.together, rivals=others), joint, policy)
    if found.source is Source.PHRASE and _DIGIT.search(truth) and not _MATHEMATICAL.search(found.answer):
        return _verify_unmarked(truth, response, found, policy)
    if (whole := _whole_decision(truth, response, found, policy)) is not None:
        others = tuple(rival for rival in found.rivals if rival.why is not Rejection.HEDGED)
        return _accept_unless_rivalled(truth, found._replace(answer=found.whole, rivals=others), whole, policy)
    if found.source is Source.BOXED and (final := _final_decision(truth, response, policy)) is not None:
        return final
    if found.source is Source.PHRASE and _STATING.search(found.answer):
        return _verify_sentence(truth, found, decision, policy)
    return _not_equal(truth, found, decision)


def find_committed_answer(response: str, policy: MathPolicy = DEFAULT) -> Extraction:
    """The answer that a response commits to; `rejected` also where it offers another beside it or sets a condition."""
    found = extract(response, policy)
    if found.answer is None or found.rejected:
        return found
    if found.condition:
        return found._replace(rejected=Rejection.CONDITIONAL)
    for rival in found.rivals:
        if _differs(found.answer, rival, policy):
            return found._replace(rejected=rival.why)
    return found


_EXPLICIT = {Source.BOXED, Source.TAG, Source.HASHES}
_DIGIT = compile_late(r"\d")
_STATING = compile_late(
    r"^[^\W\d_]{2,}[^\d]*\b(?:has|have|had|will|can|needs?|takes?|costs?|gets?|made|left|sold|spent|[^\W\d_]{3,}ed)\b"
)  # a subject and its verb before any number
_MATHEMATICAL = compile_late(r"[\d\\=+^∞∅π√(]|\b(?:arc|a)?(?:sin|cos|tan|ln|log|sqrt)")


def _decision(truth: str, answer: str, policy: MathPolicy, prompt: str | None) -> Decision:
    """The decision on the answer as it stands, or on the options that truth and answer name by letter."""
    decision = decide(truth, answer, policy)
    if decision.equal or not prompt or not (options := find_options(prompt)):
        return decision
    truth_letter, answer_letter = find_letter(truth, options), find_letter(answer, options)
    if truth_letter and answer_letter:
        return Decision(truth_letter == answer_letter, Method.CHOICE, f"option {answer_letter} against {truth_letter}")
    if truth_letter and answer_letter is None:
        return decide(options[truth_letter], answer, policy)._replace(method=Method.CHOICE)
    if answer_letter and truth_letter is None:
        return decide(truth, options[answer_letter], policy)._replace(method=Method.CHOICE)
    return decision


def _is_given(condition: str, prompt: str | None) -> bool:
    """Whether the prompt sets the condition of an answer, which then only repeats it."""
    return "".join(condition.split()) in "".join((prompt or "").split())


def _final_decision(truth: str, response: str, policy: MathPolicy) -> MathVerdict | None:
    """The verdict that what is called the final answer after a box is right, where it is."""
    final = extract_final_statement(read_response(response, policy))
    if final is None or final.answer is None or final.rejected:
        return None
    decision = decide(truth, final.answer, policy)
    return _accept_unless_rivalled(truth, final, decision, policy) if decision.equal else None


def _verify_sentence(truth: str, found: Extraction, decision: Decision, policy: MathPolicy) -> MathVerdict:
    """The verdict where "the answer:" announces a sentence, "Jane started 3 hours ago"."""
    inner = extract_unmarked(found.answer or "", policy)
    if inner.answer is None or inner.rejected or inner.source is not Source.NUMBER:
        return _not_equal(truth, found, decision)
    stated = decide(truth, inner.answer, policy)
    if not stated.equal:
        return _not_equal(truth, found, decision)
    return _accept_unless_rivalled(truth, inner._replace(rivals=(*inner.rivals, *found.rivals)), stated, policy)


def _verify_unmarked(truth: str, response: str, found: Extraction, policy: MathPolicy) -> MathVerdict:
    """The verdict where "the answer is even" announces words and the number comes without a mark."""
    other = extract_unmarked(read_response(response, policy), policy)
    if other.answer is None or other.rejected or other.source is Source.WHOLE:
        return _not_equal(truth, found, decide(truth, found.answer or "", policy))
    decision = decide(truth, other.answer, policy)
    if decision.equal:
        return _accept_unless_rivalled(truth, other, decision, policy)
    return _not_equal(truth, other, decision)


def _whole_decision(truth: str, response: str, found: Extraction, policy: MathPolicy) -> Decision | None:
    """The decision that the statement as a whole is the truth ("4 or 5"), where it is."""
    if found.source is Source.PHRASE and found.whole != found.answer:
        decision = decide(truth, found.whole, policy)
        if decision.equal:
            return decision
    if found.source in _EXPLICIT:
        return None
    said = read_response(response, policy).strip()
    if " " in truth and len(said) <= 4 * len(truth) + 100 and normalize_text(said) == normalize_text(truth):
        return Decision(True, Method.TEXT, "the response is the ground truth word for word")
    return None


def _accept_unless_rivalled(truth: str, found: Extraction, decision: Decision, policy: MathPolicy) -> MathVerdict:
    """Right, unless the response offers something else beside the right answer."""
    for rival in found.rivals:
        if _differs(found.answer or "", rival, policy):
            return _reject(truth, found, rival.why)
    return MathVerdict(True, VerdictStatus.OK, decision.reason, truth, found.answer, found.source, decision.method)


def _differs(answer: str, rival: Rival, policy: MathPolicy) -> bool:
    """Whether a rival is another answer of the same kind; remarks in words and other forms of the same are not."""
    if bool(_DIGIT.search(answer)) != bool(_DIGIT.search(rival.text)):
        return False
    if _DIGIT.search(answer) and not is_bare(rival.text):
        return False
    forms = [rival.text, rival.whole] if rival.whole and rival.whole != rival.text else [rival.text]
    pairs = [pair for form in forms for pair in ((answer, form), (form, answer))]
    verdicts = [decide(one, other, policy).equal for one, other in pairs]
    return verdicts[0] is False and True not in verdicts


def _is_truth_verbatim(truth: str, found: Extraction) -> bool:
    """Whether an answer that denies something is the truth in its own words: "not defined at 3"."""
    answer = found.answer or ""
    return denies_itself(answer) and denies_itself(truth) and normalize_text(answer) == normalize_text(truth)


def _reject(truth: str, found: Extraction, why: Rejection) -> MathVerdict:
    reason = f"{why.value}: {quote(found.answer or '')}"
    return MathVerdict(False, VerdictStatus.OK, reason, truth, found.answer, found.source, rejected=why)


def _not_equal(truth: str, found: Extraction, decision: Decision) -> MathVerdict:
    status, reason = VerdictStatus.OK, decision.reason
    if decision.unparsed == "truth":
        status, reason = VerdictStatus.UNPARSED_TRUTH, f"the ground truth cannot be read: {reason}"
    elif decision.equal is None:
        status, reason = VerdictStatus.UNPARSED_ANSWER, f"{quote(found.answer or '')} is undecided: {reason}"
    elif _is_chatter(truth, found):
        return MathVerdict(False, VerdictStatus.NO_ANSWER, Rejection.NONE_FOUND.value, truth)
    return MathVerdict(False, status, reason, truth, found.answer, found.source, decision.method)


def _is_chatter(truth: str, found: Extraction) -> bool:
    """Whether mere words were given where the truth is a number: "I do not know" for 42."""
    is_words = found.source is Source.WHOLE and not _MATHEMATICAL.search(found.answer or "")
    return is_words and _DIGIT.search(truth) is not None
