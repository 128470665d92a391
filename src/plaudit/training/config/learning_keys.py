"""The keys that say what the policy learns from: the loss, the optimizer, and how updates are made."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from plaudit.training.config.keys import Count, CountOrNone, NotNegative, Positive, Section, Share

__all__ = ["LossConfig", "OptimizerConfig", "TrainingConfig"]


class LossConfig(Section, frozen=True):
    """The policy loss; null takes the preset's value."""

    name: Annotated[
        str,
        Meta(description="The preset: grpo, dapo, dr_grpo, gspo, cispo, gmpo, sapo, ppo, reinforce, clip_cov, kl_cov"),
    ] = "grpo"
    clip_low: Annotated[NotNegative | None, Meta(description="The ratio is clipped below 1 - clip_low")] = None
    clip_high: Annotated[NotNegative | None, Meta(description="The ratio is clipped above 1 + clip_high")] = None
    dual_clip: Annotated[
        Positive | None, Meta(description="The ratio is at most this where the advantage is negative")
    ] = None
    ratio: Annotated[
        Literal["token", "sequence", "geometric"] | None, Meta(description="What the ratio is taken of")
    ] = None
    surrogate: Annotated[
        Literal["clipped", "weighted", "soft", "unclipped", "plain"] | None, Meta(description="How the ratio counts")
    ] = None
    average: Annotated[Literal["token", "sequence", "constant"] | None, Meta(description="How tokens are averaged")] = (
        None
    )
    kl_beta: Annotated[NotNegative, Meta(description="Weight of the KL to the model at the start; 0: none")] = 0.0
    kl_estimator: Annotated[Literal["k1", "k2", "k3"], Meta(description="How the KL is estimated")] = "k3"
    kl_in: Annotated[Literal["loss", "reward"], Meta(description="Where the KL counts")] = "loss"
    kl_correction: Annotated[bool, Meta(description="Weigh the KL in the loss by the ratio: unbiased off policy")] = (
        False
    )
    kl_target: Annotated[
        Positive | None, Meta(description="The mean KL of a token to aim at: kl_beta is where its weight begins")
    ] = None
    kl_horizon: Annotated[Count, Meta(description="Of kl_target: samples in which the weight moves by a fifth")] = (
        10_000
    )
    reference_every: Annotated[
        CountOrNone, Meta(description="Steps after which the KL's reference follows the policy; 0: never")
    ] = 0
    reference_mix: Annotated[
        Annotated[float, Meta(gt=0, le=1)], Meta(description="How far it follows; 1: all the way")
    ] = 1.0
    entropy_bonus: Annotated[NotNegative, Meta(description="Weight of the entropy in the loss: keeps exploring")] = 0.0
    entropy_target: Annotated[
        NotNegative | None,
        Meta(description="The entropy to keep: the bonus begins at entropy_bonus and moves by entropy_step a batch"),
    ] = None
    entropy_step: Annotated[Positive, Meta(description="Of entropy_target")] = 0.005
    covariance_share: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        Meta(description="Of clip_cov and kl_cov: the share of tokens left out or held back"),
    ] = None
    covariance_bounds: Annotated[
        tuple[float, float] | None, Meta(description="Of clip_cov: the covariances that may be left out")
    ] = None
    covariance_kl: Annotated[NotNegative | None, Meta(description="Of kl_cov: how strongly tokens are held back")] = (
        None
    )
    sft_weight: Annotated[
        NotNegative, Meta(description="Weight of the cross entropy of demonstrations in the loss; 0: none")
    ] = 0.0
    sft_batch: Annotated[Count, Meta(description="Demonstrations in each optimizer step")] = 16
    top_entropy: Annotated[
        Annotated[float, Meta(gt=0, le=1)], Meta(description="Learn from this share of tokens, the most undecided")
    ] = 1.0
    mask_truncated: Annotated[bool, Meta(description="Responses cut at the length limit count nowhere")] = False
    max_importance: Annotated[
        Positive, Meta(description="Where the weights that correct for stale samples or another sampler are cut")
    ] = 2.0
    importance_level: Annotated[Literal["token", "sequence"], Meta(description="What such a weight is for")] = "token"
    importance_mode: Annotated[
        Literal["truncate", "reject"], Meta(description="Weights beyond max_importance are cut to it, or count nothing")
    ] = "truncate"
    off_policy_limit: Annotated[
        Positive | None,
        Meta(
            description="Bad responses no longer count once the policy is this far (mean log-ratio) from their sampler"
        ),
    ] = None


