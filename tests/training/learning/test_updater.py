"""An update is the same in micro-batches and after a restart, whatever the options."""

import copy
import random

import pytest
import torch

from plaudit import RewardOutput
from plaudit.training import load_config
from plaudit.training.collecting import Batch
from plaudit.training.config.schema import ModelConfig, SamplingSettings
from plaudit.training.learning.updater import Updater
from plaudit.training.model.loading import add_lora
from plaudit.training.model.policy import Policy
from tests.training.runs import SMALL

PROMPTS = ["12=", "4321=", "9=", "776655="]
OPTIONS = {
    "plain": [],
    "KL": ["loss.kl_beta=0.5"],
    "KL in the reward": ["loss.kl_beta=0.5", "loss.kl_in=reward"],
    "entropy bonus": ["loss.entropy_bonus=0.3"],
    "demonstrations": ["loss.sft_weight=0.5", "loss.sft_batch=7"],
    "critic": ["advantage=gae"],
    "scale of the task": ["training.normalize_tasks=true", "advantage=rloo"],
    "minibatches": ["training.minibatches=3", "training.updates_per_batch=2"],
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
        return Batch(step, sampled, outputs, [], {}, 0, 0.0, 0, 0.0, 0.0)

    return [batch(step) for step in (1, 2, 3)]


def weights(policy) -> torch.Tensor:
    return torch.cat([each.detach().flatten() for each in policy.parameters()])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_restored_updater_continues_as_if_it_had_never_stopped(name, policy, batches):
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
def test_an_update_in_micro_batches_is_the_update_of_the_whole(name, policy, batches):
    other = copy_of(policy)
    whole = updater(policy, *OPTIONS[name]).update(batches[0])
    cut = updater(other, *OPTIONS[name], "training.gradient_accumulation=3").update(batches[0])
    assert cut["loss"] == pytest.approx(whole["loss"], abs=1e-5)
    assert cut["grad_norm"] == pytest.approx(whole["grad_norm"], rel=1e-3)
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
