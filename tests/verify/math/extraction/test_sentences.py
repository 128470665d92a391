"""The number that a sentence states, and the evidence that decides it."""

import pytest

from plaudit.verify.math.extraction.unmarked import BOUND, EVIDENCE, find_answer_number
from plaudit.verify.numbers import find_numbers

WEIGHTS = {
    "complement of a verb of being": 4,
    "amount of something": 3,
    "what remains or comes of it": 6,
    "given quantity": -3,
    "circumstance": -2,
    "object of an infinitive or participle": -2,
    "subordinate clause": -6,
    "bound": BOUND,
    "opinion of others": BOUND,
    "operand": BOUND,
}
STATED = {
    "complement of a verb of being": ("The total is 12 for 3 people.", "12"),
    "amount of something": ("He drives at a speed of 60 mph for 2 hours.", "60"),
    "what remains or comes of it": ("She gave up 3 seats, leaving 14 seats.", "14"),
    "given quantity": ("There are 720 ways to seat all 3 girls.", "720"),
    "circumstance": ("The team has 300 points after 5 games.", "300"),
    "object of an infinitive or participle": ("Tom has 8 apples left after giving 4 away.", "8"),
    "subordinate clause": ("Each gets 8 slices, since there are 3 pizzas.", "8"),
    "bound": ("It is greater than 5", None),
    "opinion of others": ("It is 15, though the book says 14", "15"),
    "operand": ("It is the square of 14", None),
}


def test_the_weights_are_the_ones_that_were_chosen():
    assert {evidence.name: evidence.weight for evidence in EVIDENCE} == WEIGHTS


@pytest.mark.parametrize(("sentence", "stated"), STATED.values(), ids=STATED)
def test_each_piece_of_evidence_decides_a_sentence(sentence, stated):
    number = find_answer_number(sentence, find_numbers(sentence))
    assert (number.text if number else None) == stated


def test_every_piece_of_evidence_has_its_sentence():
    assert STATED.keys() == WEIGHTS.keys()
