"""Whatever a reward does to its samples is seen, and nothing is seen where it did nothing."""

import math

import pytest

from plaudit import Trajectory, reward
from plaudit.testing.checking.subjects import LocalSubject


def changed(rewarding, sample):
    [observation] = LocalSubject(rewarding).observe([sample])
    return observation.changed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, 2), (1, 1.0), (1, True), ((1, 2), [1, 2]), (0.0, -0.0), ("a", "b"), ({1}, {2}), (1 << 70, 1 << 71),
        ("\ud800", ""),
    ],
)  # fmt: skip
def test_a_value_that_is_replaced_is_a_change_however_alike_they_are(before, after):
    @reward
    def replaces(metadata):
        metadata["value"] = after
        return 1.0

    sample = Trajectory("?", "!", metadata={"value": before})
    assert changed(replaces, sample)


@pytest.mark.parametrize("value", [1, (1, [2]), math.nan, [math.nan], {1, 2}, "\ud800", 1 << 70], ids=repr)
def test_a_value_that_stays_is_none(value):
    @reward
    def looks(metadata):
        return float(len(metadata))

    assert not changed(looks, Trajectory("?", "!", metadata={"value": value}))
