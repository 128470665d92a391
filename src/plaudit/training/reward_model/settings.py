"""Every setting of the training of a reward model, as one typed tree; the defaults suit the embedded model."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share
from plaudit.training.config.keys import Keys, Section, flatten, read_config_file
from plaudit.training.config.schema import BaseModelConfig

EMBEDDED_STEPS, EMBEDDED_LR = (150, 600), 2e-3
EMBEDDED_TOKENS = 1_500_000
"""The number of tokens that the embedded model reads in about a minute on one core."""
PRETRAINED_LR, LORA_LR = 1e-5, 1e-4


class ClassifierConfig(BaseModelConfig, frozen=True):
    """The model that is to become a reward model."""

    max_tokens: Annotated[Count, "The most tokens of prompt and response together; see data.too_long"] = 512


class PairsConfig(Section, frozen=True):
    """The preference pairs."""

    path: Annotated[str | None, "JSONL, Parquet, CSV or a dataset folder with chosen and rejected"] = None
    held_out_path: Annotated[str | None, "Pairs to judge by; null sets held_out_share of `path` aside, by prompt"] = (
        None
    )
    held_out_share: Annotated[Annotated[float, Meta(gt=0, lt=1)], "The share of pairs that is never trained on"] = 0.2
    prompt_key: Annotated[str | None, "The column with the prompt; null: by its usual names"] = None
    chosen_key: Annotated[str | None, "The column with the better response; null: chosen"] = None
    rejected_key: Annotated[str | None, "The column with the worse one; null: rejected"] = None
    split: Annotated[str, "Which split of a Hugging Face dataset folder"] = "train"
    limit: Annotated[Count | None, "Read no more pairs than this"] = None
    too_long: Annotated[
        Literal["truncate", "skip"], "Pairs longer than model.max_tokens lose their beginning, or are left out"
    ] = "truncate"
    skip_bad: Annotated[bool, "Leave out rows that hold no pair, and say how many there were"] = False


class FitConfig(Section, frozen=True):
    """How the model is fitted to the pairs."""

    steps: Annotated[Count | None, "Optimizer steps; null: a minute of them for the embedded model, else epochs"] = None
    epochs: Annotated[Positive | None, "Instead of steps: the passes over all pairs; null: one"] = None
    batch_size: Annotated[Count, "Pairs in a step"] = 32
    gradient_accumulation: Annotated[Count, "Micro-batches of a step: more of them need less memory"] = 1
    lr: Annotated[
        Positive | None, "Learning rate; null: 0.002 for the embedded model, 0.0001 with LoRA, else 1e-05"
    ] = None
    schedule: Annotated[Literal["linear", "cosine", "constant"], "How the learning rate falls to 0"] = "cosine"
    warmup_share: Annotated[Share, "The share of the steps in which the learning rate rises from 0"] = 0.05
    weight_decay: Annotated[NonNegative, "The weight decay of AdamW"] = 0.01
    max_grad_norm: Annotated[Positive, "Gradients are clipped to this norm"] = 1.0
    center: Annotated[NonNegative, "Weight of (chosen + rejected)² in the loss: rewards stay around 0; 0: none"] = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps is not None and self.epochs is not None:
            raise ValueError(f"steps={self.steps} and epochs={self.epochs:g} both set the length; give one of them")
        if self.batch_size % self.gradient_accumulation:
            raise ValueError(
                f"batch_size={self.batch_size} cannot be computed in {self.gradient_accumulation} pieces of one size"
            )


class RewardModelConfig(Section, frozen=True):
    """A whole training of a reward model: `plaudit train-reward-model --print-config` shows it with its meanings."""

    output_dir: Annotated[str, "The folder that becomes the reward model"] = "runs/reward-model"
    seed: Annotated[NonNegativeInt, "The same seed gives the same numbers, on the same machine"] = 1
    trl: Annotated[dict[str, Any], "Anything else for TRL's RewardConfig: trl.KEY=value"] = msgspec.field(
        default_factory=dict
    )
    model: ClassifierConfig = ClassifierConfig()
    data: PairsConfig = PairsConfig()
    training: FitConfig = FitConfig()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.output_dir.strip():
            raise ValueError("output_dir is empty; name the folder that the reward model goes to")

    @property
    def lr(self) -> float:
        """The learning rate; the embedded model needs more and larger steps than others."""
        usual = EMBEDDED_LR if self.model.is_embedded else LORA_LR if self.model.lora_rank else PRETRAINED_LR
        return self.training.lr or usual

    def count_steps(self, pairs: int, tokens: int) -> int:
        """The optimizer steps of a training on `pairs` pairs with `tokens` tokens."""
        training = self.training
        if training.steps is not None:
            return training.steps
        if training.epochs is None and self.model.is_embedded:
            in_a_minute = EMBEDDED_TOKENS * pairs // (tokens * training.batch_size)
            return min(EMBEDDED_STEPS[1], max(EMBEDDED_STEPS[0], in_a_minute))
        return max(1, math.ceil((training.epochs or 1.0) * pairs / training.batch_size))


REWARD_MODEL_KEYS = Keys(RewardModelConfig, command="train-reward-model")
"""Every key by its dotted name."""


def load_reward_model_config(file: str | Path | None = None, overrides: Iterable[str] = ()) -> RewardModelConfig:
    """The config of a YAML file, or the defaults, with `section.key=value` overrides."""
    values = flatten(read_config_file(file)) if file is not None else {}
    return REWARD_MODEL_KEYS.build(REWARD_MODEL_KEYS.override(values, overrides))


def document_reward_model_config(config: RewardModelConfig) -> str:
    """The config as YAML with the meaning of every key; it can be read back."""
    return REWARD_MODEL_KEYS.document(config)
