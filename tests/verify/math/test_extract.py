"""What every extraction holds to, whatever the response."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify import MathPolicy, Rejection, Source, extract


def found(response, **switches):
    return extract(response, MathPolicy(**switches))


@pytest.mark.parametrize("response", ["", " \n", "\u200b", "<think>4", "<think>4</think>", r"\boxed{}", "...", "$$"])
def test_nothing_said_is_no_answer(response):
    assert found(response).answer is None
    assert found(response).rejected is Rejection.NONE_FOUND


def test_thoughts_count_where_the_policy_allows_it():
    assert found("<think>The answer is 4</think>", read_think=True).answer == "4"


def test_the_last_number_counts_unless_the_policy_says_no():
    assert found("She makes 26 a day for her work").answer == "26"
    assert found("She makes 26 a day for her work", last_number=False).source is Source.WHOLE


PIECES = [
    "\\boxed{", "}", "$", "\\(", "\\)", "answer is", "4", "or", "####", "<answer>", "</answer>", "**", "\n", "not",
    "wait", ":",
]  # fmt: skip


@given(st.text(st.characters(codec=None)) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_any_response_gets_an_extraction(response):
    extraction = found(response)
    assert (extraction.answer is None) == (extraction.rejected is Rejection.NONE_FOUND)
