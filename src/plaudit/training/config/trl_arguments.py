"""The TRL argument of each config key, and the values that TRL's GRPOTrainer cannot express.

Values that TRL cannot express are errors before anything is loaded: a key without a counterpart must be at its
default.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.config.keys import flatten
from plaudit.training.config.learning_keys import LossSettings
from plaudit.training.config.schema import RunConfig

RENAMED: dict[str, str] = {
    "seed": "seed",
    "sampling.samples_per_prompt": "num_generations",
    "sampling.temperature": "temperature",
    "sampling.top_p": "top_p",
    "sampling.top_k": "top_k",
    "loss.kl_beta": "beta",
    "loss.mask_truncated": "mask_truncated_completions",
    "loss.top_entropy": "top_entropy_quantile",
    "loss.entropy_bonus": "entropy_coef",
    "model.gradient_checkpointing": "gradient_checkpointing",
    "optimizer.lr": "learning_rate",
    "optimizer.eps": "adam_epsilon",
    "optimizer.weight_decay": "weight_decay",
    "optimizer.max_grad_norm": "max_grad_norm",
    "training.updates_per_batch": "num_iterations",
    "training.gradient_accumulation": "gradient_accumulation_steps",
    "checkpoint.keep": "save_total_limit",
}
"""Keys that TRL takes under another name."""

COMPUTED: dict[str, str] = {
    "steps": "max_steps, which counts optimizer steps",
    "advantage": "scale_rewards, reward_weights",
    "model.device": "use_cpu",
    "model.dtype": "bf16",
    "sampling.prompts_per_step": "per_device_train_batch_size, for all processes together",
    "sampling.sampler": "use_vllm, vllm_mode",
    "sampling.min_p": "min_p",
    "sampling.max_new_tokens": "max_completion_length",
    "loss.name": "loss_type, importance_sampling_level, delta",
    "loss.clip_low": "epsilon",
    "loss.clip_high": "epsilon_high",
    "loss.average": "loss_type",
    "loss.dual_clip": "delta",
    "loss.ratio": "importance_sampling_level",
    "loss.max_importance": "vllm_importance_sampling_clip_max",
    "optimizer.schedule": "lr_scheduler_type",
    "optimizer.warmup_steps": "warmup_steps",
    "optimizer.betas": "adam_beta1, adam_beta2",
    "training.minibatches": "steps_per_generation",
    "checkpoint.every": "save_strategy, save_steps",
}
"""Keys that become TRL's arguments after some arithmetic."""

BY_PLAUDIT: tuple[str, ...] = (
    "output_dir", "engine", "task", "trl", "model.", "data.", "eval.", "logging.", "training.reward_",
    "training.judge_certificates", "training.log_rewards", "training.max_unscored_batches",
    "training.save_reward_analysis",
    "training.max_staleness", "training.agent_max_", "training.agent_workers",
)  # fmt: skip
"""Keys, or their prefixes, with the same meaning for both engines, since plaudit handles them; and keys used only with
a refused key.
"""


ADVANTAGES: dict[str, Callable[[int], dict[str, Any]]] = {
    "grpo": lambda size: {"scale_rewards": "group"},
    "group_norm": lambda size: {"scale_rewards": "group"},
    "dr_grpo": lambda size: {"scale_rewards": "none"},
    # leaving a sample out of its own mean is the same as stretching its distance to the mean of all
    "rloo": lambda size: {"scale_rewards": "none", "reward_weights": [size / (size - 1)]},
}
GROUPED = ("grpo", "group_norm")
SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
LOSS_TYPES = {"sequence": "grpo", "token": "dapo", "constant": "dr_grpo"}

