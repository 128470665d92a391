"""The keys of the loss, the optimizer and the updates.

Sections are the settings objects: what is read from a config is what the loss and the optimizer work with.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share, check_choice
from plaudit.training.config.keys import PRESET, PositiveShare, Section

KLEstimator: TypeAlias = Literal["k1", "k2", "k3"]
ImportanceLevel: TypeAlias = Literal["token", "sequence"]
ImportanceMode: TypeAlias = Literal["truncate", "reject"]
Average: TypeAlias = Literal["token", "sequence", "constant"]
Ratio: TypeAlias = Literal["token", "sequence", "geometric"]
Surrogate: TypeAlias = Literal["clipped", "weighted", "soft", "unclipped", "plain"]

_CLIPPED: dict[str, Any] = {
    "surrogate": "clipped",
    "ratio": "token",
    "average": "token",
    "clip_low": 0.2,
    "clip_high": 0.2,
    "dual_clip": None,
    "token_clip": None,
}
"""PPO's clipped surrogate (arXiv:1707.06347), which the published losses change."""
_PRESETS: dict[str, Mapping[str, Any]] = {
    "grpo": {"average": "sequence"},
    "dapo": {"clip_high": 0.28},
    "dr_grpo": {"average": "constant"},
    "gspo": {"ratio": "sequence", "average": "sequence", "clip_low": 3e-4, "clip_high": 4e-4},
    "cispo": {"surrogate": "weighted", "clip_low": 1.0, "clip_high": 4.0},
    "ppo": {"dual_clip": 3.0},
    "gmpo": {"surrogate": "unclipped", "ratio": "geometric", "average": "sequence", "token_clip": 0.4},
    "sapo": {"surrogate": "soft", "average": "sequence"},
    "reinforce": {"surrogate": "plain"},
}
"""The losses by the names of their papers, with the papers' clips (CISPO's from ScaleRL, arXiv:2510.13786)."""


class LossSettings(Section, frozen=True):
    """The policy loss: a published one by `name`, and changes to it; null takes the preset's value."""

    name: Annotated[str, "The preset: grpo, dapo, dr_grpo, gspo, cispo, gmpo, sapo, ppo, reinforce"] = "grpo"
    clip_low: Annotated[Share, "The ratio is clipped below 1 - clip_low"] = PRESET
    clip_high: Annotated[NonNegative, "The ratio is clipped above 1 + clip_high"] = PRESET
    dual_clip: Annotated[Positive | None, "The ratio is at most this where the advantage is negative"] = PRESET
    token_clip: Annotated[
        Positive | None, "The log-ratio of each token is clipped to this before a mean over the sequence (GMPO)"
    ] = PRESET
    ratio: Annotated[
        Ratio, "The ratio is per token, per sequence (GSPO), or the geometric mean of the sequence (GMPO)"
    ] = PRESET
    surrogate: Annotated[
        Surrogate, "The objective: clipped (PPO), weighted (CISPO), soft (SAPO), unclipped, or plain, without a ratio"
    ] = PRESET
    temperatures: Annotated[
        tuple[Positive, Positive], "With surrogate=soft, the temperatures for positive and for negative advantages"
    ] = (1.0, 1.05)
    average: Annotated[
        Average,
        "How tokens are averaged: over all tokens, first over each sequence, or divided by samples times max_tokens",
    ] = PRESET
    max_tokens: Annotated[
        Count | None, "With average=constant, the divisor of a sample; null: the most tokens of a response"
    ] = None
    kl_beta: Annotated[NonNegative, "Weight of the KL to the model at the start; 0: none"] = 0.0
    kl_estimator: Annotated[KLEstimator, "How the KL is estimated"] = "k3"
    kl_in: Annotated[Literal["loss", "reward"], "Whether the KL is part of the loss or of the reward"] = "loss"
    entropy_bonus: Annotated[NonNegative, "Weight of the entropy in the loss, which keeps the policy exploring"] = 0.0
    sft_weight: Annotated[NonNegative, "Weight of the cross entropy of demonstrations in the loss; 0: none"] = 0.0
    sft_batch: Annotated[Count, "Demonstrations in each optimizer step"] = 16
    top_entropy: Annotated[PositiveShare, "Learn only from this share of tokens, those with the highest entropy"] = 1.0
    mask_truncated: Annotated[bool, "Leave out responses that were cut at the length limit"] = False
    max_importance: Annotated[Positive, "Upper bound of the importance weights that correct for stale samples"] = 2.0
    importance_level: Annotated[ImportanceLevel, "Importance weights per token, or per sequence"] = "token"
    importance_mode: Annotated[ImportanceMode, "Weights above max_importance are truncated to it, or set to 0"] = (
        "truncate"
    )

    def __post_init__(self) -> None:
        check_choice("loss", self.name, _PRESETS)
        for name, value in self.preset.items():
            if getattr(self, name) is None:
                msgspec.structs.force_setattr(self, name, value)
        super().__post_init__()
        if self.dual_clip is not None and self.dual_clip <= 1.0 + self.clip_high:
            raise InvalidSettings(f"dual_clip must exceed 1 + clip_high = {1 + self.clip_high}, got {self.dual_clip}")
        if self.kl_beta and self.kl_estimator == "k1" and self.kl_in == "loss":
            raise InvalidSettings(
                "kl_estimator=k1 has no useful gradient in a loss: its expectation is the same whatever the reference; "
                "take k2 or k3, or put the KL into the reward (kl_in=reward)"
            )
        self._check_changes()

    @property
    def preset(self) -> dict[str, Any]:
        """The published values of the fields that differ between losses."""
        return {**_CLIPPED, **_PRESETS[self.name]}

    @property
    def changes(self) -> dict[str, Any]:
        """The values that differ from the preset's."""
        return {name: getattr(self, name) for name, value in self.preset.items() if getattr(self, name) != value}

    def to_dict(self) -> dict[str, object]:
        """Plain data, with null for the preset's values: another name then takes those of its own preset."""
        unchanged = self.preset.keys() - self.changes.keys()
        return {name: None if name in unchanged else value for name, value in super().to_dict().items()}

    def _check_changes(self) -> None:
        for name in self.changes:
            if self.surrogate not in _SURROGATES_WITH.get(name, (self.surrogate,)):
                raise InvalidSettings(f"{name} is not for name={self.name}; leave it out")


