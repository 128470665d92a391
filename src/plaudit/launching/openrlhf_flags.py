"""Read OpenRLHF's training flags as settings of a run: `--label_key answers` is `data.ground_truth_key=answers`.

OpenRLHF renamed its flags in 0.10 (`--label_key` became `--data.label_key`); both names are read. A flag that only
places models on machines is left out with a note, and an unknown flag is an error with a suggestion.
"""

import argparse
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.config.reading import KEYS, load_config
from plaudit.training.config.schema import RunConfig

PROGRAM = "openrlhf.cli.train_ppo"
ALIASES: dict[str, tuple[str, ...]] = {
    "output_dir": ("save_path", "ckpt.output_dir"),
    "seed": ("seed", "train.seed"),
    "advantage": ("advantage_estimator", "algo.advantage.estimator"),
    "model.path": ("pretrain", "actor.model_name_or_path"),
    "model.lora_rank": ("lora_rank", "ds.lora.rank"),
    "model.lora_alpha": ("lora_alpha", "ds.lora.alpha"),
    "model.gradient_checkpointing": ("gradient_checkpointing", "actor.gradient_checkpointing_enable"),
    "data.path": ("prompt_data", "data.prompt_dataset"),
    "data.eval_path": ("eval_dataset", "eval.dataset"),
    "data.prompt_key": ("input_key", "data.input_key"),
    "data.ground_truth_key": ("label_key", "data.label_key"),
    "data.split": ("prompt_split", "data.prompt_split"),
    "data.limit": ("max_samples", "data.max_samples"),
    "data.chat_template": ("apply_chat_template", "data.apply_chat_template"),
    "data.max_prompt_tokens": ("prompt_max_len",),
    "sampling.prompts_per_step": ("rollout_batch_size", "rollout.batch_size"),
    "sampling.samples_per_prompt": ("n_samples_per_prompt", "rollout.n_samples_per_prompt"),
    "sampling.temperature": ("temperature", "rollout.temperature"),
    "sampling.top_p": ("top_p", "rollout.top_p"),
    "sampling.max_new_tokens": ("generate_max_len", "max_new_tokens", "rollout.max_new_tokens"),
    "loss.name": ("policy_loss_type", "actor.policy_loss_type"),
    "loss.dual_clip": ("dual_clip", "actor.dual_clip"),
    "loss.entropy_bonus": ("entropy_loss_coef", "actor.entropy_coef"),
    "optimizer.lr": ("actor_learning_rate", "actor.adam.lr"),
    "optimizer.betas": ("adam_betas", "actor.adam.betas"),
    "optimizer.eps": ("actor.adam.eps",),
    "optimizer.weight_decay": ("l2", "actor.adam.weight_decay"),
    "optimizer.max_grad_norm": ("max_norm", "actor.max_norm"),
    "training.reward_function": ("remote_rm_url", "reward.remote_url"),
    "training.agent_file": ("agent_func_path", "train.agent_func_path"),
    "training.agent_max_steps": ("max_steps",),
    "training.updates_per_batch": ("max_epochs", "train.max_epochs"),
    "training.gamma": ("gamma", "algo.advantage.gamma"),
    "training.gae_lambda": ("lambd", "algo.advantage.lambd"),
    "training.async_train": ("async_train", "train.async_enable"),
    "training.max_staleness": ("async_queue_size", "train.async_queue_size"),
    "eval.temperature": ("eval_temperature", "eval.temperature"),
    "checkpoint.keep": ("max_ckpt_num", "ckpt.max_num"),
    "logging.project": ("wandb_project", "logger.wandb.project"),
    "logging.name": ("wandb_run_name", "logger.wandb.run_name"),
}
"""Keys, and the flags that are other names of them: the old name first."""

Settings = dict[str, Any]


def _every(value: str) -> int:
    return max(0, int(_number(value)))


def _template(value: str) -> str:
    """OpenRLHF's `{}` as our `{prompt}`; other braces are text."""
    if "{}" not in value:
        raise InvalidSettings(f"{value!r} has no {{}}, where the prompt goes")
    return "{prompt}".join(part.replace("{", "{{").replace("}", "}}") for part in value.split("{}"))


