"""Prompts that several responses share are read once, and nobody can tell by the numbers."""

import pytest
import torch

from plaudit.training.model import decoder as shared_prompts
from plaudit.training.model.decoder import response_states
from plaudit.training.model.decoder_weights import DecoderWeights
from plaudit.training.model.loading import tiny_policy

SHORT, LONG, OTHER = [5, 6], [5, 6, 7, 8, 9], [9, 4, 30, 31, 32]
BATCHES = {
    "groups side by side": ([SHORT] * 3 + [LONG] * 3, [[1, 2, 3], [4], [7, 8, 9, 1], [3, 3], [2, 9, 9, 9, 1], [6]]),
    "groups mixed up": ([LONG, SHORT, LONG, SHORT], [[1, 2], [3, 4, 5], [6], [7, 8, 9]]),
    "one a beginning of the other": ([[5], [5, 6], [5], [5, 6]], [[6, 7], [8], [6, 7, 8], [9, 9]]),
    "one token each": ([OTHER] * 4, [[1], [2], [3], [1]]),
}


@pytest.fixture(scope="module")
def policy():
    return tiny_policy(seed=1)


def states_and_gradients(policy, prompts, responses):
    batch = policy.pack(prompts, responses)
    weights = DecoderWeights.of(policy.model, batch.ids_B_L.shape[1])
    states = response_states(weights, batch.ids_B_L, batch.starts_B, batch.lengths_B)
    parts = states.split([len(response) for response in responses])
    taught = [parameter for name, parameter in policy.model.named_parameters() if "lm_head" not in name]
    return parts, torch.autograd.grad(sum((part**3).sum() for part in parts), taught)


@pytest.mark.parametrize(("prompts", "responses"), BATCHES.values(), ids=BATCHES)
def test_shared_prompts_give_the_states_and_gradients_of_rows_read_alone(policy, monkeypatch, prompts, responses):
    read = []
    together = shared_prompts.hidden_states
    monkeypatch.setattr(
        shared_prompts, "hidden_states", lambda *given, **told: read.append(given[1]) or together(*given, **told)
    )
    states, gradients = states_and_gradients(policy, prompts, responses)
    assert len(read[0]) == len({tuple(prompt) for prompt in prompts})
    alone = [
        states_and_gradients(policy, [prompt], [response]) for prompt, response in zip(prompts, responses, strict=True)
    ]
    for state, ([expected], _) in zip(states, alone, strict=True):
        torch.testing.assert_close(state, expected, atol=1e-5, rtol=1e-4)
    for place, gradient in enumerate(gradients):
        expected = sum(each[place] for _, each in alone)
        torch.testing.assert_close(gradient, expected, atol=1e-3, rtol=1e-3)


UNSHARED = {"different prompts": ([SHORT, LONG, OTHER], 1 << 25), "too long a mask": ([LONG, LONG, LONG], 4)}


@pytest.mark.parametrize(("prompts", "limit"), UNSHARED.values(), ids=UNSHARED)
def test_rows_are_computed_alone_where_sharing_prompts_saves_nothing(policy, monkeypatch, prompts, limit):
    monkeypatch.setattr(shared_prompts, "MAX_MASK", limit)
    read = []
    alone = shared_prompts.hidden_states
    monkeypatch.setattr(
        shared_prompts, "hidden_states", lambda *given, **told: read.append(given[1]) or alone(*given, **told)
    )
    states, _ = states_and_gradients(policy, prompts, [[1, 2], [3], [4, 5]])
    assert [len(ids) for ids in read] == [3]
    expected, _ = states_and_gradients(policy, prompts[:1], [[1, 2]])
    torch.testing.assert_close(states[0], expected[0], atol=1e-5, rtol=1e-4)