_SURROGATES_WITH = {
    "clip_low": ("clipped", "weighted"),
    "clip_high": ("clipped", "weighted"),
    "dual_clip": ("clipped",),
}
"""The surrogates on which a clip has an effect."""
LOSSES: dict[str, LossSettings] = {name: LossSettings(name=name) for name in _PRESETS}
"""The published losses by name."""


class OptimizerConfig(Section, frozen=True):
    """AdamW and its learning rate over the run, of the policy and of a critic (`gae`) alike."""

    lr: Annotated[Positive, "Learning rate"] = 1e-3
    schedule: Annotated[Literal["linear", "cosine", "constant"], "How the learning rate falls to 0"] = "linear"
    warmup_steps: Annotated[NonNegativeInt, "Steps in which the learning rate rises from 0"] = 0
    betas: Annotated[tuple[Share, Share], "Decay rates of the two moments of AdamW"] = (0.9, 0.99)
    eps: Annotated[Positive, "The epsilon of AdamW"] = 1e-8
    weight_decay: Annotated[NonNegative, "The weight decay of AdamW"] = 0.0
    max_grad_norm: Annotated[Positive, "Gradients are clipped to this norm"] = 1.0


class TrainingConfig(Section, frozen=True):
    """Reward, updates, and what is reported about rewards."""

    reward_function: Annotated[
        str | None, "my.py:name, pkg.mod.name, a built-in or an expression; null: the task's reward"
    ] = None
    judge_certificates: Annotated[
        tuple[str, ...],
        "Certificates of `plaudit judge calibrate`: each judge in the reward needs a valid one; []: none is required",
    ] = ()
    reward_lock: Annotated[
        str | None, "A reward.lock: stop unless it has the reward, and the content of data.path (`plaudit lock`)"
    ] = None
    reward_backend: Annotated[
        Literal["auto", "inline", "processes", "ray"],
        "Where rewards run; auto: the task's own inline, others on processes with a deadline",
    ] = "auto"
    reward_workers: Annotated[Count | None, "Processes that score; null: one per core"] = None
    reward_deadline_s: Annotated[NonNegative, "A sample that takes longer is not scored; 0: never"] = 10.0
    max_unscored_batches: Annotated[Count, "End the run after this many batches in a row without a single score"] = 3
    log_rewards: Annotated[bool, "Print the distribution of rewards of every batch"] = False
    save_reward_analysis: Annotated[
        bool, "Write reward_analysis.json and .txt: what scores high and low, and what fails"
    ] = False
    credit: Annotated[
        Literal["tokens", "steps", "outcome"],
        "Where rewards are credited: to tokens, where the reward gives token rewards; to steps; to the whole response",
    ] = "tokens"
    gamma: Annotated[Share, "Discount of what is earned later: per token; per step with gigpo and turns"] = 1.0
    gae_lambda: Annotated[Share | None, "With advantage=gae, its lambda; null: 0.95"] = None
    advantage_scale: Annotated[
        Literal["group", "batch", "none"] | None, "With advantage=grpo, whose standard deviation divides; null: group"
    ] = None
    component_weights: Annotated[
        dict[str, float], "With advantage=gdpo, the weights of the reward's components; {}: equal weights"
    ] = msgspec.field(default_factory=dict)
    normalize_tasks: Annotated[
        bool | None,
        "Divide the rewards of each task by their standard deviation so far; null: if there are several tasks",
    ] = None
    pass_k: Annotated[Count | None, "With advantage=pass_at_k, the k; null: 4"] = None
    critic_passes: Annotated[Count, "With advantage=gae, the passes of the critic over a batch"] = 2
    critic_lr_factor: Annotated[Positive, "The learning rate of the critic divided by that of the policy"] = 1.0
    updates_per_batch: Annotated[Count, "Passes over a batch"] = 1
    minibatches: Annotated[Count, "Optimizer steps in one pass"] = 1
    gradient_accumulation: Annotated[Count, "Micro-batches of an optimizer step: more of them need less memory"] = 1
    async_train: Annotated[bool, "Sample and score the next batch while the policy is updated"] = False
    max_staleness: Annotated[Count, "The number of updates by which an asynchronous batch may be behind"] = 1
    agent_file: Annotated[
        str | None, "An agent file, my_agent.py, for multi-turn episodes; rewards that it gives are used"
    ] = None
    agent_max_steps: Annotated[Count, "The most turns of an episode"] = 5
    agent_max_tokens: Annotated[
        Count | None, "The most tokens of an episode with its prompt; null: the model's context"
    ] = None
    agent_workers: Annotated[
        NonNegativeInt, "Processes for environments, which a deadline can kill; 0: threads of this process"
    ] = 32
