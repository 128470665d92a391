from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.numbers import (
    MAX_DIGITS,
    decimal_value,
    find_numbers,
    last_place,
    parse_number,
    parse_plain_number,
    to_plain_number,
)

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("1,000 and 1,234.5", [1000, Fraction(2469, 2)], id="thousands separators"),
        pytest.param("1 000", [1, 0], id="a space does not separate thousands"),
        pytest.param("1,2,3", [1, 2, 3], id="a list is not thousands"),
        pytest.param("$26", [26], id="currency"),
        pytest.param("-5 and −5 and –5", [-5, -5, -5], id="three kinds of minus"),
        pytest.param("-$5 $-5", [-5, -5], id="minus before and after the currency"),
        pytest.param("10-5", [10, 5], id="subtraction is no sign"),
        pytest.param("1/2", [Fraction(1, 2)], id="fraction"),
        pytest.param("1 1/2 cups", [Fraction(3, 2)], id="mixed number"),
        pytest.param("\\frac{1}{2} 3\\frac{1}{2}", [Fraction(1, 2), Fraction(7, 2)], id="LaTeX fractions"),
        pytest.param("1/2/2024", [], id="a date is not a number"),
        pytest.param("1/0", [], id="nothing is divided by zero"),
        pytest.param("1.5e3 2E-2", [1500, Fraction(1, 50)], id="scientific"),
        pytest.param("1e2001 1e-2001 1e99999999", [], id="exponents out of bounds"),
        pytest.param("４２ ٤٢ 𝟒𝟐", [42, 42, 42], id="digits of other scripts"),
        pytest.param("3 + 4 = <<3+4=7>>7", [3, 4, 7], id="calculator marks"),
        pytest.param("inf nan infinity", [], id="words for infinity"),
        pytest.param("x2 b_1 H2O", [], id="names that end in digits"),
        pytest.param(r"\frac12 2\frac34", [Fraction(1, 2), Fraction(11, 4)], id="LaTeX fractions without braces"),
        pytest.param("0,123", [0, 123], id="thousands do not begin with zero"),
        pytest.param(".5 3.", [Fraction(1, 2), 3], id="leading and trailing points"),
        pytest.param("1.2.3", [Fraction(6, 5)], id="a version is at most its first number"),
    ],
)
def test_numbers_are_read_exactly(text, values):
    assert [number.value for number in find_numbers(text)] == values


def test_percent_sign_is_a_flag_and_leaves_the_value():
    (number,) = find_numbers("50 %")
    assert (number.value, number.percent) == (50, True)


@pytest.mark.parametrize("text", ["4", " -1,234.50 ", "- 5", "1/2", "$3", "50%"])
def test_whole_text_that_is_a_number_is_parsed(text):
    assert parse_number(text) is not None


@pytest.mark.parametrize("text", ["", "4 5", "4 apples", "four", "9" * 2001, "nan", "1e2001", "5."])
def test_whole_text_that_is_more_than_a_number_is_not_parsed(text):
    assert parse_number(text) is None


def test_plain_numbers_are_ints_where_whole_and_never_overflow():
    assert [to_plain_number(Fraction(4)), to_plain_number(Fraction(1, 2))] == [4, 0.5]
    assert to_plain_number(Fraction(10**400 * 2 + 1, 2)) == 10**400


@given(ANY_TEXT)
def test_any_text_is_read_and_places_are_right(text):
    for number in find_numbers(text):
        assert text[number.start : number.end] == number.text


@given(st.fractions(max_denominator=10**6))
def test_a_written_fraction_is_read_back(value):
    assert parse_number(f"{value.numerator}/{value.denominator}") == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_a_written_decimal_is_read_back(value):
    assert parse_number(f"{value:,f}") == Fraction(value)


DIGITS = st.text("0123456789", min_size=1, max_size=40)
WRITTEN = st.builds(
    lambda whole, decimals, exponent: f"{int(whole):,}{decimals}{exponent}",
    DIGITS,
    st.just("") | DIGITS.map(lambda digits: f".{digits}"),
    st.just("") | st.integers(-MAX_DIGITS // 2, MAX_DIGITS // 2).map(lambda power: f"e{power}"),
)


@given(WRITTEN)
def test_every_reader_of_numbers_gives_the_same_value(text):
    value = Fraction(text.replace(",", ""))
    assert decimal_value(text) == parse_number(text) == parse_plain_number(text) == parse(text).value == value


@given(WRITTEN)
def test_the_last_place_is_the_power_of_ten_of_the_last_digit(text):
    mantissa, _, exponent = text.partition("e")
    assert last_place(text) == int(exponent or 0) - len(mantissa.partition(".")[2])


@given(st.sampled_from([MAX_DIGITS, MAX_DIGITS + 1]), st.integers(0, 50), st.booleans())
def test_a_number_is_read_up_to_the_limit_of_digits_written_out(length, power, is_decimal):
    digits = "7" * (length - power)
    text = f"{digits[:-1]}.{digits[-1]}e{power}" if is_decimal else f"{digits}e-{power}"
    assert (decimal_value(text) is None) == (length > MAX_DIGITS)


@given(DIGITS, DIGITS, DIGITS)
def test_a_repeating_decimal_is_the_sum_of_its_digits(whole, fixed, repeated):
    tail = Fraction(int(repeated), (10 ** len(repeated) - 1) * 10 ** len(fixed))
    assert decimal_value(rf"{whole}.{fixed}\overline{{{repeated}}}") == Fraction(f"{whole}.{fixed}") + tail


@pytest.mark.parametrize("text", ["$3", "50%", "4 apples", "2+2", ""])
def test_a_plain_number_has_no_sign_of_money_or_percent_and_no_words(text):
    assert parse_plain_number(text) is None
