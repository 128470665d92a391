"""Clip-Cov and KL-Cov single out the tokens of their paper, and nothing else changes."""

import pytest
import torch
from msgspec.structs import replace

from plaudit.training.config.learning_keys import LOSSES, LossSettings
from plaudit.training.learning.log_ratios import pick_at_random, pick_largest, token_covariance
from plaudit.training.learning.losses import Anchors, pick_covariant, policy_loss


@pytest.fixture
def batch():
    """Log-probs now and when sampled, advantages, a ragged mask: 6 samples of up to 20 tokens."""
    torch.manual_seed(3)
    old = -3 * torch.rand(6, 20, dtype=torch.float64)
    now = (old + 0.3 * torch.randn(6, 20, dtype=torch.float64)).requires_grad_()
    mask = (torch.arange(20) < torch.tensor([20, 3, 11, 1, 17, 8])[:, None]).double()
    return now, old, torch.randn(6, 1, dtype=torch.float64).mul(2).expand(6, 20), mask


def counted(batch):
    """The tokens that count, as (place, now, old, advantage) in plain numbers."""
    now, old, advantages, mask = (each.detach() for each in batch)
    return [((i, t), float(now[i, t]), float(old[i, t]), float(advantages[i, t])) for i, t in mask.nonzero().tolist()]


def covariances(batch):
    """The paper's formula, one token at a time."""
    tokens = counted(batch)
    log_mean = sum(now for _, now, _, _ in tokens) / len(tokens)
    advantage_mean = sum(advantage for *_, advantage in tokens) / len(tokens)
    return {place: (now - log_mean) * (advantage - advantage_mean) for place, now, _, advantage in tokens}


def places(picked):
    return {tuple(place) for place in picked.nonzero().tolist()}


def test_the_covariance_of_a_token_is_the_papers_formula(batch):
    now, _, advantages, mask = batch
    found = token_covariance(now, advantages, mask)
    assert not found.requires_grad
    for place, value in covariances(batch).items():
        assert float(found[place]) == pytest.approx(value)
    assert torch.isinf(found[mask == 0]).all()


def test_kl_cov_holds_the_tokens_of_largest_covariance_near_the_old_policy(batch):
    settings = replace(LOSSES["kl_cov"], covariance_share=0.1, covariance_kl=0.7)
    tokens, found = counted(batch), covariances(batch)
    largest = set(sorted(found, key=found.get, reverse=True)[: len(tokens) // 10])
    assert places(pick_covariant(*(each.detach() for each in batch), settings)) == largest
    by_hand = -sum(
        torch.tensor(now - old).exp().item() * advantage - (0.7 * abs(now - old) if place in largest else 0.0)
        for place, now, old, advantage in tokens
    ) / len(tokens)
    loss = policy_loss(*batch, settings=settings)
    assert loss.value.item() == pytest.approx(by_hand, abs=1e-4)  # the absolute value is smooth near 0
    assert loss.stats["covariance/picked"] == pytest.approx(len(largest) / len(tokens))


def test_clip_cov_leaves_some_tokens_between_its_bounds_out_and_no_others(batch):
    now = batch[0]
    settings = replace(LOSSES["clip_cov"], covariance_share=0.05, covariance_bounds=(0.2, 3.0))
    allowed = {place for place, value in covariances(batch).items() if 0.2 < value < 3.0}
    torch.manual_seed(5)
    policy_loss(*batch, settings=settings).value.backward()
    with_clip, now.grad = now.grad.clone(), None
    policy_loss(*batch, settings=LossSettings(average="token")).value.backward()
    differ = places(with_clip != now.grad)
    assert differ <= allowed
    assert len(differ) == int(0.05 * len(counted(batch)))
    assert all(with_clip[place] == 0 for place in differ)


def test_what_is_picked_in_the_whole_batch_serves_its_pieces(batch):
    settings = replace(LOSSES["kl_cov"], covariance_share=0.2)
    picked = pick_covariant(*(each.detach() for each in batch), settings)
    whole = policy_loss(*batch, settings=settings).value
    weights = batch[3] / batch[3].sum()
    pieces = [
        policy_loss(*(each[rows] for each in batch), settings=settings, weights=weights[rows],
                    anchors=Anchors(picked=picked[rows])).value
        for rows in (slice(0, 2), slice(2, 6))
    ]  # fmt: skip
    assert sum(pieces).item() == pytest.approx(whole.item())


@pytest.mark.parametrize("name", ["clip_cov", "kl_cov"])
def test_a_batch_in_which_nothing_counts_has_no_loss(name):
    now = torch.randn(2, 3, requires_grad=True)
    loss = policy_loss(now, now.detach(), torch.ones(2, 3), torch.zeros(2, 3), settings=LOSSES[name])
    loss.value.backward()
    assert loss.value.item() == 0.0
    assert not now.grad.any()


def test_no_more_tokens_are_picked_than_there_are():
    covariance = torch.tensor([[2.0, -torch.inf], [3.0, 9.0]])
    assert places(pick_at_random(covariance, 10, (1.0, 5.0))) == {(0, 0), (1, 0)}
    assert places(pick_largest(covariance, 10)) == {(0, 0), (1, 0), (1, 1)}
