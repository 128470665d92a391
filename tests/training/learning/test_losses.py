"""Losses are their papers' formulas, and only tokens that count reach a gradient."""

import math

import pytest
import torch
from msgspec.structs import replace

from plaudit import RewardOutput, Tokens, Trajectory
from plaudit.errors import InvalidAdvantage, InvalidSettings
from plaudit.training.advantages.credit import BatchCredit
from plaudit.training.advantages.estimators import RLOOAdvantage
from plaudit.training.config.learning_keys import LOSSES, LossSettings
from plaudit.training.learning.losses import (
    OtherLogprobs,
    importance_weights,
    kl_divergence,
    pad_advantages,
    policy_loss,
    token_weights,
    value_loss,
)
from plaudit.training.learning.updater import keep_top
from plaudit.training.model.loading import tiny_policy

LENGTHS = [5, 2, 4, 1]


@pytest.fixture
def batch():
    """Log-probs now and when sampled, advantages per sample, a ragged mask."""
    generator = torch.Generator().manual_seed(7)
    old = -torch.rand(4, 5, generator=generator, dtype=torch.float64)
    now = (old + 0.4 * torch.randn(4, 5, generator=generator, dtype=torch.float64)).requires_grad_()
    mask = torch.tensor([[1.0] * length + [0.0] * (5 - length) for length in LENGTHS], dtype=torch.float64)
    advantages = torch.tensor([1.0, -0.5, 0.3, -2.0], dtype=torch.float64)[:, None].expand(4, 5)
    return now, old, advantages, mask


def clip(value, low, high):
    return max(low, min(high, value))


def rows(batch):
    """Per sample, its tokens as (now, old, advantage) floats."""
    now, old, advantages = (each.detach() for each in batch[:3])
    return [
        [(float(now[i, t]), float(old[i, t]), float(advantages[i, t])) for t in range(length)]
        for i, length in enumerate(LENGTHS)
    ]


def surrogate(now, old, advantage, low=0.2, high=0.2):
    ratio = torch.tensor(now - old).exp().item()
    return min(ratio * advantage, clip(ratio, 1 - low, 1 + high) * advantage)


def mean(values):
    listed = list(values)
    return sum(listed) / len(listed)


def gspo(samples):
    values = []
    for tokens in samples:
        ratio = torch.tensor(mean(now - old for now, old, _ in tokens)).exp().item()
        values.append(min(ratio * tokens[0][2], clip(ratio, 1 - 3e-4, 1 + 4e-4) * tokens[0][2]))
    return -mean(values)


def cispo(samples):
    flat = [token for tokens in samples for token in tokens]
    return -mean(min(torch.tensor(now - old).exp().item(), 5.0) * advantage * now for now, old, advantage in flat)


BY_HAND = {
    "grpo": lambda samples: -mean(mean(surrogate(*token) for token in tokens) for tokens in samples),
    "dapo": lambda samples: -mean(surrogate(*token, high=0.28) for tokens in samples for token in tokens),
    "dr_grpo": lambda samples: -sum(surrogate(*token) for tokens in samples for token in tokens) / (4 * 5),
    "gspo": gspo,
    "cispo": cispo,
    "reinforce": lambda samples: -mean(advantage * now for tokens in samples for now, _, advantage in tokens),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_losses_are_their_formulas(name, batch):
    assert policy_loss(*batch, settings=LOSSES[name]).value.item() == pytest.approx(BY_HAND[name](rows(batch)))


def test_every_published_loss_is_checked_by_hand_or_is_ppo():
    assert set(LOSSES) == set(BY_HAND) | {
        "ppo",
        "sapo",
        "gmpo",
    }  # all but ppo have tests of their own


def test_dual_clip_bounds_what_a_bad_sample_can_cost(batch):
    _, old, _, mask = batch
    far = old + 3.0
    cost = policy_loss(far, old, -torch.ones_like(old), mask, settings=LOSSES["ppo"]).value.item()
    assert cost == pytest.approx(3.0)
    unbounded = policy_loss(far, old, -torch.ones_like(old), mask, settings=LossSettings(average="token"))
    assert unbounded.value.item() == pytest.approx(torch.tensor(3.0).exp().item(), rel=1e-6)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "gspo"])
