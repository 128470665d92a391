"""The table of trust rules: every rule has an example, and the labelled responses say how often the table is right."""

import pytest

from plaudit.verify import MathPolicy, Rejection, Source, extract, verify_math
from plaudit.verify.math.extraction.trust import RULES
from tests.verify.math.trust_responses import responses

EXAMPLES = {
    "negation": "It is not 14.",
    "disbelief": "I do not think that the answer is 14.",
    "denied claim": "It is false that the answer is 14.",
    "opinion of others": "You may think the answer is 14.",
    "former opinion": "I first thought the answer is 14.",
    "other than": "Anything but 14.",
    "rejection": "We reject 14.",
    "wrong answer": "The wrong answer is 14.",
    "supposition": "If the answer were 14, we would be done.",
    "example": r"A number such as \boxed{14}.",
    "other amount": r"It is half of \boxed{14}.",
    "refusal": r"I refuse to answer \boxed{14}.",
    "open number after": r"\boxed{14}, give or take.",
    "question": r"Is the answer \boxed{14}?",
    "said of it": r"\boxed{14} is too large.",
    "is wrong": "14 (wrong)",
    "wrong remark": "The answer is 14 apples, which is wrong.",
    "denial inside": r"\boxed{14 \text{ is wrong}}",
    "open number inside": r"\boxed{14 \text{ or so}}",
    "condition inside": r"\boxed{14 \text{ if the box is open}}",
    "taken back": "#### 14\nScratch that.",
    "withdrawal": r"\boxed{14}. I withdraw this answer.",
    "distrust": r"\boxed{14}. Do not trust this.",
    "to be ignored": r"\boxed{14}. That should be disregarded.",
    "called wrong": r"\boxed{14}. Wait, that is wrong.",
    "no": r"\boxed{14}. No.",
    "second thought": r"\boxed{14}. Actually, it should be 15.",
    "next value": "The answer is 14, 15",
    "second case": "The answer is 14 if it rains and 15 if it snows.",
    "choice": r"\boxed{14} or 15",
    "choice before": r"15 or \boxed{14}",
    "one of": "It is one of 15, 13 and 14.",
    "choice opens a sentence": r"\boxed{14}. Or maybe 15.",
    "value alone": "#### 14\n15",
    "could be": r"\boxed{14}, though it could be 15",
    "also possible": r"\boxed{14} (15 is equally likely)",
    "replacement": r"\boxed{14}. Please take 15 instead.",
    "another statement": r"\boxed{14}. The correct value is 15.",
    "otherwise": r"\boxed{14}. If not, then 15.",
    "does not know": "I don't know. It is 14",
    "guess": "I give up. My lucky number is 14.",
    "condition after": "The answer is 14 if x > 0 and 15 if x < 0.",
    "condition": "If x = 2, the answer is 14.",
}


LETTERS = [
    "The answer is A, B.", "The answer is A, and also B.", r"\boxed{A} or B", r"\boxed{A}. Actually, B.",
    r"\boxed{A}. The answer is B.", r"\boxed{A}. It could also be B.", r"\boxed{A}. The correct option is (C).",
]  # fmt: skip
IN_WORDS = [r"\boxed{14} or fifteen", r"either thirteen or \boxed{14}", r"\boxed{14}. My final answer is fifteen."]


def test_every_rule_has_an_example():
    assert set(EXAMPLES) == {rule.name for rule in RULES}


@pytest.mark.parametrize(("name", "response"), EXAMPLES.items())
def test_each_rule_rejects_an_answer_in_its_own_words(name, response):
    rejection = next(rule.rejection for rule in RULES if rule.name == name)
    verdict = verify_math("14", response)
    assert (verdict.correct, verdict.rejected) == (False, rejection)


@pytest.mark.parametrize("response", LETTERS)
def test_the_rules_read_letters_as_they_read_numbers(response):
    assert verify_math("A", response).rejected


@pytest.mark.parametrize("response", IN_WORDS)
def test_the_rules_read_numbers_in_words(response):
    assert verify_math("14", response).rejected


def test_a_rule_only_matches_where_one_of_its_cues_stands():
    for text in [response.text for response in responses(held_out=False)]:
        words = frozenset("".join(c if c.isalpha() else " " for c in text.lower()).split())
        skipped = [rule for rule in RULES if not rule.may_match(words, text.lower())]
        assert [rule.name for rule in skipped if rule.pattern.search(text)] == [], text


@pytest.mark.parametrize("held_out", [False, True])
def test_the_table_agrees_with_the_labels_of_responses(held_out):
    labelled = responses(held_out=held_out)
    verdicts = [verify_math(row.truth, row.text).correct for row in labelled]
    assert sum(row.is_right == verdict for row, verdict in zip(labelled, verdicts, strict=True)) >= 0.97 * len(labelled)


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{14} (since 15 is odd)",
        r"\boxed{14}, not 15.",
        r"\boxed{14}. Note that 15 is not possible.",
        r"\boxed{14}. It could be 3 groups of those.",
        r"\boxed{14}, that is, \boxed{14}",
        r"\boxed{14} or 14.0",
        r"\boxed{14}. This was problem no. 3.",
        r"\boxed{14}. The other root is -3, which is extraneous. We made no error here.",
        "The answer is 15. Wait, I made a mistake. The answer is 14.",
        r"\boxed{15}. No, that is wrong. So \boxed{14}",
        r"I don't know, but \boxed{14}",
        "I can't be sure, yet the answer is 14",
        "We don't know x. It is 14.",
    ],
)
def test_a_remark_beside_an_answer_does_not_reject_it(response):
    assert verify_math("14", response).correct


@pytest.mark.parametrize("response", ["Tom has 14 apples. Shall I solve 3 more?", "There are 14 ways. See problem 3."])
def test_questions_and_references_state_nothing(response):
    found = extract(response, MathPolicy())
    assert (found.answer, found.source) == ("14", Source.NUMBER)


@pytest.mark.parametrize("denial", ["答案不是 4。", "La réponse n'est pas 4.", "Die Antwort ist nicht 4."])
def test_a_denial_in_another_language_is_a_denial(denial):
    assert extract(denial, MathPolicy()).rejected is Rejection.NEGATED