class OptimizerConfig(Section, frozen=True):
    """AdamW and its learning rate over the run, of the policy and of a critic (`gae`) alike."""

    lr: Annotated[Positive, Meta(description="Learning rate")] = 1e-3
    schedule: Annotated[Literal["linear", "cosine", "constant"], Meta(description="How it falls to 0")] = "linear"
    warmup_steps: Annotated[CountOrNone, Meta(description="Steps in which it rises from 0")] = 0
    betas: Annotated[tuple[Share, Share], Meta(description="A setting of AdamW")] = (0.9, 0.99)
    eps: Annotated[Positive, Meta(description="A setting of AdamW")] = 1e-8
    weight_decay: Annotated[NotNegative, Meta(description="A setting of AdamW")] = 0.0
    max_grad_norm: Annotated[Positive, Meta(description="Gradients are clipped to this norm")] = 1.0


class TrainingConfig(Section, frozen=True):
    """Reward, updates, and what is reported about rewards."""

    reward_function: Annotated[
        str | None, Meta(description="my.py:name, pkg.mod.name, a built-in or an expression; null: the task's reward")
    ] = None
    reward_backend: Annotated[
        Literal["auto", "inline", "processes", "ray"],
        Meta(description="Where rewards run; auto: the task's own inline, others on processes with a deadline"),
    ] = "auto"
    reward_workers: Annotated[Count | None, Meta(description="Processes that score; null: one per core")] = None
    reward_deadline_s: Annotated[
        NotNegative, Meta(description="A sample that takes longer is not scored; 0: never")
    ] = 10.0
    max_unscored_batches: Annotated[
        Count, Meta(description="End the run after this many batches in a row without a single score")
    ] = 3
    log_rewards: Annotated[bool, Meta(description="Print the distribution of rewards of every batch")] = False
    save_reward_analysis: Annotated[
        bool, Meta(description="Write reward_analysis.json and .txt: what scores high and low, and what fails")
    ] = False
    credit: Annotated[
        Literal["tokens", "steps", "outcome"],
        Meta(description="Where rewards are earned: at tokens, where the reward says so; at steps; by the whole"),
    ] = "tokens"
    gamma: Annotated[
        Share, Meta(description="Discount of what is earned later: per token; per step with gigpo and turns")
    ] = 1.0
    gae_lambda: Annotated[Share | None, Meta(description="Of advantage=gae; null: 0.95")] = None
    advantage_scale: Annotated[
        Literal["group", "batch", "none"] | None, Meta(description="Of advantage=grpo: what it divides by; null: group")
    ] = None
    component_weights: Annotated[
        dict[str, float], Meta(description="Of advantage=gdpo: weights of the reward's components; {}: all alike")
    ] = msgspec.field(default_factory=dict)
    normalize_tasks: Annotated[
        bool | None,
        Meta(description="Rewards of each task over their own spread so far; null: where there are several tasks"),
    ] = None
    pass_k: Annotated[Count | None, Meta(description="Of advantage=pass_at_k; null: 4")] = None
    critic_passes: Annotated[Count, Meta(description="Of advantage=gae: the critic's passes over a batch")] = 2
    critic_lr_factor: Annotated[Positive, Meta(description="The critic's learning rate over the policy's")] = 1.0
    updates_per_batch: Annotated[Count, Meta(description="Passes over a batch")] = 1
    minibatches: Annotated[Count, Meta(description="Optimizer steps in one pass")] = 1
    gradient_accumulation: Annotated[
        Count, Meta(description="Pieces an optimizer step is computed in: less memory")
    ] = 1
    max_tokens_per_piece: Annotated[
        Count | None, Meta(description="Pieces of at most this many tokens, padding included, in place of a number")
    ] = None
    async_train: Annotated[bool, Meta(description="Sample and score the next batch while the policy is updated")] = (
        False
    )
    max_staleness: Annotated[Count, Meta(description="How many updates old an asynchronous batch may be")] = 1
    agent_file: Annotated[
        str | None,
        Meta(description="An agent file, my_agent.py, for multi-turn episodes; its rewards count if it gives any"),
    ] = None
    agent_max_steps: Annotated[Count, Meta(description="Turns of an episode")] = 5
    agent_max_tokens: Annotated[
        Count | None, Meta(description="Tokens of an episode with its prompt; null: the model's context")
    ] = None
    agent_reward: Annotated[
        Literal["episode", "steps"],
        Meta(description="What reward_function is shown of an agent: whole episodes, or every step by itself"),
    ] = "episode"
    agent_workers: Annotated[
        CountOrNone, Meta(description="Processes for environments, which a deadline can kill; 0: threads of this one")
    ] = 32
