"""Weights of lower precision learn in float32."""

import copy

import torch

from plaudit.training.config.learning_keys import OptimizerConfig
from plaudit.training.config.trl_arguments import Shape, trl_arguments
from plaudit.training.inputs import read_inputs
from plaudit.training.learning.optimizer import MasterAdamW
from plaudit.training.model.loading import load_policy
from plaudit.training.run import build_run
from tests.training.runs import small

TINY_LR = OptimizerConfig(lr=2e-6, betas=(0.9, 0.999))


def learn(policy, steps, optimizer=None):
    """Some steps on the same two sequences; the optimizer."""
    optimizer = optimizer or MasterAdamW(policy.parameters(), TINY_LR)
    batch = policy.pack([[4, 5, 6], [7, 8, 9]], [[5, 6, 1], [9, 8, 1]])
    for _ in range(steps):
        optimizer.zero_grad()
        (-policy.logprobs(batch).logprobs_B_T.sum()).backward()
        optimizer.clip()
        optimizer.step()
    return optimizer


def moved_share(policy, before):
    pairs = zip(policy.parameters(), before, strict=True)
    moved = [(parameter.float() != old.float()).float() for parameter, old in pairs]
    return float(torch.cat([each.flatten() for each in moved]).mean())


def test_small_updates_of_bfloat16_weights_are_not_rounded_away():
    policy = load_policy("tiny", seed=1, dtype="bfloat16")
    before = [parameter.detach().clone() for parameter in policy.parameters()]
    optimizer = learn(policy, 50)
    masters = [master for _, master in optimizer._pairs()]
    followed = load_policy("tiny", seed=1, dtype="float32")
    followed.restore(
        {name: value.float() for name, value in load_policy("tiny", seed=1, dtype="bfloat16").state().items()}
    )
    learn(followed, 50)
    for master, parameter, old in zip(masters, followed.parameters(), before, strict=True):
        wanted, got = parameter.detach() - old.float(), master.detach() - old.float()
        if float(wanted.abs().max()) > 5e-5:  # what float32 weights learn, bfloat16 ones learn too
            assert torch.nn.functional.cosine_similarity(wanted.flatten(), got.flatten(), dim=0) > 0.9
    plain = load_policy("tiny", seed=1, dtype="bfloat16")
    assert moved_share(policy, before) > 3 * _moved_without_masters(plain)


def _moved_without_masters(policy):
    """What pure bfloat16 training moves: the way it was."""
    before = [parameter.detach().clone() for parameter in policy.parameters()]
    optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-6, weight_decay=0.0)
    batch = policy.pack([[4, 5, 6], [7, 8, 9]], [[5, 6, 1], [9, 8, 1]])
    for _ in range(50):
        optimizer.zero_grad()
        (-policy.logprobs(batch).logprobs_B_T.sum()).backward()
        torch.nn.utils.clip_grad_norm_(list(policy.parameters()), 1.0)
        optimizer.step()
    return moved_share(policy, before)


def test_moments_and_masters_are_float32_and_survive_a_restart():
    policy = load_policy("tiny", seed=1, dtype="bfloat16")
    optimizer = learn(policy, 3)
    state, weights = copy.deepcopy(optimizer.state_dict()), policy.state()
    moments = [each for entry in state["adamw"]["state"].values() for each in (entry["exp_avg"], entry["exp_avg_sq"])]
    assert {each.dtype for each in [*moments, *state["masters"]]} == {torch.float32}
    learn(policy, 3, optimizer)
    again = load_policy("tiny", seed=2, dtype="bfloat16")
    again.restore(weights)
    resumed = MasterAdamW(again.parameters(), TINY_LR)
    resumed.load_state_dict(state)
    learn(again, 3, resumed)
    assert all(torch.equal(a, b) for a, b in zip(policy.parameters(), again.parameters(), strict=True))


def test_float32_weights_learn_as_with_torchs_own_optimizer():
    ours, theirs = load_policy("tiny", seed=1), load_policy("tiny", seed=1)
    optimizer = learn(ours, 5)
    assert optimizer.state_dict()["masters"] == []
    plain = torch.optim.AdamW(theirs.parameters(), lr=2e-6, weight_decay=0.0)
    batch = theirs.pack([[4, 5, 6], [7, 8, 9]], [[5, 6, 1], [9, 8, 1]])
    for _ in range(5):
        plain.zero_grad()
        (-theirs.logprobs(batch).logprobs_B_T.sum()).backward()
        torch.nn.utils.clip_grad_norm_(list(theirs.parameters()), 1.0)
        plain.step()
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True))


def test_trl_computes_in_bfloat16_and_keeps_float32_weights(tmp_path):
    config = small(tmp_path, "engine=trl", "model.dtype=bfloat16")
    assert trl_arguments(config, Shape(1, 6))["bf16"] is True
    run = build_run(config, read_inputs(config))
    assert next(run.policy.parameters()).dtype == torch.float32
    run.close()
