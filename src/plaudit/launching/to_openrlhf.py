"""A config as OpenRLHF's training command; the table of flags is the one that reads them."""

import math
from collections.abc import Mapping
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.launching.command_builder import CommandBuilder
from plaudit.launching.openrlhf_flags import COMPUTED, SAME

__all__ = ["PROGRAM", "build_command"]

PROGRAM = ("python3", "-m", "openrlhf.cli.train_ppo_ray")
ESTIMATORS = {name: name for name in ("gae", "reinforce", "rloo", "reinforce_baseline", "group_norm", "dr_grpo")}
ESTIMATORS["grpo"] = "group_norm"
SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean"}
FROM_MATERIALS = (
    "data.path", "data.eval_path", "data.prompt_key", "data.ground_truth_key", "data.split", "data.limit",
    "data.chat_template", "training.reward_function", "sampling.max_new_tokens", "output_dir",
)  # fmt: skip
COMPUTED_KEYS = (
    "optimizer.schedule", "optimizer.warmup_steps", "training.minibatches", "training.gradient_accumulation",
    "data.max_prompt_tokens", "loss.kl_beta", "loss.kl_in", "loss.kl_estimator", "loss.clip_low", "loss.clip_high",
    "loss.dual_clip", "filter.low", "filter.high", "model.lora_targets", "eval.every", "eval.samples_per_prompt",
    "checkpoint.every", "logging.wandb", "logging.tensorboard", "training.critic_lr_factor", "loss.name",
    "loss.average", "loss.ratio", "loss.surrogate", "data.eval_share", "data.prompt_template", "data.system_prompt",
    "eval.prompts", "eval.pass_at", "training.reward_workers", "training.reward_deadline_s", "task", "engine",
    "model.device", "eval.temperature", "training.max_staleness",
)  # fmt: skip
SERVES = {
    "model.lora_alpha": "model.lora_rank",
    "loss.kl_horizon": "loss.kl_target",
    "loss.entropy_bonus": "loss.entropy_bonus",  # 0 would turn its computation on
    "logging.project": "logging.wandb",
    "logging.name": "logging.wandb",
}
"""Keys that only serve another one."""
PROMPT_TOKENS = 1024


def build_command(builder: CommandBuilder) -> None:
    """Write the config as OpenRLHF's flags."""
    builder.take(*FROM_MATERIALS, *COMPUTED_KEYS)
    values = builder.values
    for key, names in SAME.items():
        name = _name(builder, names)
        if name is None or key in (*FROM_MATERIALS, *COMPUTED_KEYS):
            continue
        builder.take(key)
        value = values[key]
        if value is None or value is False or not _matters(key, values):
            continue
        several = value if isinstance(value, list) else [round(value) if key == "model.lora_alpha" else value]
        builder.give(name, *() if value is True else several)
    _data(builder)
    _length(builder)
    _estimator(builder)
    _loss(builder)
    _kl(builder)
    _optimizer(builder)
    _reports(builder)
    _machines(builder)


def _matters(key: str, values: Mapping[str, Any]) -> bool:
    """Whether a key means anything beside the others: a horizon without a target does not."""
    return key not in SERVES or bool(values[SERVES[key]])


def _name(builder: CommandBuilder, names: tuple[str, ...]) -> str | None:
    """What the flag is called in the version at hand."""
    return next((name for name in reversed(names) if name in builder.definitions.known), None)


def _give(builder: CommandBuilder, what: str, *values: object) -> bool:
    name = _name(builder, COMPUTED[what] if what in COMPUTED else SAME[what])
    if name is not None:
        builder.give(name, *values)
    return name is not None


def _data(builder: CommandBuilder) -> None:
    launch_files, data = builder.launch_files, builder.config.data
    _give(builder, "output_dir", f"{launch_files.folder}/model")
    _give(builder, "data.path", launch_files.train)
    _give(builder, "data.prompt_key", launch_files.prompt_key)
    if launch_files.label_key is not None:
        _give(builder, "data.ground_truth_key", launch_files.label_key)
    if launch_files.reward is not None:
        _give(builder, "training.reward_function", launch_files.reward)
    if launch_files.is_chat:
        _give(builder, "data.chat_template")
    _give(builder, "sampling.max_new_tokens", launch_files.max_new_tokens)
    prompt_tokens = data.max_prompt_tokens or PROMPT_TOKENS
    _give(builder, "max_len", prompt_tokens + launch_files.max_new_tokens)
    if data.max_prompt_tokens is None:
        builder.differ(
            f"data.max_prompt_tokens is open: room for {PROMPT_TOKENS} tokens of prompt is left (--data.max_len)"
        )
    if launch_files.count is None:
        builder.differ(
            f"data.path={data.path} is not here: the trainer reads it as it is, without templates or a split"
        )
    if launch_files.has_columns:
        builder.differ("a reward file there is given prompt, response and label only: other columns do not reach it")


def _length(builder: CommandBuilder) -> None:
    """OpenRLHF counts passes over the prompts, not steps."""
    config, count = builder.config, builder.launch_files.count
    wanted = config.steps * config.sampling.prompts_per_step
    if not config.steps:
        raise InvalidSettings("steps=0 only evaluates, and OpenRLHF has no such run")
    builder.take("steps")
    if count is None or count >= wanted:
        _give(builder, "data.limit", wanted)
        _give(builder, "episodes", 1)
        return
    episodes = math.ceil(wanted / count)
    _give(builder, "episodes", episodes)
    steps = count // config.sampling.prompts_per_step * episodes
    if steps != config.steps:
        builder.differ(f"steps={config.steps}: {episodes} passes over {count} prompts make {steps} steps there")