_Check = Callable[[Any, RunConfig], bool]
REQUIRED: dict[str, tuple[_Check, str]] = {
    "advantage": (lambda name, _: name in ADVANTAGES, f"TRL's GRPOTrainer knows {', '.join(ADVANTAGES)}"),
    "sampling.samples_per_prompt": (lambda count, _: count >= 2, "TRL compares at least two samples"),
    "loss.kl_estimator": (lambda name, config: name == "k3" or not config.loss.kl_beta, "TRL estimates the KL by k3"),
    "loss.kl_in": (lambda where, config: where == "loss" or not config.loss.kl_beta, "TRL has the KL in the loss"),
    "training.credit": (lambda by, _: by in ("tokens", "outcome"), "TRL takes one reward per response"),
    "training.normalize_tasks": (
        lambda wanted, config: not wanted and (wanted is False or len(config.tasks) < 2 or config.advantage in GROUPED),
        "TRL keeps no spread of a task; with several tasks, advantage=grpo needs none",
    ),
}
"""Keys of which TRL can express some values only, with the reason. Any key in no table must be at its default."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The number of processes that share a batch, and the largest length of a response."""

    processes: int
    max_new_tokens: int


def check_trl_can(config: RunConfig, shape: Shape) -> None:
    """Raise InvalidSettings that names every option which TRL cannot express."""
    problems = [
        f"{name}={value}: {reason}"
        for name, value in flatten(config.to_dict()).items()
        if (reason := _why_not(name, value, config)) is not None
    ]
    problems += [wrong for wrong in (_loss_refusal(config), _batch_refusal(config, shape)) if wrong]
    if problems:
        raise InvalidSettings(f"engine=trl cannot do this; change it, or take engine=local: {'; '.join(problems)}")


def _why_not(name: str, value: Any, config: RunConfig) -> str | None:
    """The reason why TRL cannot express the value of a key; None when it can."""
    if name in REQUIRED:
        fits, reason = REQUIRED[name]
        return None if fits(value, config) else reason
    if name in RENAMED or name in COMPUTED or name.startswith(BY_PLAUDIT) or value == _DEFAULTS[name]:
        return None
    return "TRL's GRPOTrainer has no counterpart"


def check_passed_through(config: RunConfig, known: Collection[str], shape: Shape) -> None:
    """Raise InvalidSettings for a `trl.KEY` that TRL does not have, or that duplicates another key of the config."""
    ours = {**{argument: name for name, argument in RENAMED.items()}, "output_dir": "output_dir"}
    ours |= {argument: name for name, arguments in COMPUTED.items() for argument in arguments.split(", ")}
    fixed = (*_own_arguments(config, shape), "output_dir")
    refuse_taken(config.trl, known, {argument: ours.get(argument, "") for argument in fixed})


def refuse_taken(passed: Iterable[str], known: Collection[str], ours: Mapping[str, str]) -> None:
    """Raise InvalidSettings for a `trl.KEY` that TRL does not know, or that is one of our arguments.

    `ours` maps an argument to the key that sets it, or to an empty text if plaudit sets it.
    """
    for name in passed:
        if name not in known:
            raise InvalidSettings(f"trl.{name}: TRL has no {name!r}{did_you_mean(name, known)}")
        if name in ours:
            instead = f"; set {ours[name]} instead" if ours[name] else ", which plaudit sets itself"
            raise InvalidSettings(f"trl.{name} duplicates a key of plaudit's config{instead}")


def trl_arguments(config: RunConfig, shape: Shape) -> dict[str, Any]:
    """The arguments of TRL's GRPOConfig, with those that the config passes through."""
    return {**_own_arguments(config, shape), **config.trl}


