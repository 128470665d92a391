"""Log-probabilities, entropies and gradients of the lean computation are those of plain autograd."""

import pytest
import torch

from plaudit.training.model.policy import token_logprobs, token_logprobs_with_entropy


@pytest.mark.parametrize("scale", [1.0, 60.0], ids=["undecided", "sure"])
def test_both_ways_give_the_same_numbers_and_gradients(scale):
    generator = torch.Generator().manual_seed(1)
    logits = (scale * torch.randn(7, 50, generator=generator)).requires_grad_()
    ids, weights = torch.randint(50, (7,), generator=generator), torch.randn(7, generator=generator)
    lean, plain = token_logprobs(logits, ids), token_logprobs_with_entropy(logits, ids)
    for ours, theirs in zip(lean, plain, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-5)
    gradients = [torch.autograd.grad((chosen * weights).sum(), logits)[0] for chosen in (lean[0], plain[0])]
    torch.testing.assert_close(*gradients, atol=1e-6, rtol=1e-4)
    assert not lean[1].requires_grad
    assert plain[1].requires_grad
