import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.report.collecting import MAX_BINS, distribution_of
from plaudit.report.figures import Bin

FLOATS = st.floats(-1e6, 1e6)


@given(st.lists(FLOATS, min_size=2, max_size=60))
def test_figures_agree_with_the_standard_library(values):
    spread = distribution_of(values)
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    assert spread.count == len(values)
    assert spread.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert spread.std == pytest.approx(statistics.pstdev(values), rel=1e-6, abs=1e-9)
    assert (spread.p25, spread.p50, spread.p75) == pytest.approx(tuple(quartiles), abs=1e-9)
    assert (spread.min, spread.max) == (min(values), max(values))
    assert spread.at_min == values.count(min(values)) / len(values)
    assert spread.at_max == values.count(max(values)) / len(values)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
def test_every_value_falls_into_one_bin_and_every_figure_is_finite(values):
    spread = distribution_of(values)
    assert sum(found.count for found in spread.bins) == len(values)
    for name in ("mean", "std", "p25", "p50", "p75"):
        assert math.isfinite(getattr(spread, name)), name
    assert spread.skewness is None or math.isfinite(spread.skewness)
    assert all(spread.min <= value <= spread.max for value in (spread.p25, spread.p50, spread.p75))


def test_skewness_agrees_with_its_definition():
    rng = random.Random(1)
    values = [rng.expovariate(1) for _ in range(500)]
    mean, std = statistics.fmean(values), statistics.pstdev(values)
    expected = statistics.fmean(((value - mean) / std) ** 3 for value in values)
    assert distribution_of(values).skewness == pytest.approx(expected)


def test_no_values_have_no_distribution():
    assert distribution_of([]) is None


def test_one_value_is_its_own_mean_and_has_no_skewness():
    spread = distribution_of([0.3])
    assert (spread.mean, spread.std, spread.p50, spread.skewness) == (0.3, 0.0, 0.3, None)
    assert (spread.at_min, spread.at_max) == (1.0, 1.0)
    assert spread.bins == (Bin(0.3, 0.3, 1),)


def test_constant_values_have_no_spread_at_all():
    spread = distribution_of([0.1] * 1000)
    assert (spread.mean, spread.std, spread.skewness) == (0.1, 0.0, None)


def test_the_largest_floats_do_not_overflow():
    spread = distribution_of([1.7e308, 1.7e308, -1.7e308])
    assert spread.mean == pytest.approx(1.7e308 / 3)
    assert spread.std == pytest.approx(1.7e308 * (math.sqrt(8) / 3))


def test_few_values_get_one_bin_each():
    assert distribution_of([1.0, 0.0, 1.0]).bins == (Bin(0.0, 0.0, 1), Bin(1.0, 1.0, 2))


def test_many_values_get_bins_of_equal_width_and_the_last_includes_its_end():
    bins = distribution_of([number / 100 for number in range(101)]).bins
    assert len(bins) == MAX_BINS
    assert [round(found.high - found.low, 9) for found in bins] == [0.1] * 10
    assert [found.count for found in bins] == [10] * 9 + [11]