def test_on_policy_every_loss_has_the_policy_gradient(name, batch):
    _, old, advantages, mask = batch
    now = old.clone().requires_grad_()
    settings = replace(LOSSES[name], average="token")
    policy_loss(now, old, advantages, mask, settings=settings).value.backward()
    assert torch.allclose(now.grad, -advantages * mask / mask.sum())


def test_gspo_on_policy_has_the_gradient_of_grpo(batch):
    _, old, advantages, mask = batch
    grads = []
    for name in ("gspo", "grpo"):
        now = old.clone().requires_grad_()
        policy_loss(now, old, advantages, mask, settings=LOSSES[name]).value.backward()
        grads.append(now.grad)
    assert torch.allclose(*grads)


def test_clipped_tokens_lose_their_gradient_and_cispo_keeps_it():
    old = torch.zeros(1, 2)
    advantages, mask = torch.ones(1, 2), torch.ones(1, 2)
    grads = {}
    for name in ("dapo", "cispo"):
        now = torch.tensor([[1.0, 0.0]], requires_grad=True)
        policy_loss(now, old, advantages, mask, settings=LOSSES[name]).value.backward()
        grads[name] = now.grad[0].tolist()
    assert grads["dapo"] == [0.0, -0.5]
    assert grads["cispo"][0] < grads["cispo"][1] < 0


@pytest.mark.parametrize("name", LOSSES)
def test_padding_reaches_neither_loss_nor_gradient_even_as_nan(name, batch):
    now, old, advantages, mask = batch
    clean = policy_loss(now, old, advantages, mask, settings=LOSSES[name], other=OtherLogprobs(old, old))
    hole = torch.where(mask.bool(), 0.0, torch.nan)
    dirty = now.detach().add(hole).requires_grad_()
    other = OtherLogprobs(old + hole, old + hole)
    settings = replace(LOSSES[name], kl_beta=0.1)
    loss = policy_loss(dirty, old + hole, advantages + hole, mask, settings=settings, other=other)
    loss.value.backward()
    assert torch.isfinite(dirty.grad).all()
    assert (dirty.grad[mask == 0] == 0).all()
    assert loss.stats == pytest.approx(clean.stats)


def test_samples_that_were_not_scored_change_nothing(batch):
    now, old, _, mask = batch
    estimates = [[1.0] * 5, None, [0.3] * 4, [-2.0]]
    advantages, kept = pad_advantages(estimates, mask)
    alone = [0, 2, 3]
    for settings in LOSSES.values():
        whole = policy_loss(now, old, advantages.double(), kept, settings=settings).value
        without = policy_loss(now[alone], old[alone], advantages[alone].double(), mask[alone], settings=settings).value
        assert whole.item() == pytest.approx(without.item())