def _estimator(builder: CommandBuilder) -> None:
    config = builder.config
    if config.advantage not in ESTIMATORS:
        raise InvalidSettings(f"advantage={config.advantage}: OpenRLHF knows {', '.join(ESTIMATORS)}")
    builder.take("advantage", "training.gae_lambda")
    _give(builder, "estimator", ESTIMATORS[config.advantage])
    if config.advantage == "gae":
        _give(builder, "training.gae_lambda", config.training.gae_lambda or 0.95)
        _give(builder, "critic_lr", config.optimizer.lr * config.training.critic_lr_factor)
    if config.advantage not in ("gae", "reinforce") and config.sampling.samples_per_prompt < 2:
        raise InvalidSettings(f"advantage={config.advantage} compares responses to a prompt: take at least two")
    if config.filter.by == "mean":
        builder.take("filter.by")
        _give(builder, "filter")
        _give(builder, "filter_range", config.filter.low, config.filter.high)
    elif config.filter.by != "none":
        builder.refuse("filter.by", "OpenRLHF filters groups by their mean score")


def _loss(builder: CommandBuilder) -> None:
    loss, name = builder.loss, builder.config.loss.name
    if loss.surrogate != "clipped" or loss.ratio == "geometric" or loss.covariance is not None:
        raise InvalidSettings(f"loss.name={name}: OpenRLHF has the clipped losses only: ppo, grpo, dapo, gspo")
    _give(builder, "loss", "gspo" if loss.ratio == "sequence" else "ppo")
    _give(builder, "clip_range", loss.clip_low, loss.clip_high)
    if loss.dual_clip is not None:
        _give(builder, "loss.dual_clip", loss.dual_clip)
    if loss.average not in AVERAGES:
        builder.refuse("loss.average", f"loss.name={name} averages over a constant, and OpenRLHF over tokens")
    elif not _give(builder, "average", AVERAGES[loss.average]) and loss.average != "token":
        builder.refuse("loss.average", f"OpenRLHF {builder.definitions.version} averages over all tokens")


def _kl(builder: CommandBuilder) -> None:
    loss = builder.config.loss
    _give(builder, "kl_weight", loss.kl_beta)
    if not loss.kl_beta:
        return
    _give(builder, "kl_estimator", loss.kl_estimator)
    if loss.kl_in == "loss":
        _give(builder, "kl_in_loss")


def _optimizer(builder: CommandBuilder) -> None:
    config = builder.config
    _give(builder, "schedule", SCHEDULES[config.optimizer.schedule])
    _give(builder, "warmup_ratio", config.optimizer.warmup_steps / max(1, config.steps))
    if config.batch_size % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {config.batch_size} responses of a step")
    in_one_update = config.batch_size // config.training.minibatches
    _give(builder, "train_batch", in_one_update)
    pieces = config.training.gradient_accumulation * builder.machines.processes
    _give(builder, "micro_batch", max(1, in_one_update // pieces))
    if config.model.lora_targets:
        _give(builder, "lora_targets", *config.model.lora_targets)
    builder.take("model.dtype")
    if config.model.dtype != "bfloat16":
        builder.differ("model.dtype=float32: OpenRLHF computes in bfloat16")
    _give(builder, "dtype", "bf16")


def _reports(builder: CommandBuilder) -> None:
    config, launch_files = builder.config, builder.launch_files
    if launch_files.held_out is not None:
        _give(builder, "data.eval_path", launch_files.held_out)
        _give(builder, "eval_samples", config.eval.samples_per_prompt)
        _give(builder, "eval.temperature", config.eval.temperature)
        _give(builder, "eval_every", config.eval.every or -1)
    _give(builder, "save_every", config.checkpoint.every or -1)
    if config.training.async_train:
        _give(builder, "training.max_staleness", config.training.max_staleness)
    if config.logging.wandb:
        _give(builder, "wandb", "$WANDB_API_KEY")
    if config.logging.tensorboard:
        _give(builder, "tensorboard", f"{launch_files.folder}/tensorboard")


def _machines(builder: CommandBuilder) -> None:
    """One common layout: all models share all GPUs; asynchronously, half of them generate."""
    machines = builder.machines
    generating = max(1, machines.gpus // 2) if builder.config.training.async_train else machines.gpus
    training = max(1, machines.gpus - generating) if builder.config.training.async_train else machines.gpus
    layout: list[tuple[tuple[str, ...], tuple[object, ...]]] = [
        (("vllm_num_engines", "vllm.num_engines"), (generating * machines.nodes,)),
        (("vllm_tensor_parallel_size", "vllm.tensor_parallel_size"), (1,)),
        (("colocate_all_models", "train.colocate_all"), ()),
    ]
    for model in ("actor", "ref", "critic") if builder.config.advantage == "gae" else ("actor", "ref"):
        layout.append(((f"{model}_num_nodes", f"{model}.num_nodes"), (machines.nodes,)))
        layout.append(((f"{model}_num_gpus_per_node", f"{model}.num_gpus_per_node"), (training,)))
    if not builder.config.training.async_train:
        layout.append((("vllm_enable_sleep", "vllm.enable_sleep"), ()))
        layout.append((("deepspeed_enable_sleep", "ds.enable_sleep"), ()))
        layout.append((("vllm_gpu_memory_utilization", "vllm.gpu_memory_utilization"), (0.5,)))
    for names, values in layout:
        name = _name(builder, names)
        if name is not None:
            builder.give(name, *values)
