"""An update is the same in pieces and after a restart, whatever the options; and what moves beside the policy moves."""

import copy
import random

import pytest
import torch

from plaudit import RewardOutput
from plaudit.training import load_config
from plaudit.training.batches.collecting import Batch
from plaudit.training.config.schema import ModelConfig, SamplingSettings
from plaudit.training.learning.updater import Updater
from plaudit.training.model.loading import add_lora
from plaudit.training.model.policy import Policy
from tests.training.runs import SMALL

PROMPTS = ["12=", "4321=", "9=", "776655="]
OPTIONS = {
    "plain": [],
    "adaptive KL": ["loss.kl_beta=0.5", "loss.kl_target=0.001", "loss.kl_horizon=20"],
    "adaptive KL in the reward": ["loss.kl_beta=0.5", "loss.kl_target=0.001", "loss.kl_horizon=20",
                                  "loss.kl_in=reward"],
    "moving reference": ["loss.kl_beta=0.5", "loss.reference_every=2", "loss.reference_mix=0.6"],
    "adaptive entropy": ["loss.entropy_target=9", "loss.entropy_step=0.3"],
    "clip-cov": ["loss.name=clip_cov", "loss.covariance_share=0.2", "loss.covariance_bounds=[0.01,9]"],
    "kl-cov": ["loss.name=kl_cov", "loss.covariance_share=0.2", "training.updates_per_batch=2", "optimizer.lr=1e-5"],
    "demonstrations": ["loss.sft_weight=0.5", "loss.sft_batch=7"],
    "critic": ["advantage=gae"],
    "scale of the task": ["training.normalize_tasks=true", "advantage=rloo"],
    "remax": ["advantage=remax"],
    "minibatches": ["training.minibatches=3", "training.updates_per_batch=2", "loss.off_policy_limit=0.01"],
}  # fmt: skip


def updater(policy, *options):
    config = load_config(None, [*SMALL, "optimizer.schedule=constant", *options])
    return Updater(policy, config, max_new_tokens=6, demonstrations=policy.shown)


@pytest.fixture
def policy(warm_policy, sort_task) -> Policy:
    """A copy of the warm one, with demonstrations for those who want some."""
    own = Policy(copy.deepcopy(warm_policy.model), warm_policy.tokenizer)
    own.shown = sort_task.demonstrations[:20]
    return own


def copy_of(policy) -> Policy:
    other = Policy(copy.deepcopy(policy.model), policy.tokenizer)
    other.shown = policy.shown
    return other


@pytest.fixture(scope="module")
def batches(warm_policy) -> list[Batch]:
    """Three batches with rewards drawn at random; one sample is not scored, and one group is dead."""
    chance = random.Random(4)

    def batch(step):
        sampled = warm_policy.sampler().sample(PROMPTS, 4, settings=SamplingSettings(6, seed=step))
        outputs = [RewardOutput(chance.random()) for _ in sampled.trajectories]
        outputs[4:8] = [RewardOutput(1.0)] * 4
        outputs[9] = RewardOutput.unscored("unparsed", "says nothing")
        return Batch(step, sampled, outputs, [], {}, 0, 0.0, 0, 0.0, 0.0, baselines=[0.5] * 15 + [None])

    return [batch(step) for step in (1, 2, 3)]


