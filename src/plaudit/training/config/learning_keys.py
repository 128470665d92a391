"""The keys of the loss, the optimizer and the updates.

Sections are the settings objects: what is read from a config is what the loss and the optimizer work with.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share, check_choice
from plaudit.training.config.keys import PRESET, PositiveShare, Section

__all__ = [
    "Average", "ImportanceLevel", "ImportanceMode", "KLEstimator", "LOSSES", "LossSettings", "OptimizerConfig",
    "TrainingConfig",
]  # fmt: skip

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

    name: str = "grpo"
    """The preset: grpo, dapo, dr_grpo, gspo, cispo, gmpo, sapo, ppo, reinforce"""
    clip_low: Share = PRESET
    """The ratio is clipped below 1 - clip_low"""
    clip_high: NonNegative = PRESET
    """The ratio is clipped above 1 + clip_high"""
    dual_clip: Positive | None = PRESET
    """The ratio is at most this where the advantage is negative"""
    token_clip: Positive | None = PRESET
    """The log-ratio of each token is clipped to this before a mean over the sequence (GMPO)"""
    ratio: Ratio = PRESET
    """The ratio is per token, per sequence (GSPO), or the geometric mean of the sequence (GMPO)"""
    surrogate: Surrogate = PRESET
    """The objective: clipped (PPO), weighted (CISPO), soft (SAPO), unclipped, or plain, without a ratio"""
    temperatures: tuple[Positive, Positive] = (1.0, 1.05)
    """Of surrogate=soft: for positive and for negative advantages"""
    average: Average = PRESET
    """How tokens are averaged: all alike, each sequence first, or by samples times max_tokens"""
    max_tokens: Count | None = None
    """Of average=constant; null: the most tokens of a response"""
    kl_beta: NonNegative = 0.0
    """Weight of the KL to the model at the start; 0: none"""
    kl_estimator: KLEstimator = "k3"
    """How the KL is estimated"""
    kl_in: Literal["loss", "reward"] = "loss"
    """Where the KL counts"""
    entropy_bonus: NonNegative = 0.0
    """Weight of the entropy in the loss: keeps exploring"""
    sft_weight: NonNegative = 0.0
    """Weight of the cross entropy of demonstrations in the loss; 0: none"""
    sft_batch: Count = 16
    """Demonstrations in each optimizer step"""
    top_entropy: PositiveShare = 1.0
    """Learn only from this share of tokens, those with the highest entropy"""
    mask_truncated: bool = False
    """Leave out responses that were cut at the length limit"""
    max_importance: Positive = 2.0
    """Upper bound of the importance weights that correct for stale samples"""
    importance_level: ImportanceLevel = "token"
    """Importance weights per token, or per sequence"""
    importance_mode: ImportanceMode = "truncate"
    """Weights above max_importance are truncated to it, or set to 0"""

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
            if self.surrogate not in _CLIPPED_BY.get(name, (self.surrogate,)):
                raise InvalidSettings(f"{name} is not for name={self.name}, which does not clip so; leave it out")


_CLIPPED_BY = {"clip_low": ("clipped", "weighted"), "clip_high": ("clipped", "weighted"), "dual_clip": ("clipped",)}
"""Which surrogates have the clips."""
LOSSES: dict[str, LossSettings] = {name: LossSettings(name=name) for name in _PRESETS}
"""The published losses by name."""


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
    judge_certificates: tuple[str, ...] = ()
    """Certificates of `plaudit judge calibrate`: each judge in the reward needs a valid one; []: none is required"""
    reward_lock: str | None = None
    """A reward.lock: stop unless it has the reward, and the content of data.path (`plaudit lock`)"""
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
    """Micro-batches that an optimizer step is computed in: less memory"""
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
    agent_workers: NonNegativeInt = 32
    """Processes for environments, which a deadline can kill; 0: threads of this one"""