def _clip_range(low: str, high: str) -> Settings:
    return {"loss.clip_low": low, "loss.clip_high": high}


AVERAGES = {"token-mean": "token", "seq-mean-token-mean": "sequence"}
CONVERTED: dict[tuple[str, ...], tuple[int | str, Callable[..., Settings]]] = {
    ("eps_clip", "actor.eps_clip"): (1, lambda clip: _clip_range(clip, clip)),
    ("eps_clip_low_high", "actor.eps_clip_low_high"): (2, _clip_range),
    # OpenRLHF has the KL in the reward and estimates it by k1, unless other flags say otherwise
    ("init_kl_coef", "algo.kl.init_coef"): (
        1, lambda beta: {"loss.kl_beta": beta, "loss.kl_estimator": "k1", "loss.kl_in": "reward"},
    ),
    ("kl_estimator", "algo.kl.estimator"): (1, lambda name: {"loss.kl_estimator": name}),
    ("use_kl_loss", "algo.kl.use_loss"): (0, lambda: {"loss.kl_in": "loss"}),
    ("dynamic_filtering", "algo.dynamic_filtering_enable"): (0, lambda: {"filter.by": "mean"}),
    ("dynamic_filtering_reward_range", "algo.dynamic_filtering_range"): (
        2, lambda low, high: {"filter.low": low, "filter.high": high},
    ),
    ("lr_scheduler", "actor.lr_scheduler"): (
        1, lambda name: {"optimizer.schedule": name.removesuffix("_with_warmup")},
    ),
    ("actor.loss_agg_mode",): (1, lambda name: {"loss.average": AVERAGES.get(name, name)}),
    ("target_modules", "ds.lora.target_modules"): (
        "*", lambda *names: {} if names == ("all-linear",) else {"model.lora_targets": list(names)},
    ),
    ("bf16",): (0, lambda: {"model.dtype": "bfloat16"}),
    ("param_dtype", "ds.param_dtype"): (1, lambda name: {"model.dtype": {"bf16": "bfloat16"}.get(name, name)}),
    ("input_template", "data.input_template"): (1, lambda value: {"data.prompt_template": _template(value)}),
    ("eval_n_samples_per_prompt", "eval.n_samples_per_prompt"): (
        1, lambda n: {"eval.samples_per_prompt": n, "eval.pass_at": sorted({1, int(_number(n))})},
    ),
    ("eval_steps", "eval.steps"): (1, lambda steps: {"eval.every": _every(steps)}),
    ("save_steps", "ckpt.save_steps"): (1, lambda steps: {"checkpoint.every": _every(steps)}),
    ("use_wandb", "logger.wandb.key"): (1, lambda key: {"logging.wandb": key.lower() not in ("", "false")}),
    ("use_tensorboard", "logger.tensorboard_dir"): (1, lambda _: {"logging.tensorboard": True}),
}  # fmt: skip
"""Flags that become keys after a conversion: how many values each takes, and the settings that these give.
A flag further down wins over one above it."""
VARIABLES = {
    "WANDB_API_KEY": ("use_wandb", "logger.wandb.key"),
    "WANDB_ENTITY": ("wandb_org", "logger.wandb.org"),
    "WANDB_RUN_GROUP": ("wandb_group", "logger.wandb.group"),
}
"""Environment variables that carry the value of a flag, which is never written into the config."""
RESUME = ("load_checkpoint", "ckpt.load_enable")
RELATIVE: dict[str, tuple[str, ...]] = {
    "episodes": ("num_episodes", "train.num_episodes"),
    "train_batch": ("train_batch_size", "train.batch_size"),
    "micro_batch": ("micro_train_batch_size", "train.micro_batch_size"),
    "max_len": ("max_len", "data.max_len"),
    "warmup_ratio": ("lr_warmup_ratio", "actor.lr_warmup_ratio"),
    "critic_lr": ("critic_learning_rate", "critic.adam.lr"),
}
"""Flags whose number is relative to the rest of the config."""
PLACEMENT = re.compile(
    r"(vllm|colocate|ring|rollout\.vllm|train\.colocate)[._].*|ds\.(?!lora\.).*|.*num_(nodes|gpus_per_node)|zero_stage|zpg|.*offload"
    r"|enforce_eager|enable_prefix_caching|.*packing_samples|.*attn_implementation|.*flash_attn|overlap_comm"
    r"|micro_rollout_batch_size|rollout\.micro_batch_size|deepspeed_enable_sleep|save_hf_ckpt|ckpt_path|ckpt\.path"
    r"|logging_steps|logger\.logging_steps|perf|use_liger_kernel|local_rank"
)
"""Flags that place models on machines or change speed and memory, not what is learned."""
DEFAULTS: dict[str, str] = {
    "optimizer.lr": "1e-6",
    "sampling.prompts_per_step": "1024",
    "sampling.samples_per_prompt": "1",
    "advantage": "gae",
    "loss.kl_beta": "0.01, in the reward",
}
"""OpenRLHF's defaults of the keys where the difference matters most."""
OUR_OPTIONS = ("resume", "overwrite", "print-config", "ray", "json", "quiet", "help")
"""The options of `plaudit train` itself."""


