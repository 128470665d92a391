"""Files that others wrote give the numbers of their home, or an error that names what is missing; no other numbers."""

import pytest

from benchmarks.foreign import FAILS, MEANING, OTHER, REFUSED, SEEDS, run
from tests.shared_data import shared

NEEDS_ITS_MACHINE = "hj611+openrlhf/examples__python__reward_func.py"  # writes a log to a folder of its author

# None in a user's clone, where the tests beside this one use files of our own.
RESULTS = run(list(SEEDS)) if shared("foreign") else []


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: f"{each.path}:{each.entry}")
def test_a_file_of_the_four_systems_agrees_with_its_home(result):
    assert result.verdict in MEANING
    assert result.verdict != OTHER, result.detail
    assert result.verdict != FAILS or result.path.endswith(NEEDS_ITS_MACHINE), result.detail
    assert result.verdict != REFUSED or result.detail


def test_most_entries_with_recorded_numbers_give_them():
    same = [each for each in RESULTS if each.verdict == "same"]
    assert len(same) >= 31 or not RESULTS
