"""Units beside numbers."""

import pytest

from plaudit.verify.math.parsing.units import is_unit, power_of, unit_of

UNITS = {
    "cm": "cm",
    "Meters": "m",
    "km/h": "km/h",
    "kilometers per hour": "km/h",
    "miles per hour": "mi/h",
    "mph": "mi/h",
    "square meters": "m^2",
    "cm^2": "cm^2",
    "pounds": "lb",
    "pound sterling": "sterling",
    "apples": None,
    "apples per hour": None,
    "miles per apple": None,
}


@pytest.mark.parametrize(("said", "unit"), UNITS.items(), ids=UNITS)
def test_words_name_a_unit_or_none(said, unit):
    assert unit_of(said) == unit


def test_scales_powers_and_letters_that_are_units():
    assert (power_of("cubic feet"), power_of("feet")) == (3, 1)
    assert is_unit("cm")
    assert not is_unit("xy")
