"""Tokens are drawn from the distribution that transformers would draw them from."""

import pytest
import torch
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from plaudit.training import SamplingSettings
from plaudit.training.model.generating import apply_temperature, draw_numbers, draw_tokens, generator_for

DRAWS = 20_000
SETTINGS = {
    "plain": (SamplingSettings(), []),
    "cooled": (SamplingSettings(temperature=0.5), [TemperatureLogitsWarper(0.5)]),
    "top k": (SamplingSettings(top_k=5), [TopKLogitsWarper(5)]),
    "top p": (SamplingSettings(top_p=0.7), [TopPLogitsWarper(0.7)]),
    "min p": (SamplingSettings(min_p=0.1), [MinPLogitsWarper(0.1)]),
    "all of them": (
        SamplingSettings(temperature=1.5, top_k=9, top_p=0.8, min_p=0.3),
        [TemperatureLogitsWarper(1.5), TopKLogitsWarper(9), TopPLogitsWarper(0.8), MinPLogitsWarper(0.3)],
    ),
}


@pytest.mark.parametrize(("settings", "warpers"), SETTINGS.values(), ids=SETTINGS)
def test_tokens_are_drawn_as_often_as_transformers_would(settings, warpers):
    logits = 2 * torch.randn(1, 40, generator=torch.Generator().manual_seed(3))
    expected = LogitsProcessorList(warpers)(torch.zeros(1, 1, dtype=torch.long), logits).softmax(-1)[0]
    [numbers] = draw_numbers(1, DRAWS, settings, generator_for(torch.device("cpu"), 7))
    drawn = draw_tokens(apply_temperature(logits, settings).expand(DRAWS, -1), settings, numbers)
    often = drawn.bincount(minlength=40) / DRAWS
    assert not often[expected == 0].any()
    spread = (expected * (1 - expected) / DRAWS).sqrt()
    assert ((often - expected).abs() <= 4 * spread + 2 / DRAWS).all()


@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 2**-53])
def test_no_number_leads_to_an_impossible_token(number):
    scores = torch.full((3, 6), -torch.inf)
    scores[0, 2] = scores[1, 0] = scores[2, 5] = 0.0
    drawn = draw_tokens(scores, SamplingSettings(), torch.full((3,), number, dtype=torch.float64))
    assert drawn.tolist() == [2, 0, 5]


def test_a_greedy_draw_needs_no_random_numbers():
    settings = SamplingSettings(temperature=0)
    assert draw_numbers(4, 2, settings, torch.Generator()) is None
    assert draw_tokens(torch.tensor([[0.0, 2.0, 1.0]]), settings, None).tolist() == [1]