@dataclass(frozen=True, slots=True)
class ForeignFlags:
    """The settings of a command line's flags."""

    rest: list[str]
    """Arguments that are not OpenRLHF's flags: a config file, `key=value`."""
    overrides: list[str] = field(default_factory=list)
    """The flags as `key=value`."""
    notes: list[str] = field(default_factory=list)
    """Flags that were left out, and defaults that differ."""
    environment: dict[str, str] = field(default_factory=dict)
    """Environment variables that carry secrets, such as the login of W&B."""
    resume: bool = False
    relative: dict[str, float] = field(default_factory=dict)
    """Numbers that are relative to the rest of the config, such as `--train_batch_size`."""

    def complete(self, config: RunConfig, count_prompts: Callable[[RunConfig], int]) -> RunConfig:
        """The config with the settings that follow from it and the flags; `--num_episodes` needs the prompt count."""
        if not self.relative:
            return config
        overrides = list(_relative_to(config, self.relative))
        if "episodes" in self.relative:
            steps = int(self.relative["episodes"] * count_prompts(config)) // config.sampling.prompts_per_step
            overrides.append(f"steps={max(1, steps)}")
        config = load_config(base=config.to_dict(), overrides=overrides)
        if "warmup_ratio" not in self.relative:
            return config
        warmup = math.ceil(config.steps * self.relative["warmup_ratio"])
        return load_config(base=config.to_dict(), overrides=[f"optimizer.warmup_steps={warmup}"])