def test_one_advantage_stands_for_all_tokens_of_its_sample():
    advantages, mask = pad_advantages([0.5, None, [1.0, 2.0]], torch.ones(3, 3))
    assert advantages.tolist() == [[0.5] * 3, [0.0] * 3, [1.0, 2.0, 0.0]]
    assert mask.tolist() == [[1.0] * 3, [0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize("name", LOSSES)
def test_parts_with_the_weights_of_the_whole_sum_to_the_whole(name, batch):
    now, old, advantages, mask = batch
    settings = LOSSES[name]
    weights = token_weights(mask, settings)
    parts = sum(
        policy_loss(now[part], old[part], advantages[part], mask[part], settings=settings, weights=weights[part]).value
        for part in (slice(0, 1), slice(1, 4))
    )
    assert parts.item() == pytest.approx(policy_loss(*batch, settings=settings).value.item())


def test_the_constant_average_does_not_depend_on_lengths(batch):
    mask = batch[3]
    weights = token_weights(mask, LossSettings(average="constant", max_tokens=100))
    assert weights[mask.bool()].tolist() == pytest.approx([1 / 400] * sum(LENGTHS))


def test_kl_estimators_are_their_formulas_and_agree_in_the_mean():
    generator = torch.Generator().manual_seed(3)
    policy, reference = torch.randn(2, 6, generator=generator, dtype=torch.float64).log_softmax(-1)
    true = (policy.exp() * (policy - reference)).sum()
    for estimator in ("k1", "k3"):  # both unbiased: their mean under the policy is the divergence itself
        expected = (policy.exp() * kl_divergence(policy, reference, estimator)).sum()
        assert expected.item() == pytest.approx(true.item())
    assert (kl_divergence(policy, reference, "k3") >= 0).all()
    assert torch.allclose(kl_divergence(policy, reference, "k2"), (policy - reference) ** 2 / 2)
    with pytest.raises(InvalidSettings, match="no KL estimator named 'k4'"):
        kl_divergence(policy, reference, "k4")


def test_kl_in_the_loss_pulls_towards_the_reference(batch):
    _, old, _, mask = batch
    now = (old + 0.5).requires_grad_()
    settings = LossSettings(kl_beta=0.1, kl_estimator="k2")
    loss = policy_loss(now, old, torch.zeros_like(old), mask, settings=settings, other=OtherLogprobs(reference=old))
    loss.value.backward()
    assert loss.value.item() == pytest.approx(0.1 * 0.5**2 / 2)
    assert loss.stats["kl"] == pytest.approx(0.125)
    assert (now.grad[mask.bool()] > 0).all()


def test_importance_weights_are_truncated_constants():
    now = torch.tensor([0.0, 3.0], requires_grad=True)
    weights = importance_weights(now, torch.tensor([0.5, 0.0]), cap=2.0)
    assert weights.tolist() == pytest.approx([torch.tensor(-0.5).exp().item(), 2.0])
    assert not weights.requires_grad


def test_truncated_importance_sampling_corrects_a_sampler_that_differs():
    """Drawn from another distribution, the weighted gradient is that of the policy, and the bare one is not."""
    policy = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()
    sampler = torch.tensor([0.3, 0.3, 0.4], dtype=torch.float64).log()
    reward = torch.tensor([[1.0], [0.0], [2.0]], dtype=torch.float64)
    drawn = sampler.exp()[:, None]  # every token as often as the sampler draws it
    now = policy[:, None].clone().requires_grad_()
    mask = torch.ones_like(reward)

    def gradient(other):
        loss = policy_loss(now, policy[:, None], reward, mask, other=other, weights=drawn)
        return torch.autograd.grad(loss.value, now)[0]

    right = -(policy.exp()[:, None] * reward)
    assert torch.allclose(gradient(OtherLogprobs(sampler=sampler[:, None])), right)
    assert not torch.allclose(gradient(None), right)


def test_stats_contain_the_distance_from_the_sampling_policy(batch):
    _, old, advantages, mask = batch
    still = policy_loss(old, old, advantages, mask).stats
    assert still["ratio/mean"] == 1.0
    assert still["kl_old"] == still["clip/high"] == still["clip/low"] == 0.0
    assert still["tokens"] == sum(LENGTHS)
    moved = policy_loss(old + 1.0, old, torch.ones_like(old), mask).stats
    assert moved["clip/high"] == 1.0
    assert moved["kl_old"] == pytest.approx(torch.tensor(-1.0).exp().item(), rel=1e-5)


def test_a_batch_in_which_nothing_counts_has_loss_zero(batch):
    now, old, advantages, mask = batch
    for settings in LOSSES.values():
        loss = policy_loss(now, old, advantages, torch.zeros_like(mask), settings=settings)
        assert loss.value.item() == 0.0


def test_the_value_loss_is_half_the_squared_error_where_nothing_is_clipped():
    values, returns = torch.tensor([[0.1, 0.3]]), torch.tensor([[1.0, 0.0]])
    loss = value_loss(values, values, returns, torch.ones(1, 2))
    assert loss.value.item() == pytest.approx(0.5 * (0.81 + 0.09) / 2)
    far = value_loss(torch.tensor([[0.9, 0.3]]), torch.tensor([[0.1, 0.3]]), returns, torch.ones(1, 2))
    assert far.value.item() == pytest.approx(0.5 * (0.7**2 + 0.09) / 2)
    assert far.stats["value/clipped"] == 0.5


MISTAKES = {
    "shape": (lambda: policy_loss(torch.zeros(2, 3), torch.zeros(2, 2), torch.zeros(2, 3), torch.ones(2, 3)),
              r"old_logprobs has shape \(2, 2\), log-probs have \(2, 3\)"),
    "rows": (lambda: pad_advantages([[1.0]], torch.ones(2, 3)), "1 samples for a mask of 2 rows"),
    "tokens": (lambda: pad_advantages([[1.0] * 4], torch.ones(1, 3)), "sample 0: 4 advantages for 3 tokens"),
    "name": (lambda: LossSettings(name="gropo"), "no loss named 'gropo'; did you mean 'grpo'"),
    "average": (lambda: LossSettings(average="tokens"), "average is one of .* got 'tokens'; did you mean 'token'"),
    "clip": (lambda: LossSettings(clip_low=-0.1), "clip_low: expected float >= 0.0, got -0.1"),
    "dual": (lambda: LossSettings(dual_clip=1.1), "dual_clip must exceed 1 .* 1.2, got 1.1"),
    "tokens zero": (lambda: LossSettings(max_tokens=0), "max_tokens: expected int >= 1, got 0"),
    "beta": (lambda: LossSettings(kl_beta=-1.0), "kl_beta: expected float >= 0.0, got -1.0"),
}  # fmt: skip


@pytest.mark.parametrize(("mistake", "message"), MISTAKES.values(), ids=MISTAKES)
def test_the_error_of_a_loss_names_the_wrong_numbers(mistake, message):
    with pytest.raises((InvalidSettings, InvalidAdvantage), match=message):
        mistake()


def test_token_rewards_change_the_gradient_of_single_tokens():
    """Two responses of equal reward: only where in them it was earned differs, and only token rewards can tell."""

    def scored(token_rewards):
        tokens = Tokens([3, 4, 5], offsets=[(0, 1), (2, 3), (4, 5)])
        return Trajectory("?", "a b c", group=0, tokens=tokens), RewardOutput(1.0, token_rewards=token_rewards)

    def gradient(batch_credit):
        estimates = RLOOAdvantage().estimate(batch_credit)
        now = torch.full((2, 3), -1.0, requires_grad=True)
        advantages, mask = pad_advantages(estimates, torch.ones(2, 3))
        policy_loss(now, now.detach(), advantages, mask).value.backward()
        return now.grad

    batch = [scored([1.0, 0.0, 0.0]), scored([0.0, 0.0, 1.0])]
    assert (gradient(BatchCredit.of(batch, by="outcome")) == 0).all()
    by_token = gradient(BatchCredit.of(batch))
    assert by_token[:, 0].tolist() == [0.0, 0.0]  # both still have everything ahead of them
    assert (by_token[0, 1:] > 0).all()  # what came after the reward is made less likely
    assert (by_token[1, 1:] < 0).all()  # what led to the reward is made more likely


def random_batch(seed=0, rows=5, width=7):
    """Log-probs now, before and of a sampler, advantages and a mask with responses of several lengths."""
    chance = torch.Generator().manual_seed(seed)
    old = -torch.rand(rows, width, generator=chance, dtype=torch.float64)
    now = (old + 0.5 * torch.randn(rows, width, generator=chance, dtype=torch.float64)).requires_grad_()
    sampler = old + 0.3 * torch.randn(rows, width, generator=chance, dtype=torch.float64)
    advantages = torch.randn(rows, 1, generator=chance, dtype=torch.float64).expand(rows, width)
    lengths = torch.randint(1, width + 1, (rows, 1), generator=chance)
    return now, old, sampler, advantages, (torch.arange(width) < lengths).double()


def test_sapo_is_its_papers_gate():
    now, old, _, advantages, mask = random_batch()
    expected = 0.0
    for row in range(5):
        length, gates = int(mask[row].sum()), []
        for t in range(length):
            ratio, advantage = (now - old)[row, t].exp().item(), float(advantages[row, t])
            tau = 1.0 if advantage > 0 else 1.05
            gates.append(4.0 / tau / (1.0 + math.exp(-tau * (ratio - 1.0))) * advantage)
        expected -= sum(gates) / length / 5
    assert policy_loss(now, old, advantages, mask, settings=LOSSES["sapo"]).value.item() == pytest.approx(expected)


def test_gmpo_is_the_geometric_mean_of_clipped_ratios():
    now, old, _, advantages, mask = random_batch(3)
    expected = []
    for row in range(5):
        length, advantage = int(mask[row].sum()), float(advantages[row, 0])
        product = 1.0
        for t in range(length):
            ratio = (now - old)[row, t].exp().item()
            clipped = min(max(ratio, math.exp(-0.4)), math.exp(0.4))
            product *= min(ratio, clipped) if advantage >= 0 else max(ratio, clipped)
        expected.append(-advantage * product ** (1 / length))
    loss = policy_loss(now, old, advantages, mask, settings=LOSSES["gmpo"])
    assert loss.value.item() == pytest.approx(sum(expected) / 5)
    (gradient,) = torch.autograd.grad(loss.value, now)
    assert torch.equal(gradient.bool().any(1), torch.ones(5, dtype=torch.bool))


def test_sequence_weights_are_products_and_rejection_leaves_extremes_out():
    _, old, sampler, _, mask = random_batch()
    whole = importance_weights(old, sampler, cap=1e9, mask=mask, level="sequence")
    for row in range(5):
        length = int(mask[row].sum())
        product = math.prod(math.exp(float(old[row, t] - sampler[row, t])) for t in range(length))
        assert whole[row, 0].item() == pytest.approx(product)
        assert whole[row].unique().numel() == 1
    plain = importance_weights(old, sampler, cap=1e9)
    rejected = importance_weights(old, sampler, cap=1.3, mode="reject")
    inside = (plain <= 1.3) & (plain >= 1 / 1.3)
    assert torch.equal(rejected, torch.where(inside, plain, torch.zeros_like(plain)))
    assert 0 < int(inside.sum()) < inside.numel()


def test_an_entropy_bonus_moves_the_policy_towards_being_undecided():
    policy = tiny_policy(seed=1)
    batch = policy.pack([[4, 5]], [[6, 7, 1]])
    found = policy.logprobs(batch, entropy_gradient=True)
    logits = policy.model(input_ids=batch.ids_B_L).logits[0, 1:4]
    exact = torch.distributions.Categorical(logits=logits).entropy()
    assert torch.allclose(found.entropy_B_T[0], exact, atol=1e-5)
    none = torch.zeros(1, 3)
    logprobs, settings = found.logprobs_B_T, LossSettings(entropy_bonus=0.5)
    other = OtherLogprobs(entropy=found.entropy_B_T)
    loss = policy_loss(logprobs, logprobs.detach(), none, torch.ones(1, 3), settings=settings, other=other)
    assert loss.value.item() == pytest.approx(-0.5 * exact.mean().item(), rel=1e-4)
    ours = torch.autograd.grad(loss.value, list(policy.parameters()), retain_graph=True)
    theirs = torch.autograd.grad(-0.5 * exact.mean(), list(policy.parameters()))
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True))


def test_the_share_of_tokens_with_the_largest_values_is_kept():
    values, mask = torch.arange(10.0).view(2, 5), torch.ones(2, 5)
    assert keep_top(values, mask, 0.2).tolist() == [[0.0] * 5, [0.0, 0.0, 0.0, 1.0, 1.0]]
    mask[1] = 0
    assert keep_top(values, mask, 0.4)[0].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]
