"""The keys of a config as flags of OpenRLHF's training command (0.10 and later)."""

import math
from collections.abc import Mapping
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.launching.launch_files import (
    FILES,
    PROMPT_TOKENS,
    Arguments,
    LaunchContext,
    TrainerTable,
    note_data_elsewhere,
    one_flag,
    write_switch,
)
from plaudit.launching.openrlhf_flags import ALIASES
from plaudit.training.config.schema import RunConfig

__all__ = ["TABLE"]

COMPUTED = (
    *FILES, "steps", "training.minibatches", "training.gradient_accumulation", "training.gae_lambda",
    "training.critic_lr_factor", "training.max_staleness", "loss.kl_beta", "loss.kl_in", "loss.kl_estimator",
    "loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.average", "loss.ratio", "loss.surrogate",
    "filter.low", "filter.high", "model.lora_alpha", "model.lora_targets", "eval.samples_per_prompt",
    "eval.temperature", "checkpoint.every", "optimizer.warmup_steps", "loss.entropy_bonus",
    "logging.project",
)  # fmt: skip
AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean"}


def _compute(context: LaunchContext) -> Arguments:
    config, files, loss = context.config, context.files, context.config.loss
    if config.batch_size % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {config.batch_size} responses of a step")
    if files.has_columns:
        context.notes.append("a reward file of OpenRLHF gets prompt, response and label, and no other columns")
    note_data_elsewhere(context, "OpenRLHF reads it as it is, without templates or a split")
    if loss.average not in AVERAGES:
        context.notes.append(f"loss.name={config.loss.name} averages over a constant; OpenRLHF averages over tokens")
    uses_critic, logs_wandb = config.advantage == "gae", config.logging.wandb
    return {
        "ckpt.output_dir": f"{files.folder}/model",
        "data.prompt_dataset": files.train,
        "data.input_key": files.prompt_key,
        "data.label_key": files.label_key,
        "reward.remote_url": files.reward,
        "data.apply_chat_template": files.is_chat,
        "rollout.max_new_tokens": files.max_new_tokens,
        "data.max_len": (config.data.max_prompt_tokens or PROMPT_TOKENS) + files.max_new_tokens,
        **_length(context),
        "algo.advantage.lambd": (config.training.gae_lambda or 0.95) if uses_critic else None,
        "critic.adam.lr": config.optimizer.lr * config.training.critic_lr_factor if uses_critic else None,
        "actor.eps_clip_low_high": [loss.clip_low, loss.clip_high],
        "actor.dual_clip": loss.dual_clip,
        "actor.loss_agg_mode": AVERAGES.get(loss.average),
        "actor.entropy_coef": loss.entropy_bonus or None,  # 0 would turn its computation on
        **_kl(config),
        "algo.dynamic_filtering_range": [config.filter.low, config.filter.high] if config.filter.by == "mean" else None,
        "actor.lr_warmup_ratio": config.optimizer.warmup_steps / max(1, config.steps),
        "train.batch_size": config.batch_size // config.training.minibatches,
        "train.micro_batch_size": context.micro_batch,
        "ds.param_dtype": "bf16",
        "ds.lora.alpha": round(config.model.lora_alpha) if config.model.lora_rank else None,
        "ds.lora.target_modules": list(config.model.lora_targets) or None,
        "train.async_queue_size": config.training.max_staleness if config.training.async_train else None,
        **_evaluation(context),
        "ckpt.save_steps": config.checkpoint.every or -1,
        "logger.wandb.key": "$WANDB_API_KEY" if logs_wandb else None,
        "logger.wandb.project": config.logging.project if logs_wandb else None,
        "logger.wandb.run_name": config.logging.name if logs_wandb else None,
        "logger.tensorboard_dir": f"{files.folder}/tensorboard" if config.logging.tensorboard else None,
        **_machines(context),
    }


def _length(context: LaunchContext) -> Arguments:
    """OpenRLHF counts passes over the prompts, not steps."""
    config, count = context.config, context.files.count
    wanted = config.steps * config.sampling.prompts_per_step
    if not wanted:
        raise InvalidSettings("steps=0 only evaluates, which OpenRLHF cannot do")
    if count is None or count >= wanted:
        return {"data.max_samples": wanted, "train.num_episodes": 1}
    episodes = math.ceil(wanted / count)
    steps = count // config.sampling.prompts_per_step * episodes
    if steps != config.steps:
        context.notes.append(f"steps={config.steps}: {episodes} passes over {count} prompts make {steps} steps")
    return {"train.num_episodes": episodes}


def _kl(config: RunConfig) -> Arguments:
    loss = config.loss
    if not loss.kl_beta:
        return {"algo.kl.init_coef": 0.0}
    return {
        "algo.kl.init_coef": loss.kl_beta,
        "algo.kl.estimator": loss.kl_estimator,
        "algo.kl.use_loss": loss.kl_in == "loss",
    }


def _evaluation(context: LaunchContext) -> Arguments:
    if context.files.held_out is None:
        return {}
    evaluation = context.config.eval
    return {
        "eval.dataset": context.files.held_out,
        "eval.n_samples_per_prompt": evaluation.samples_per_prompt,
        "eval.temperature": evaluation.temperature,
        "eval.steps": evaluation.every or -1,
    }


def _machines(context: LaunchContext) -> Arguments:
    """All models share all GPUs; in asynchronous training, half of the GPUs generate."""
    machines, is_async = context.machines, context.config.training.async_train
    generating = max(1, machines.gpus // 2) if is_async else machines.gpus
    training = max(1, machines.gpus - generating) if is_async else machines.gpus
    models = ("actor", "ref", "critic") if context.config.advantage == "gae" else ("actor", "ref")
    return {
        "vllm.num_engines": generating * machines.nodes,
        "vllm.tensor_parallel_size": 1,
        "train.colocate_all": True,
        **{f"{model}.num_nodes": machines.nodes for model in models},
        **{f"{model}.num_gpus_per_node": training for model in models},
        "vllm.enable_sleep": not is_async,
        "ds.enable_sleep": not is_async,
        "vllm.gpu_memory_utilization": None if is_async else 0.5,
    }


def _choices() -> dict[str, Mapping[Any, Arguments]]:
    estimators = {name: name for name in ("gae", "reinforce", "rloo", "reinforce_baseline", "group_norm", "dr_grpo")}
    losses = {"ppo": "ppo", "grpo": "ppo", "dapo": "ppo", "dr_grpo": "ppo", "gspo": "gspo"}
    schedules = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
    return {
        "advantage": one_flag("algo.advantage.estimator", {"grpo": "group_norm", **estimators}),
        "loss.name": one_flag("actor.policy_loss_type", losses),
        "optimizer.schedule": one_flag("actor.lr_scheduler", schedules),
        "filter.by": {"none": {}, "mean": {"algo.dynamic_filtering_enable": True}},
    }


TABLE = TrainerTable(
    program=lambda _: ("python3", "-m", "openrlhf.cli.train_ppo_ray"),
    renamed={key: names[-1] for key, names in ALIASES.items() if key not in COMPUTED},
    choices=_choices(),
    compute=_compute,
    computed_from=frozenset(COMPUTED),
    write=write_switch,
)
