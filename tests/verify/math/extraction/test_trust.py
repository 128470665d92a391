"""The rules on what a response commits to: every rule has an example, and labelled responses say what they cost."""

import pytest

from plaudit.verify import MathPolicy, Rejection, Source, extract, verify_math
from plaudit.verify.math.extraction import trust
from plaudit.verify.math.extraction.trust import OFFERS, RULES
from tests.verify.math.trust_responses import responses

EXAMPLES = {
    "negation before it": "It is not 14.",
    "denial after it": r"\boxed{14} is wrong.",
    "retraction": r"\boxed{14}. That is wrong.",
    "operation in words": r"Half of \boxed{14}.",
    "open words inside it": r"\boxed{14?}",
    "unknown command": r"\color{white}\boxed{14}",
}
OFFERED = {
    "either": r"Thirteen or \boxed{14}",
    "or": r"\boxed{14} apples or 15 pears",
    "beside": r"\boxed{14} (15)",
    "correction": r"\boxed{14}. Correction: 15.",
    "statement": r"\boxed{14}. The correct value is 15.",
}
LETTERS = [
    "The answer is A, B.", r"\boxed{A} or B", r"\boxed{A}. Actually, B.", r"\boxed{A}. The answer is B.",
    r"\boxed{A}. It could also be B.", r"\boxed{A}. The correct option is (C).",
]  # fmt: skip
IN_WORDS = [r"\boxed{14} or fifteen", r"either thirteen or \boxed{14}", r"\boxed{14}. My final answer is fifteen."]


def test_every_rule_has_an_example():
    assert set(EXAMPLES) == {rule.name for rule in RULES}
    assert set(OFFERED) == {offer.name for offer in OFFERS}


@pytest.mark.parametrize(("name", "response"), EXAMPLES.items())
def test_each_rule_alone_rejects_its_example(name, response, monkeypatch):
    monkeypatch.setattr(trust, "RULES", ())
    assert verify_math("14", response).correct
    rule = next(rule for rule in RULES if rule.name == name)
    monkeypatch.setattr(trust, "RULES", (rule,))
    verdict = verify_math("14", response)
    assert (verdict.correct, verdict.rejected) == (False, rule.rejection)


@pytest.mark.parametrize(("name", "response"), OFFERED.items())
def test_each_form_alone_finds_the_other_value_of_its_example(name, response, monkeypatch):
    monkeypatch.setattr(trust, "OFFERS", ())
    assert verify_math("14", response).correct
    monkeypatch.setattr(trust, "OFFERS", tuple(offer for offer in OFFERS if offer.name == name))
    assert verify_math("14", response).rejected is Rejection.CONTRADICTED


@pytest.mark.parametrize("response", LETTERS)
def test_the_rules_read_letters_as_they_read_numbers(response):
    assert not verify_math("A", response).correct


@pytest.mark.parametrize("response", IN_WORDS)
def test_the_rules_read_numbers_in_words(response):
    assert verify_math("14", response).rejected


@pytest.mark.parametrize("held_out", [False, True])
def test_most_labelled_responses_that_are_wrong_are_rejected(held_out):
    wrong = [row for row in responses(held_out=held_out) if not row.is_right]
    assert sum(verify_math(row.truth, row.text).correct for row in wrong) <= 0.09 * len(wrong)


@pytest.mark.parametrize("held_out", [False, True])
def test_responses_that_are_right_are_accepted_whatever_remarks_they_make(held_out):
    right = [row for row in responses(held_out=held_out) if row.is_right]
    assert sum(verify_math(row.truth, row.text).correct for row in right) >= 0.98 * len(right)


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{14} (since 15 is odd)",
        r"\boxed{14}, not 15.",
        r"\boxed{14}, that is, \boxed{14}",
        r"\boxed{14} or 14.0",
        r"\boxed{14}. Check: 20 - 6 = 14. Yes.",
        r"\boxed{14}. The key idea was to divide 42 by 3.",
        r"There are \boxed{14} pairs, namely 1, 2 and 3.",
        "The answer is 15. Wait, I made a mistake. The answer is 14.",
        r"\boxed{15}. No, that is wrong. So \boxed{14}",
        r"I don't know, but \boxed{14}",
        "I can't be sure, yet the answer is 14",
        "We don't know x. It is 14.",
        r"The total is \boxed{14} years until he is tall enough.",
        "**The total is 14.**",
    ],
)
def test_what_leaves_an_answer_as_it_is_does_not_reject_it(response):
    assert verify_math("14", response).correct


def test_a_question_at_the_end_is_no_statement():
    extraction = extract("Tom has 14 apples. Shall I solve 3 more?", MathPolicy())
    assert (extraction.answer, extraction.source) == ("14", Source.NUMBER)


@pytest.mark.parametrize("denial", ["答案不是 4。", "La réponse n'est pas 4.", "Die Antwort ist nicht 4."])
def test_a_denial_in_another_language_is_a_denial(denial):
    assert extract(denial, MathPolicy()).rejected is Rejection.DENIED
