"""The number that a sentence states."""

import pytest

from plaudit.verify.math.extraction.unmarked import find_answer_number
from plaudit.verify.numbers import find_numbers

STATED = [
    ("The total is 12 for 3 people.", "12"),
    ("He drives at a speed of 60 mph for 2 hours.", "60"),
    ("She gave up 3 seats, leaving 14 seats.", "14"),
    ("There are 720 ways to seat all 3 girls.", "720"),
    ("The team has 300 points after 5 games.", "300"),
    ("Tom has 8 apples left after giving 4 away.", "8"),
    ("Each gets 8 slices, since there are 3 pizzas.", "8"),
    ("We start with 14 apples and end up with 9 apples.", "9"),
    ("It is greater than 5", None),
    ("It is 15, though the book says 14", "15"),
    ("It is the square of 14", None),
]


@pytest.mark.parametrize(("sentence", "stated"), STATED)
def test_a_sentence_states_its_last_number_behind_a_verb_of_being_else_its_last(sentence, stated):
    number = find_answer_number(sentence, find_numbers(sentence))
    assert (number.text if number else None) == stated
