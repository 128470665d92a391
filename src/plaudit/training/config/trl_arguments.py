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


@dataclass(frozen=True, slots=True)
class Shape:
    """The number of processes that share a batch, and the largest length of a response."""

    processes: int
    max_new_tokens: int


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
CLIPS = ("clipped", "plain", "unclipped")
"""The surrogates whose bounds TRL takes as they are."""

Argument = str | Callable[[RunConfig, Shape], dict[str, Any]]
ARGUMENTS: dict[str, Argument] = {
    "seed": "seed",
    "sampling.samples_per_prompt": "num_generations",
    "sampling.temperature": "temperature",
    "sampling.top_p": "top_p",
    "sampling.top_k": "top_k",
    "sampling.min_p": lambda run, _: {"min_p": run.sampling.min_p or None},
    "sampling.max_new_tokens": lambda _, shape: {"max_completion_length": shape.max_new_tokens},
    "sampling.prompts_per_step": lambda run, shape: {
        "per_device_train_batch_size": run.batch_size // (shape.processes * _micro_batches(run))
    },
    "sampling.sampler": lambda run, _: {"use_vllm": True, "vllm_mode": "colocate"} if _uses_vllm(run) else {},
    "steps": lambda run, _: {"max_steps": run.steps * optimizer_steps(run)},
    "advantage": lambda run, _: ADVANTAGES[run.advantage](run.sampling.samples_per_prompt),
    "model.gradient_checkpointing": "gradient_checkpointing",
    "model.device": lambda run, _: {"use_cpu": run.model.device == "cpu"},
    "model.dtype": lambda run, _: {"bf16": run.model.dtype == "bfloat16"},  # weights stay float32
    "loss.kl_beta": "beta",
    "loss.mask_truncated": "mask_truncated_completions",
    "loss.top_entropy": "top_entropy_quantile",
    "loss.entropy_bonus": "entropy_coef",
    "loss.name": lambda run, _: _loss_type(run.loss),
    "loss.average": lambda run, _: _loss_type(run.loss),
    "loss.clip_low": lambda run, _: {"epsilon": run.loss.clip_low} if run.loss.surrogate in CLIPS else {},
    "loss.clip_high": lambda run, _: _clip_high(run.loss),
    "loss.dual_clip": lambda run, _: {"delta": run.loss.dual_clip} if run.loss.surrogate in CLIPS else {},
    "loss.ratio": lambda run, _: {} if run.loss.surrogate == "soft" else {"importance_sampling_level": run.loss.ratio},
    "loss.max_importance": lambda run, _: (
        {"vllm_importance_sampling_clip_max": run.loss.max_importance} if _uses_vllm(run) else {}
    ),
    "optimizer.lr": "learning_rate",
    "optimizer.eps": "adam_epsilon",
    "optimizer.weight_decay": "weight_decay",
    "optimizer.max_grad_norm": "max_grad_norm",
    "optimizer.betas": lambda run, _: dict(zip(("adam_beta1", "adam_beta2"), run.optimizer.betas, strict=True)),
    "optimizer.schedule": lambda run, _: {"lr_scheduler_type": SCHEDULES[run.optimizer.schedule]},
    "optimizer.warmup_steps": lambda run, _: {"warmup_steps": run.optimizer.warmup_steps * optimizer_steps(run)},
    "training.updates_per_batch": "num_iterations",
    "training.gradient_accumulation": "gradient_accumulation_steps",
    "training.minibatches": lambda run, _: {"steps_per_generation": _micro_batches(run)},
    "checkpoint.keep": "save_total_limit",
    "checkpoint.every": lambda run, _: {
        "save_strategy": "steps" if run.checkpoint.every else "no",
        "save_steps": max(1, run.checkpoint.every * optimizer_steps(run)),
    },
}
"""The argument of TRL that has the value of a key, or the arguments that are computed for it."""

BY_PLAUDIT: tuple[str, ...] = (
    "output_dir", "engine", "task", "trl", "model.", "data.", "eval.", "logging.", "training.reward_",
    "training.judge_certificates", "training.log_rewards", "training.max_unscored_batches",
    "training.save_reward_analysis",
    "training.max_staleness", "training.agent_max_", "training.agent_workers",
)  # fmt: skip
"""Keys, or their prefixes, with the same meaning for both engines, since plaudit handles them; and keys used only with
a refused key.
"""


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
    if name in ARGUMENTS or name.startswith(BY_PLAUDIT) or value == _DEFAULTS[name]:
        return None
    return "TRL's GRPOTrainer has no counterpart"


def check_passed_through(config: RunConfig, known: Collection[str], shape: Shape) -> None:
    """Raise InvalidSettings for a `trl.KEY` that TRL does not have, or that duplicates another key of the config."""
    by_key = _arguments_by_key(config, shape)
    ours = {argument: key for key, arguments in by_key.items() for argument in arguments}
    check_trl_keys(config.trl, known, {**ours, **dict.fromkeys(FIXED, ""), "output_dir": "output_dir"})


def check_trl_keys(passed: Iterable[str], known: Collection[str], ours: Mapping[str, str]) -> None:
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
    ours = {name: value for arguments in _arguments_by_key(config, shape).values() for name, value in arguments.items()}
    return {**ours, **FIXED, **config.trl}


def _arguments_by_key(config: RunConfig, shape: Shape) -> dict[str, dict[str, Any]]:
    check_trl_can(config, shape)
    values = flatten(config.to_dict())
    return {
        key: {argument: values[key]} if isinstance(argument, str) else argument(config, shape)
        for key, argument in ARGUMENTS.items()
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


def _uses_vllm(config: RunConfig) -> bool:
    return config.sampling.sampler == "vllm"


def _loss_type(loss: LossSettings) -> dict[str, Any]:
    if loss.surrogate == "soft":
        above, below = loss.temperatures
        return {"loss_type": "sapo", "sapo_temperature_pos": above, "sapo_temperature_neg": below}
    return {"loss_type": "cispo" if loss.surrogate == "weighted" else LOSS_TYPES[loss.average]}


def _clip_high(loss: LossSettings) -> dict[str, Any]:
    if loss.surrogate == "soft":
        return {}
    return {
        "epsilon_high": loss.clip_high + (1.0 if loss.surrogate == "weighted" else 0.0)
    }  # of CISPO: the ratio itself


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
