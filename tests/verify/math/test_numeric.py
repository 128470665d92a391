from fractions import Fraction

import pytest

from plaudit.verify import verify_math
from plaudit.verify.math.numeric import error_of, is_within, number_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", Fraction(4)),
        ("x = 1,250 miles", Fraction(1250)),
        (r"\$4.50", Fraction(9, 2)),
        (r"4 \text{ apples}", Fraction(4)),
        (r"\frac{1}{2}", Fraction(1, 2)),
        ("x = 8/2 = 4", Fraction(4)),
        ("8/2 = 5", None),
        ("2+2", None),
        ("more than 4", None),
        ("4 million", Fraction(4_000_000)),
        ("6/8", Fraction(3, 4)),
        ("50%", Fraction(50)),
        ("4, 5", None),
        ("2x = 4x", None),
        ("four", None),
        ("4" * 5000, None),
    ],
)
def test_a_short_text_stands_for_one_number_or_none(text, value):
    assert number_of(text) == value


def test_the_error_is_the_distance_of_the_answer_from_the_truth():
    assert error_of(verify_math("100", "The answer is 105")) == 5
    assert error_of(verify_math("100", "The answer is not 105")) is None
    assert error_of(verify_math("100", "no idea")) is None
    assert error_of(verify_math("x", "The answer is 105")) is None


def test_the_tolerance_is_a_share_of_the_truth_and_zero_has_none():
    near = verify_math("100", "The answer is 105")
    assert is_within(near, Fraction(1, 20))
    assert not is_within(near, Fraction(1, 21))
    assert not is_within(verify_math("0", "The answer is 0.001"), Fraction(1))
    assert is_within(verify_math("x", "x"), Fraction(0))
