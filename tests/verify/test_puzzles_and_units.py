"""Puzzles and quantities: what is read, what it is worth."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.errors import InvalidSettings
from plaudit.verify import Countdown, KnightsKnaves, Quantity, Sudoku
from plaudit.verify.answers.quantities import read_quantities
from plaudit.verify.puzzles import evaluate


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("8 / (3 - 8 / 3)", 24), ("7 - 2 - 1", 4), ("8 / 4 / 2", 1)],
)
def test_expressions_have_their_exact_value(expression, value):
    assert evaluate(expression)[0] == value


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(1, 99)), min_size=1, max_size=8), st.integers(1, 99))
def test_expressions_have_the_value_that_python_gives(tail, first):
    expression = f"{first}" + "".join(f" {operator} {number}" for operator, number in tail)
    assert evaluate(expression) == (Fraction(eval(expression)), [first, *(number for _, number in tail)])


@pytest.mark.parametrize("expression", ["", "1 +", "1 / 0", "2 ** 3", "1.5 + 1", "-1 + 2", "(1", "1)", "1 2", "f(1)"])
def test_other_texts_are_no_expressions(expression):
    with pytest.raises(ValueError):  # noqa: PT011 - the messages differ
        evaluate(expression)


def test_deep_brackets_are_refused_and_do_not_overflow():
    verdict = Countdown().verify({"target": 1, "nums": [1]}, "(" * 400 + "1" + ")" * 400)
    assert verdict.score == 0.0


def test_the_reason_names_the_value_or_the_numbers():
    row = {"target": 10, "nums": [2, 5, 3]}
    assert "is 30, not 10" in Countdown().verify(row, "2 * 5 * 3").reason
    assert "numbers used are [2, 5]" in Countdown().verify(row, "2 * 5").reason
    with pytest.raises(InvalidSettings):
        Countdown(target="24")


def test_the_first_fault_of_a_grid_is_named():
    puzzle = {"puzzle": "1234341221434320"}
    assert Sudoku().verify(puzzle, "1234341221434321").passed
    assert Sudoku().verify(puzzle, "2134341221434321").reason == "row 1, column 1 was 1 in the puzzle"
    assert Sudoku().verify(puzzle, "1234341221434322").reason == "row 4 is 4 3 2 2"


def test_a_puzzle_that_contradicts_itself_is_declined():
    assert "contradicts itself" in Sudoku().verify({"puzzle": "11" + "0" * 14}, "x").reason


def test_people_that_are_wrong_or_missing_are_named():
    verdict = KnightsKnaves().verify({"ground_truth": "(1) Ann is a knight (2) Ben is a knave"}, "Ann is a knave.")
    assert verdict.reason == "wrong or missing: ann, ben"


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("5 km", [(5.0, "kilometer")]),
        ("3 × 10^8 m/s", [(3e8, "meter / second")]),
        ("1,000.5 N·m", [(1000.5, "meter * newton")]),
        ("5 in total", [(5.0, "")]),
        ("12 apples", [(12.0, "")]),
        ("2 m and 3 s", [(2.0, "meter"), (3.0, "second")]),
        ("m", []),
        ("1e999 m", []),
        ("0A(", [(0.0, "")]),
    ],
)
def test_quantities_are_read_with_their_units(text, quantities):
    assert read_quantities(text) == quantities


def test_zero_is_compared_without_a_relative_error():
    assert Quantity().verify({"answer": "0 m"}, "0 km").passed
    assert not Quantity().verify({"answer": "0 m"}, "1 mm").passed


def test_settings_out_of_range_are_refused():
    with pytest.raises(InvalidSettings):
        Quantity(tolerance=-1)
