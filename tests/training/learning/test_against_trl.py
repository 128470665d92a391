"""The same batch gives the same advantages and the same losses and gradients in TRL's GRPOTrainer and here."""

import pytest
import torch
from msgspec.structs import replace

from plaudit.training.advantages.estimators import GDPOAdvantage, GRPOAdvantage
from plaudit.training.config.learning_keys import LOSSES
from plaudit.training.learning.losses import OtherLogprobs, policy_loss
from plaudit.training.model.loading import tiny_policy

REWARDS = [1.0, 0.0, 0.5, 1.0, None, 0.2, 0.9, -1.0]
BREVITY = [0.1, 0.4, 0.4, 0.0, None, 3.0, 1.0, 2.0]
MAX_TOKENS = 6


def quality(prompts, completions, **_):
    return REWARDS


def brevity(prompts, completions, **_):
    return BREVITY


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    policy = tiny_policy(seed=3)
    args = GRPOConfig(
        output_dir=str(tmp_path_factory.mktemp("trl")), use_cpu=True, bf16=False, gradient_checkpointing=False,
        report_to=[], per_device_train_batch_size=8, num_generations=4, max_completion_length=MAX_TOKENS, beta=0.0,
        max_steps=1, seed=5, disable_tqdm=True, use_bias_correction_kl=False,
    )  # fmt: skip
    rows = Dataset.from_list([{"prompt": "12"}, {"prompt": "345"}])
    funcs = [quality, brevity]
    return GRPOTrainer(policy.model, funcs, args=args, train_dataset=rows, processing_class=policy.tokenizer)


@pytest.fixture(scope="module")
def scored(trainer):
    """A batch as TRL generates and scores it, in training mode."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    return trainer._generate_and_score_completions([{"prompt": p} for p in ["12"] * 4 + ["345"] * 4])


def weighed(trainer, scale, weights=(1.0, 0.0), how="sum_then_normalize"):
    trainer.scale_rewards, trainer.multi_objective_aggregation = scale, how
    trainer.reward_weights = torch.tensor(weights)
    rows = [{"prompt": p} for p in ["12"] * 4 + ["345"] * 4]
    return trainer._generate_and_score_completions(rows)["advantages"].tolist()


def as_trl_has_them(advantages):
    """TRL gives what was not scored the advantage 0, so that it still counts in averages; here it is None."""
    return [0.0 if advantage is None else advantage for advantage in advantages]


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_group_advantages_are_those_of_trl(trainer, scale):
    ours = GRPOAdvantage(scale=scale, epsilon=1e-4)(REWARDS, num_generations=4)
    assert weighed(trainer, scale) == pytest.approx(as_trl_has_them(ours), abs=1e-5)


def test_gdpo_advantages_are_those_of_trl_up_to_its_other_deviation_and_epsilon(trainer):
    theirs = weighed(trainer, "group", (1.0, 2.0), "normalize_then_sum")
    ours = as_trl_has_them(GDPOAdvantage({"a": 1.0, "b": 2.0})({"a": REWARDS, "b": BREVITY}, num_generations=4))
    biased = (6 / 7) ** 0.5  # TRL's deviation of the seven scored samples is the unbiased one
    assert theirs == pytest.approx([advantage * biased for advantage in ours], abs=1e-3)


def logprobs_of(trainer, scored):
    ids = torch.cat([scored["prompt_ids"], scored["completion_ids"]], 1)
    mask = torch.cat([scored["prompt_mask"], scored["completion_mask"]], 1)
    width = scored["completion_ids"].shape[1]
    return trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, width)[0]


LEVELS = {"grpo": "token", "dapo": "token", "dr_grpo": "token", "gspo": "sequence", "cispo": "token"}


@pytest.mark.parametrize("name", LEVELS)
def test_losses_and_gradients_are_those_of_trl(trainer, scored, name):
    settings = replace(LOSSES[name], kl_beta=0.1, max_tokens=MAX_TOKENS)
    generator = torch.Generator().manual_seed(11)
    moved = logprobs_of(trainer, scored).detach()
    old = moved + 0.3 * torch.randn(moved.shape, generator=generator)
    reference = moved + 0.3 * torch.randn(moved.shape, generator=generator)
    advantages = torch.randn(8, generator=generator)
    trainer.loss_type = "grpo" if name == "gspo" else name
    trainer.importance_sampling_level, trainer.beta = LEVELS[name], 0.1
    trainer.epsilon_low, trainer.epsilon_high = settings.clip_low, settings.clip_high
    if name == "cispo":
        trainer.epsilon_high += 1.0  # TRL gives the bound itself
    batch = {**scored, "old_per_token_logps": old, "ref_per_token_logps": reference, "advantages": advantages}
    theirs = trainer._compute_loss(trainer.model, batch)
    ours = policy_loss(
        logprobs_of(trainer, scored), old, advantages[:, None].expand_as(old), scored["completion_mask"],
        settings=settings, other=OtherLogprobs(reference=reference),
    ).value  # fmt: skip
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    parameters = list(trainer.model.parameters())
    for mine, their in zip(torch.autograd.grad(ours, parameters), torch.autograd.grad(theirs, parameters), strict=True):
        assert torch.allclose(mine, their, atol=1e-6, rtol=1e-4)
