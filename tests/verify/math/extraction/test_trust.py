"""The rules on the form of a statement: every rule has an example, and labelled responses say what each costs."""

import pytest

from plaudit.verify import MathPolicy, Rejection, Source, extract, verify_math
from plaudit.verify.math.extraction import trust
from plaudit.verify.math.extraction.trust import RULES
from tests.verify.math.trust_responses import responses

EXAMPLES = {
    "denial before it": "It is not 14.",
    "condition before it": "If x = 2, the answer is 14.",
    "no words that lead up to it": r"We subtract \boxed{14}.",
    "something else of the answer": r"Half the answer is \boxed{14}.",
    "part of an expression in words": r"The complement of \boxed{14}.",
    "remark after it": r"\boxed{14} breaks the parity condition.",
    "remark inside it": r"\boxed{14 \text{ roughly}}",
    "unknown command": r"\color{white}\boxed{14}",
}
LETTERS = [
    "The answer is A, B.", "The answer is A, and also B.", r"\boxed{A} or B", r"\boxed{A}. Actually, B.",
    r"\boxed{A}. The answer is B.", r"\boxed{A}. It could also be B.", r"\boxed{A}. The correct option is (C).",
]  # fmt: skip
IN_WORDS = [r"\boxed{14} or fifteen", r"either thirteen or \boxed{14}", r"\boxed{14}. My final answer is fifteen."]


def test_every_rule_has_an_example():
    assert set(EXAMPLES) == {rule.name for rule in RULES}


@pytest.mark.parametrize(("name", "response"), EXAMPLES.items())
def test_each_rule_alone_rejects_its_example(name, response, monkeypatch):
    monkeypatch.setattr(trust, "RULES", ())
    assert verify_math("14", response).correct
    rule = next(rule for rule in RULES if rule.name == name)
    monkeypatch.setattr(trust, "RULES", (rule,))
    verdict = verify_math("14", response)
    assert (verdict.correct, verdict.rejected) == (False, rule.rejection)


@pytest.mark.parametrize("before", sorted(trust._PLAIN))
def test_no_rule_forbids_what_stands_before_most_answers(before):
    statement = trust.Statement(before, before, "14", "", Source.PHRASE)
    assert [rule.name for rule in RULES if rule.forbids(statement)] == []


@pytest.mark.parametrize("response", LETTERS)
def test_the_rules_read_letters_as_they_read_numbers(response):
    assert not verify_math("A", response).correct


@pytest.mark.parametrize("response", IN_WORDS)
def test_the_rules_read_numbers_in_words(response):
    assert verify_math("14", response).rejected


@pytest.mark.parametrize("held_out", [False, True])
def test_labelled_responses_that_are_wrong_are_hardly_ever_accepted(held_out):
    wrong = [row for row in responses(held_out=held_out) if not row.is_right]
    assert sum(verify_math(row.truth, row.text).correct for row in wrong) <= 0.005 * len(wrong)


def test_nine_tenths_of_the_right_responses_full_of_remarks_are_accepted():
    right = [row for held_out in (False, True) for row in responses(held_out=held_out) if row.is_right]
    assert sum(verify_math(row.truth, row.text).correct for row in right) >= 0.9 * len(right)


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{14} (since 15 is odd)",
        r"\boxed{14}, not 15.",
        r"\boxed{14}, that is, \boxed{14}",
        r"\boxed{14} or 14.0",
        r"\boxed{14}. Check: 20 - 6 = 14. Yes.",
        "The answer is 15. Wait, I made a mistake. The answer is 14.",
        r"\boxed{15}. No, that is wrong. So \boxed{14}",
        r"I don't know, but \boxed{14}",
        "I can't be sure, yet the answer is 14",
        "We don't know x. It is 14.",
        r"The total is \boxed{14} years until he is tall enough.",
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