def read_openrlhf_flags(arguments: Sequence[str]) -> ForeignFlags:
    """The flags among arguments, by their old or new names; raises InvalidSettings for an unknown one.

    A pasted command may begin with `ray job submit … -- python3 -m openrlhf.cli.train_ppo_ray`.
    """
    words = list(arguments)
    programs = [index for index, word in enumerate(words) if word.startswith(PROGRAM)]
    parsed, others = _parser().parse_known_args(words[programs[0] + 1 :] if programs else words)
    flags = {name: value for name, value in vars(parsed).items() if value is not None}
    rest, left_out = _split_others(others)
    if not flags and not left_out:
        return ForeignFlags(rest)
    settings = _settings(flags)
    return ForeignFlags(
        rest,
        [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()],
        list(_notes({*settings, *(each.partition("=")[0] for each in rest)}, left_out)),
        _environment(flags),
        resume=RESUME[0] in flags,
        relative={name: flags[name] for name in RELATIVE if name in flags},
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidSettings(message.removeprefix("argument "))


def _parser() -> _Parser:
    """A parser that files every flag under its key, or under its old name."""
    parser = _Parser(add_help=False, allow_abbrev=False)

    def add(dest: str, names: Sequence[str], count: int | str, kind: Callable[[str], Any] = str) -> None:
        flags = [f"--{name}" for name in names]
        if count:
            parser.add_argument(*flags, dest=dest, type=kind, nargs=None if count == 1 else count)
        else:
            parser.add_argument(*flags, dest=dest, action="store_const", const=True)

    for key, names in ALIASES.items():
        add(key, names, 0 if isinstance(KEYS[key].default, bool) else 2 if key == "optimizer.betas" else 1)
    for names, (count, _) in CONVERTED.items():
        add(names[0], names, count)
    for names in list(VARIABLES.values())[1:]:
        add(names[0], names, 1)
    for number, names in RELATIVE.items():
        add(number, names, 1, float)
    add(RESUME[0], RESUME, 0)
    return parser


def _split_others(words: list[str]) -> tuple[list[str], list[str]]:
    """Config files and `key=value`, and the flags that only place models; raises for an unknown flag."""
    rest: list[str] = []
    left_out: list[str] = []
    unknown: list[str] = []
    while words:
        word = words.pop(0)
        name, equals, _ = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            rest.append(word)
        elif PLACEMENT.fullmatch(name):
            left_out.append(f"--{name}")
            if words and not equals and not words[0].startswith("--") and not _is_ours(words[0]):
                words.pop(0)  # its value
        else:
            hint = did_you_mean(name, [*OUR_OPTIONS, *_names()])
            unknown.append(f"no option {word.partition('=')[0]}{hint}")
    if unknown:
        raise InvalidSettings(
            f"{'; '.join(unknown)} (`plaudit train --help` lists options; OpenRLHF's flags are read too)"
        )
    return rest, left_out


def _is_ours(word: str) -> bool:
    return "=" in word or word.endswith((".yaml", ".yml"))


def _names() -> Iterator[str]:
    for table in (ALIASES.values(), CONVERTED, VARIABLES.values(), RELATIVE.values(), [RESUME]):
        for names in table:
            yield from names


def _settings(flags: Mapping[str, Any]) -> Settings:
    """The flags as keys with their values."""
    settings: Settings = {key: flags[key] for key in ALIASES if key in flags}
    for key, value in settings.items():
        if isinstance(value, list):
            settings[key] = [_number(each) for each in value]
    for names, (count, convert) in CONVERTED.items():
        if names[0] not in flags:
            continue
        value = flags[names[0]]
        try:
            settings |= convert(*([] if not count else [value] if count == 1 else value))
        except InvalidSettings as error:
            raise InvalidSettings(f"--{names[0]}: {error}") from None
    return settings


def _environment(flags: Mapping[str, Any]) -> dict[str, str]:
    values = {variable: str(flags.get(names[0], "")) for variable, names in VARIABLES.items()}
    return {variable: value for variable, value in values.items() if value.lower() not in ("", "true", "false")}


def _notes(keys: Collection[str], left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield (
            f"left out {', '.join(left_out)}: plaudit trains in one process, or with engine=trl under torchrun or "
            "accelerate; sampling.sampler=vllm samples with vLLM"
        )
    defaults = [f"{key}={KEYS[key].default} (there: {theirs})" for key, theirs in DEFAULTS.items() if key not in keys]
    if defaults:
        yield f"not given, so plaudit's defaults apply: {', '.join(defaults)}"


def _relative_to(config: RunConfig, numbers: Mapping[str, float]) -> Iterator[str]:
    """The settings that follow from a number and the rest of the config."""
    batch = config.batch_size
    if "train_batch" in numbers:
        minibatches = batch / numbers["train_batch"]
        if minibatches < 1 or minibatches % 1:
            raise InvalidSettings(
                f"--train_batch_size {numbers['train_batch']:g} does not divide the {batch} responses of a step "
                "(rollout_batch_size × n_samples_per_prompt)"
            )
        yield f"training.minibatches={minibatches:g}"
    if "micro_batch" in numbers:
        per_update = numbers.get("train_batch", batch / config.training.minibatches)
        yield f"training.gradient_accumulation={math.ceil(per_update / numbers['micro_batch'])}"
    if "max_len" in numbers:
        if config.sampling.max_new_tokens is None:
            raise InvalidSettings(
                f"--max_len {numbers['max_len']:g} is for prompt and response together; add --max_new_tokens"
            )
        yield f"data.max_prompt_tokens={numbers['max_len'] - config.sampling.max_new_tokens:g}"
    if "critic_lr" in numbers:
        yield f"training.critic_lr_factor={numbers['critic_lr'] / config.optimizer.lr!r}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSettings(f"takes a number, got {text!r}") from None