def _own_arguments(config: RunConfig, shape: Shape) -> dict[str, Any]:
    check_trl_can(config, shape)
    values = flatten(config.to_dict())
    per_batch = optimizer_steps(config)
    return {
        **{argument: values[name] for name, argument in RENAMED.items()},
        **ADVANTAGES[config.advantage](config.sampling.samples_per_prompt),
        **_loss_arguments(config.loss),
        **_sampler_arguments(config),
        "max_steps": config.steps * per_batch,
        "use_cpu": config.model.device == "cpu",
        "bf16": config.model.dtype == "bfloat16",  # computed in bfloat16, with weights in float32
        "per_device_train_batch_size": config.batch_size // (shape.processes * _micro_batches(config)),
        "steps_per_generation": _micro_batches(config),
        "max_completion_length": shape.max_new_tokens,
        "min_p": config.sampling.min_p or None,
        "lr_scheduler_type": SCHEDULES[config.optimizer.schedule],
        "warmup_steps": config.optimizer.warmup_steps * per_batch,
        "adam_beta1": config.optimizer.betas[0],
        "adam_beta2": config.optimizer.betas[1],
        "save_strategy": "steps" if config.checkpoint.every else "no",
        "save_steps": max(1, config.checkpoint.every * per_batch),
        **FIXED,
    }


_DEFAULTS = flatten(RunConfig().to_dict())
FIXED: Mapping[str, Any] = {
    "ddp_find_unused_parameters": False,  # every trained parameter takes part in every pass
    "shuffle_dataset": False,  # the prompts come in the order of plaudit's own loop
    "logging_steps": 1,
    "logging_nan_inf_filter": False,
    "disable_tqdm": True,
    "report_to": [],
    "optim": "adamw_torch",
}


def optimizer_steps(config: RunConfig) -> int:
    """The number of TRL's optimizer steps in one step of ours, which is a batch."""
    return config.training.updates_per_batch * config.training.minibatches


def _micro_batches(config: RunConfig) -> int:
    return config.training.minibatches * config.training.gradient_accumulation


def _loss_arguments(loss: LossSettings) -> dict[str, Any]:
    if loss.surrogate == "soft":
        above, below = loss.temperatures
        return {"loss_type": "sapo", "sapo_temperature_pos": above, "sapo_temperature_neg": below}
    if loss.surrogate == "weighted":  # TRL's bound for CISPO is the ratio itself
        return {"loss_type": "cispo", "epsilon_high": 1.0 + loss.clip_high, "importance_sampling_level": loss.ratio}
    return {
        "loss_type": LOSS_TYPES[loss.average],
        "epsilon": loss.clip_low,
        "epsilon_high": loss.clip_high,
        "delta": loss.dual_clip,
        "importance_sampling_level": loss.ratio,
    }


def _sampler_arguments(config: RunConfig) -> dict[str, Any]:
    if config.sampling.sampler == "transformers":
        return {}
    most = config.loss.max_importance
    return {"use_vllm": True, "vllm_mode": "colocate", "vllm_importance_sampling_clip_max": most}


def _loss_refusal(config: RunConfig) -> str | None:
    loss = config.loss
    if loss.surrogate == "unclipped" or loss.ratio == "geometric":
        return f"loss.name={config.loss.name}: TRL has no loss of geometric means"
    if loss.surrogate == "plain" and optimizer_steps(config) > 1:
        return f"loss.name={config.loss.name}: TRL has it for one optimizer step per batch only"
    if loss.surrogate == "weighted" and loss.average != "token":
        return f"loss.average={loss.average}: TRL averages {config.loss.name} over tokens"
    if loss.surrogate == "weighted" and loss.clip_low < 1.0:
        return f"loss.clip_low={loss.clip_low:g}: TRL has no lower bound for {config.loss.name}"
    return None


def _batch_refusal(config: RunConfig, shape: Shape) -> str | None:
    parts = shape.processes * _micro_batches(config)
    if config.batch_size % parts == 0:
        return None
    sampling = config.sampling
    return (
        f"sampling.prompts_per_step={sampling.prompts_per_step} with "
        f"sampling.samples_per_prompt={sampling.samples_per_prompt} "
        f"make {config.batch_size} responses, which {parts} parts ({shape.processes} processes × minibatches × "
        "gradient_accumulation) do not divide"
    )
