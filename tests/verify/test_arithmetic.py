import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.arithmetic import false_sums


@pytest.mark.parametrize(
    "text", ["2 + 2 = 5", "13 * 2 = $27", "so 10/4=2.4.", "2 + 3 * 4 = 20", "36 x 1/2 = 17", "1,000 + 1 = 1,002"]
)
def test_false_sums_are_found(text):
    assert list(false_sums(text))


@pytest.mark.parametrize(
    "text",
    [
        "2 + 2 = 4",
        "36 x 1/2 = 18",
        "10 / 3 = 3.33",
        "10 / 3 = 3",
        "(2 + 3) * 4 = 20",
        "x + 2 = 5",
        "3 + 4 = 7 * 2 = 14",
        "100 * 20% = 20",
        "1 / 0 = 5",
        "5 - 10 = -5",
        "2^2 + 1 = 5",
    ],
)
def test_true_rounded_and_unreadable_sums_are_not_reported(text):
    assert not list(false_sums(text))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-3, 3))
def test_a_sum_is_false_exactly_when_it_is_off(left, right, off):
    total = left + right + off
    assert bool(list(false_sums(f"{left} + {right} = {total}"))) == (off != 0 and total >= 0)
