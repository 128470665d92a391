"""A batch computed in pieces gives what the whole gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from plaudit.training.learning.update_batch import Pieces, cut_by_tokens


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 200))
def test_a_budget_of_tokens_is_kept_and_nothing_is_lost(lengths, budget):
    pieces = cut_by_tokens(lengths, budget)
    assert sorted(place for piece in pieces for place in piece) == list(range(len(lengths)))
    for piece in pieces:
        padded = len(piece) * max(lengths[place] for place in piece)
        assert padded <= budget or len(piece) == 1


@pytest.mark.parametrize("pieces", [Pieces(3), Pieces(max_tokens=20), Pieces(max_tokens=1), Pieces(100)])
def test_numbers_of_pieces_stand_where_those_of_the_whole_stand(warm_policy, pieces):
    sampled = warm_policy.sampler().sample(["12=", "4321=", "9=", "776655="], 3)
    batch = warm_policy.batch(sampled)
    with torch.no_grad():
        whole = warm_policy.logprobs(batch).logprobs_B_T
        cut = pieces.compute(lambda part: warm_policy.logprobs(part).logprobs_B_T, batch)
    torch.testing.assert_close(cut, whole, atol=1e-5, rtol=0)
