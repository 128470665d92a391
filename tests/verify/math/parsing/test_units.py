"""Units beside numbers."""

from fractions import Fraction

import pytest

from plaudit.verify.math.parsing.units import Unit, is_unit, power_of, unit_of

UNITS = {
    "cm": Unit("length", Fraction(1, 100)),
    "Meters": Unit("length", Fraction(1)),
    "km/h": Unit("length/time", Fraction(1000, 3600)),
    "miles per hour": Unit("length/time", Fraction(1609344, 3600 * 1000)),
    "square meters": Unit("length^2", Fraction(1)),
    "cm^2": Unit("length^2", Fraction(1, 10_000)),
    "apples": None,
}


@pytest.mark.parametrize(("said", "unit"), UNITS.items(), ids=UNITS)
def test_words_name_a_unit_or_none(said, unit):
    assert unit_of(said) == unit


def test_scales_powers_and_letters_that_are_units():
    assert (power_of("cubic feet"), power_of("feet")) == (3, 1)
    assert is_unit("cm")
    assert not is_unit("xy")