def weights(policy) -> torch.Tensor:
    return torch.cat([each.detach().flatten() for each in policy.parameters()])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_restored_updater_goes_on_as_if_it_had_never_stopped(name, policy, batches):
    other = copy_of(policy)
    first = updater(policy, *OPTIONS[name])
    told = [first.update(batch) for batch in batches[:2]]
    state = copy.deepcopy(first.state())
    second = updater(other, *OPTIONS[name])
    second.restore(state)
    assert first.update(batches[2]) == second.update(batches[2])
    assert torch.equal(weights(policy), weights(other))
    assert told[0]["grad_norm"] > 0


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("pieces", ["training.gradient_accumulation=3", "training.max_tokens_per_piece=30"])
def test_an_update_in_pieces_is_the_update_of_the_whole(name, pieces, policy, batches):
    other = copy_of(policy)
    whole = updater(policy, *OPTIONS[name]).update(batches[0])
    cut = updater(other, *OPTIONS[name], pieces).update(batches[0])
    by_rounding = name in ("minibatches", "kl-cov")  # which samples are too far off, which of equal tokens are picked
    assert cut["loss"] == pytest.approx(whole["loss"], abs=1e-4 if by_rounding else 1e-5)
    assert cut["grad_norm"] == pytest.approx(whole["grad_norm"], rel=1e-2 if by_rounding else 1e-3)
    if not by_rounding:
        torch.testing.assert_close(weights(other), weights(policy), atol=3e-4, rtol=0)


def test_an_entropy_bonus_moves_groups_that_teach_nothing_else(policy, batches):
    dead = batches[0]
    equal = Batch(1, dead.sampled, [RewardOutput(1.0)] * 16, [], {}, 0, 0.0, 0, 0.0, 0.0)
    before = weights(policy)
    assert "grad_norm" not in updater(policy).update(equal)
    assert torch.equal(weights(policy), before)
    told = updater(policy, "loss.entropy_bonus=0.1").update(equal)
    assert told["grad_norm"] > 0
    assert updater(policy, "loss.entropy_bonus=0.1").update(equal)["entropy/exact"] > told["entropy/exact"]


def test_the_reference_follows_the_policy_as_far_as_it_is_told(policy, batches):
    follower = updater(policy, "loss.kl_beta=0.1", "loss.reference_every=2", "loss.reference_mix=0.25")
    reference = [each.clone() for each in follower.reference.model.parameters()]
    follower.update(batches[0])
    assert all(map(torch.equal, reference, follower.reference.model.parameters()))
    follower.update(batches[1])
    expected = [0.75 * old + 0.25 * new for old, new in zip(reference, policy.model.parameters(), strict=True)]
    for found, wanted in zip(follower.reference.model.parameters(), expected, strict=True):
        torch.testing.assert_close(found, wanted)


def test_the_controllers_measure_what_the_metrics_tell(policy, batches):
    own = updater(policy, *OPTIONS["adaptive KL"])
    told = [own.update(batch) for batch in batches]
    assert [each["kl/weight"] for each in told[:1]] == [0.5]
    error = max(-0.2, min(0.2, told[1]["kl"] / 0.001 - 1))
    assert told[2]["kl/weight"] == pytest.approx(told[1]["kl/weight"] * (1 + error * 16 / 20))


def test_demonstrations_teach_where_no_reward_does(policy, batches):
    dead = Batch(1, batches[0].sampled, [RewardOutput(1.0)] * 16, [], {}, 0, 0.0, 0, 0.0, 0.0)
    own = updater(policy, "loss.sft_weight=1", "loss.sft_batch=20")
    first = own.update(dead)["sft/loss"]
    for _ in range(4):
        last = own.update(dead)["sft/loss"]
    assert last < first


@pytest.mark.parametrize("lora", [False, True])
def test_layers_computed_anew_give_the_same_gradients_and_keep_less(policy, batches, lora):
    if lora:
        policy = add_lora(policy, ModelConfig(lora_rank=4))
    tokens = policy.batch(batches[0].sampled)

    def gradients():
        kept = 0

        def keep(tensor):
            nonlocal kept
            kept += tensor.numel()
            return tensor

        policy.model.zero_grad()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            policy.logprobs(tokens).logprobs_B_T.sum().backward()
        return torch.cat([each.grad.flatten() for each in policy.parameters()]), kept

    whole, much = gradients()
    policy.recompute_layers()
    anew, little = gradients()
    torch.testing.assert_close(anew, whole, atol=2e-4, rtol=1e-3)
    assert little < much / 2
    assert not policy.model.training
    assert not any(module.training for module in policy.model.modules())
