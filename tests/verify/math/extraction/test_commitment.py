"""Numbers that a response names without standing behind them."""

import pytest

from plaudit.verify import MathPolicy, Rejection, Source, extract


@pytest.mark.parametrize(
    "response",
    [
        "I don't know. It is 14",
        "I have no idea; say 14 of them.",
        "My guess is 14.",
        "I give up. My lucky number is 14.",
        "There are 14, but I could not really solve it.",
    ],
)
def test_a_number_of_someone_who_does_not_know_is_guessed(response):
    assert extract(response, MathPolicy()).rejected is Rejection.GUESSED


@pytest.mark.parametrize(
    "response", [r"I don't know, but \boxed{14}", "I can't be sure, yet the answer is 14", "We don't know x. It is 14."]
)
def test_a_marked_answer_counts_however_shy(response):
    assert extract(response, MathPolicy()).rejected is None


@pytest.mark.parametrize("response", ["Tom has 14 apples. Shall I solve 3 more?", "There are 14 ways. See problem 3."])
def test_questions_and_references_state_nothing(response):
    found = extract(response, MathPolicy())
    assert (found.answer, found.source) == ("14", Source.NUMBER)
