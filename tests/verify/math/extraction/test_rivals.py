"""What a response offers beside its answer."""

import pytest

from plaudit.verify import MathPolicy, Rejection, extract
from plaudit.verify.math.extraction.rivals import ALTERNATIVES

CALLED_POSSIBLE = [
    r"\boxed{14}, though it could be 15",
    r"\boxed{14} (just guessing: 15 is equally likely)",
    r"\boxed{14}. Otherwise 15.",
]
REMARKS = [
    r"\boxed{14} (since 15 is odd)",
    r"\boxed{14}, not 15.",
    r"\boxed{14}. Note that 15 is not possible.",
    r"\boxed{14}. It could be 3 groups of those.",
]


def rivals(response):
    return [(rival.text, rival.why) for rival in extract(response, MathPolicy()).rivals]


@pytest.mark.parametrize("response", CALLED_POSSIBLE)
def test_a_number_that_is_called_possible_too_is_a_rival(response):
    assert ("15", Rejection.HEDGED) in rivals(response)


def test_every_way_to_call_a_number_possible_has_its_example():
    firsts = [next(place for place, found in enumerate(ALTERNATIVES) if found.search(text)) for text in CALLED_POSSIBLE]
    assert firsts == list(range(len(ALTERNATIVES)))


@pytest.mark.parametrize("response", REMARKS)
def test_a_number_in_a_remark_is_no_rival(response):
    assert not rivals(response)
