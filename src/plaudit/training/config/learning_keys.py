"""The keys that say what the policy learns from: the loss, the optimizer, and how updates are made."""

from typing import Literal

import msgspec

from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share
from plaudit.training.config.keys import PositiveShare, Section

__all__ = ["LossConfig", "OptimizerConfig", "TrainingConfig"]


class LossConfig(Section, frozen=True):
    """The policy loss; null takes the preset's value."""

    name: str = "grpo"
    """The preset: grpo, dapo, dr_grpo, gspo, cispo, gmpo, sapo, ppo, reinforce, clip_cov, kl_cov"""
    clip_low: NonNegative | None = None
    """The ratio is clipped below 1 - clip_low"""
    clip_high: NonNegative | None = None
    """The ratio is clipped above 1 + clip_high"""
    dual_clip: Positive | None = None
    """The ratio is at most this where the advantage is negative"""
    ratio: Literal["token", "sequence", "geometric"] | None = None
    """What the ratio is taken of"""
    surrogate: Literal["clipped", "weighted", "soft", "unclipped", "plain"] | None = None
    """How the ratio counts"""
    average: Literal["token", "sequence", "constant"] | None = None
    """How tokens are averaged"""
    kl_beta: NonNegative = 0.0
    """Weight of the KL to the model at the start; 0: none"""
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    """How the KL is estimated"""
    kl_in: Literal["loss", "reward"] = "loss"
    """Where the KL counts"""
    kl_correction: bool = False
    """Weigh the KL in the loss by the ratio: unbiased off policy"""
    kl_target: Positive | None = None
    """The mean KL of a token to aim at: kl_beta is where its weight begins"""
    kl_horizon: Count = 10_000
    """Of kl_target: samples in which the weight moves by a fifth"""
    reference_every: NonNegativeInt = 0
    """Steps after which the KL's reference follows the policy; 0: never"""
    reference_mix: PositiveShare = 1.0
    """How far it follows; 1: all the way"""
    entropy_bonus: NonNegative = 0.0
    """Weight of the entropy in the loss: keeps exploring"""
    entropy_target: NonNegative | None = None
    """The entropy to keep: the bonus begins at entropy_bonus and moves by entropy_step a batch"""
    entropy_step: Positive = 0.005
    """Of entropy_target"""
    covariance_share: PositiveShare | None = None
    """Of clip_cov and kl_cov: the share of tokens left out or held back"""
    covariance_bounds: tuple[float, float] | None = None
    """Of clip_cov: the covariances that may be left out"""
    covariance_kl: NonNegative | None = None
    """Of kl_cov: how strongly tokens are held back"""
    sft_weight: NonNegative = 0.0
    """Weight of the cross entropy of demonstrations in the loss; 0: none"""
    sft_batch: Count = 16
    """Demonstrations in each optimizer step"""
    top_entropy: PositiveShare = 1.0
    """Learn from this share of tokens, the most undecided"""
    mask_truncated: bool = False
    """Responses cut at the length limit count nowhere"""
    max_importance: Positive = 2.0
    """Where the weights that correct for stale samples or another sampler are cut"""
    importance_level: Literal["token", "sequence"] = "token"
    """What such a weight is for"""
    importance_mode: Literal["truncate", "reject"] = "truncate"
    """Weights beyond max_importance are cut to it, or count nothing"""
    off_policy_limit: Positive | None = None
    """Bad responses no longer count once the policy is this far (mean log-ratio) from their sampler"""


class OptimizerConfig(Section, frozen=True):
    """AdamW and its learning rate over the run, of the policy and of a critic (`gae`) alike."""

    lr: Positive = 1e-3
    """Learning rate"""
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    """How it falls to 0"""
    warmup_steps: NonNegativeInt = 0
    """Steps in which it rises from 0"""
    betas: tuple[Share, Share] = (0.9, 0.99)
    """A setting of AdamW"""
    eps: Positive = 1e-8
    """A setting of AdamW"""
    weight_decay: NonNegative = 0.0
    """A setting of AdamW"""
    max_grad_norm: Positive = 1.0
    """Gradients are clipped to this norm"""


class TrainingConfig(Section, frozen=True):
    """Reward, updates, and what is reported about rewards."""

    reward_function: str | None = None
    """my.py:name, pkg.mod.name, a built-in or an expression; null: the task's reward"""
    reward_backend: Literal["auto", "inline", "processes", "ray"] = "auto"
    """Where rewards run; auto: the task's own inline, others on processes with a deadline"""
    reward_workers: Count | None = None
    """Processes that score; null: one per core"""
    reward_deadline_s: NonNegative = 10.0
    """A sample that takes longer is not scored; 0: never"""
    max_unscored_batches: Count = 3
    """End the run after this many batches in a row without a single score"""
    log_rewards: bool = False
    """Print the distribution of rewards of every batch"""
    save_reward_analysis: bool = False
    """Write reward_analysis.json and .txt: what scores high and low, and what fails"""
    credit: Literal["tokens", "steps", "outcome"] = "tokens"
    """Where rewards are earned: at tokens, where the reward says so; at steps; by the whole"""
    gamma: Share = 1.0
    """Discount of what is earned later: per token; per step with gigpo and turns"""
    gae_lambda: Share | None = None
    """Of advantage=gae; null: 0.95"""
    advantage_scale: Literal["group", "batch", "none"] | None = None
    """Of advantage=grpo: what it divides by; null: group"""
    component_weights: dict[str, float] = msgspec.field(default_factory=dict)
    """Of advantage=gdpo: weights of the reward's components; {}: all alike"""
    normalize_tasks: bool | None = None
    """Rewards of each task over their own spread so far; null: where there are several tasks"""
    pass_k: Count | None = None
    """Of advantage=pass_at_k; null: 4"""
    critic_passes: Count = 2
    """Of advantage=gae: the critic's passes over a batch"""
    critic_lr_factor: Positive = 1.0
    """The critic's learning rate over the policy's"""
    updates_per_batch: Count = 1
    """Passes over a batch"""
    minibatches: Count = 1
    """Optimizer steps in one pass"""
    gradient_accumulation: Count = 1
    """Pieces an optimizer step is computed in: less memory"""
    max_tokens_per_piece: Count | None = None
    """Pieces of at most this many tokens, padding included, in place of a number"""
    async_train: bool = False
    """Sample and score the next batch while the policy is updated"""
    max_staleness: Count = 1
    """How many updates old an asynchronous batch may be"""
    agent_file: str | None = None
    """An agent file, my_agent.py, for multi-turn episodes; its rewards count if it gives any"""
    agent_max_steps: Count = 5
    """Turns of an episode"""
    agent_max_tokens: Count | None = None
    """Tokens of an episode with its prompt; null: the model's context"""
    agent_reward: Literal["episode", "steps"] = "episode"
    """What reward_function is shown of an agent: whole episodes, or every step by itself"""
    agent_workers: NonNegativeInt = 32
    """Processes for environments, which a deadline can kill; 0: threads of this one"""
