"""The key tables of OpenRLHF (0.10 and later), TRL's GRPO script and verl's `main_ppo`."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.launching.launch import (
    FILES,
    Arguments,
    Launch,
    LaunchContext,
    Machines,
    TrainerTable,
    as_text,
    plan,
    row_of_lines,
    verl_row,
    write_flag,
    write_lines,
    write_parquet,
    write_switch,
)  # fmt: skip
from plaudit.launching.openrlhf_flags import ALIASES
from plaudit.settings import check_choice
from plaudit.training.config.schema import RunConfig
from plaudit.training.config.trl_arguments import ARGUMENTS, REQUIRED, Shape, optimizer_steps, trl_arguments

PROMPT_TOKENS = 1024


def _one_flag(flag: str, values: Mapping[str, str] | Sequence[str]) -> dict[Any, Arguments]:
    named = values if isinstance(values, Mapping) else dict(zip(values, values, strict=True))
    return {value: {flag: theirs} for value, theirs in named.items()}


OPENRLHF_COMPUTED = (
    *FILES, "steps", "training.minibatches", "training.gradient_accumulation", "training.gae_lambda",
    "training.critic_lr_factor", "training.max_staleness", "loss.kl_beta", "loss.kl_in", "loss.kl_estimator",
    "loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.average", "loss.ratio", "loss.surrogate",
    "filter.low", "filter.high", "model.lora_alpha", "model.lora_targets", "eval.samples_per_prompt",
    "eval.temperature", "checkpoint.every", "optimizer.warmup_steps", "loss.entropy_bonus",
    "logging.project",
)  # fmt: skip
OPENRLHF_AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean"}


def _openrlhf_arguments(context: LaunchContext) -> Arguments:
    config, files, loss = context.config, context.files, context.config.loss
    if config.batch_size % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {config.batch_size} responses of a step")
    if files.has_columns:
        context.notes.append("a reward file of OpenRLHF gets prompt, response and label, and no other columns")
    if loss.average not in OPENRLHF_AVERAGES:
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
        "actor.loss_agg_mode": OPENRLHF_AVERAGES.get(loss.average),
        "actor.entropy_coef": loss.entropy_bonus or None,  # 0 would switch on the computation of the entropy
        "algo.kl.init_coef": loss.kl_beta,
        "algo.kl.estimator": loss.kl_estimator if loss.kl_beta else None,
        "algo.kl.use_loss": loss.kl_in == "loss" if loss.kl_beta else None,
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
        "train.colocate_all": True,
        **{f"{model}.num_nodes": machines.nodes for model in models},
        **{f"{model}.num_gpus_per_node": training for model in models},
        "vllm.enable_sleep": not is_async,
        "ds.enable_sleep": not is_async,
        "vllm.gpu_memory_utilization": None if is_async else 0.5,
    }


OPENRLHF_CHOICES: dict[str, Mapping[Any, Arguments]] = {
    "advantage": {
        "grpo": {"algo.advantage.estimator": "group_norm"},
        **_one_flag(
            "algo.advantage.estimator", ("gae", "reinforce", "rloo", "reinforce_baseline", "group_norm", "dr_grpo")
        ),
    },
    "loss.name": _one_flag(
        "actor.policy_loss_type", {"gspo": "gspo", **dict.fromkeys(("ppo", "grpo", "dapo", "dr_grpo"), "ppo")}
    ),
    "optimizer.schedule": _one_flag(
        "actor.lr_scheduler", {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
    ),
    "filter.by": {"none": {}, "mean": {"algo.dynamic_filtering_enable": True}},
}


ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
VERL_RENAMED = {
    "model.path": "actor_rollout_ref.model.path",
    "model.lora_rank": "actor_rollout_ref.model.lora_rank",
    "model.lora_alpha": "actor_rollout_ref.model.lora_alpha",
    "model.gradient_checkpointing": "actor_rollout_ref.model.enable_gradient_checkpointing",
    "data.shuffle": "data.shuffle",
    "seed": "data.seed",
    "steps": "trainer.total_training_steps",
    "sampling.prompts_per_step": "data.train_batch_size",
    "sampling.samples_per_prompt": f"{ROLLOUT}.n",
    "sampling.temperature": f"{ROLLOUT}.temperature",
    "sampling.top_p": f"{ROLLOUT}.top_p",
    "loss.entropy_bonus": f"{ACTOR}.entropy_coeff",
    "optimizer.lr": f"{ACTOR}.optim.lr",
    "optimizer.betas": f"{ACTOR}.optim.betas",
    "optimizer.weight_decay": f"{ACTOR}.optim.weight_decay",
    "optimizer.warmup_steps": f"{ACTOR}.optim.lr_warmup_steps",
    "optimizer.max_grad_norm": f"{ACTOR}.grad_clip",
    "training.updates_per_batch": f"{ACTOR}.ppo_epochs",
    "training.gamma": "algorithm.gamma",
    "eval.samples_per_prompt": f"{ROLLOUT}.val_kwargs.n",
    "eval.temperature": f"{ROLLOUT}.val_kwargs.temperature",
    "checkpoint.keep": "trainer.max_actor_ckpt_to_keep",
    "logging.project": "trainer.project_name",
}
VERL_COMPUTED = (
    *FILES, "sampling.top_k", "loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.average", "loss.ratio",
    "loss.surrogate", "loss.kl_beta", "loss.kl_in", "loss.kl_estimator",
    "training.minibatches", "training.gradient_accumulation", "training.gae_lambda", "training.critic_lr_factor",
    "model.lora_targets", "checkpoint.every", "filter.max_refills",
)  # fmt: skip
VERL_AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}
KL_TYPES = {"k1": "kl", "k2": "mse", "k3": "low_var_kl"}
NO_DUAL_CLIP = 1000.0  # verl always has one


def _verl_arguments(context: LaunchContext) -> Arguments:
    config, files, loss = context.config, context.files, context.config.loss
    prompts = config.sampling.prompts_per_step
    if prompts % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {prompts} prompts of a step, as verl needs")
    if files.held_out is None:
        context.notes.append("no prompts are held out, so verl validates on the training prompts")
    if not files.is_chat:
        context.notes.append("prompts are plain text: verl puts each into the model's chat template as a user message")
    loggers = [name for name in ("wandb", "tensorboard") if getattr(config.logging, name)]
    uses_critic = config.advantage == "gae"
    return {
        "data.train_files": files.train,
        "data.val_files": files.held_out or files.train,
        "data.prompt_key": "prompt",
        "data.max_prompt_length": config.data.max_prompt_tokens or PROMPT_TOKENS,
        "data.max_response_length": files.max_new_tokens,
        "reward.custom_reward_function.path": files.reward,
        "reward.custom_reward_function.name": "compute_score",
        "algorithm.lam": (config.training.gae_lambda or 0.95) if uses_critic else None,
        "critic.optim.lr": config.optimizer.lr * config.training.critic_lr_factor if uses_critic else None,
        "critic.model.path": config.model.path if uses_critic else None,
        "critic.ppo_micro_batch_size_per_gpu": context.micro_batch if uses_critic else None,
        f"{ACTOR}.clip_ratio_low": loss.clip_low,
        f"{ACTOR}.clip_ratio_high": loss.clip_high,
        f"{ACTOR}.clip_ratio_c": loss.dual_clip or (NO_DUAL_CLIP if loss.surrogate == "clipped" else None),
        f"{ACTOR}.loss_agg_mode": VERL_AVERAGES[loss.average],
        **_verl_kl(config),
        f"{ACTOR}.ppo_mini_batch_size": prompts // config.training.minibatches,
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": context.micro_batch,
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": context.micro_batch,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": context.micro_batch,
        "actor_rollout_ref.model.target_modules": list(config.model.lora_targets) or None,
        f"{ROLLOUT}.name": "vllm",
        f"{ROLLOUT}.tensor_model_parallel_size": 1,
        f"{ROLLOUT}.top_k": config.sampling.top_k or -1,
        f"{ROLLOUT}.val_kwargs.do_sample": True,
        "trainer.nnodes": context.machines.nodes,
        "trainer.n_gpus_per_node": context.machines.gpus,
        "trainer.default_local_dir": f"{files.folder}/checkpoints",
        "trainer.experiment_name": config.logging.name or "plaudit",
        "trainer.save_freq": config.checkpoint.every or -1,
        "trainer.test_freq": config.eval.every or -1,
        "trainer.logger": ["console", *loggers],
    }


def _verl_kl(config: RunConfig) -> Arguments:
    loss = config.loss
    in_reward = bool(loss.kl_beta) and loss.kl_in == "reward"
    in_loss = bool(loss.kl_beta) and not in_reward
    arguments: Arguments = {f"{ACTOR}.use_kl_loss": in_loss, "algorithm.use_kl_in_reward": in_reward}
    if in_loss:
        arguments[f"{ACTOR}.kl_loss_coef"] = loss.kl_beta
        arguments[f"{ACTOR}.kl_loss_type"] = KL_TYPES[loss.kl_estimator]
    if in_reward:
        arguments["algorithm.kl_penalty"] = KL_TYPES[loss.kl_estimator]
        arguments["algorithm.kl_ctrl.kl_coef"] = loss.kl_beta
    return arguments


VERL_CHOICES: dict[str, Mapping[Any, Arguments]] = {
    "advantage": {
        **_one_flag("algorithm.adv_estimator", ("rloo", "opo", "gae", "gdpo")),
        "reinforce": {"algorithm.adv_estimator": "reinforce_plus_plus"},
        "reinforce_baseline": {"algorithm.adv_estimator": "reinforce_plus_plus_baseline"},
        **{
            name: {"algorithm.adv_estimator": "grpo", "algorithm.norm_adv_by_std_in_grpo": name != "dr_grpo"}
            for name in ("grpo", "group_norm", "dr_grpo")
        },
    },
    "loss.name": {
        **_one_flag(f"{ACTOR}.policy_loss.loss_mode", ("gspo", "cispo", "sapo")),
        **_one_flag(f"{ACTOR}.policy_loss.loss_mode", dict.fromkeys(("grpo", "dapo", "dr_grpo", "ppo"), "vanilla")),
        "gmpo": {f"{ACTOR}.policy_loss.loss_mode": "geo_mean"},
    },
    "optimizer.schedule": _one_flag(f"{ACTOR}.optim.lr_scheduler_type", ("cosine", "constant")),
    "filter.by": {
        "none": {},
        "spread": {"algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "reward"},
    },
    "data.too_long": {
        "refuse": {"data.filter_overlong_prompts": False},
        "skip": {"data.filter_overlong_prompts": True},
    },
}


NOT_FOR_A_COMMAND = {
    "report_to", "disable_tqdm", "logging_nan_inf_filter", "shuffle_dataset", "ddp_find_unused_parameters",
}  # fmt: skip
"""Arguments that only make sense where plaudit itself drives TRL."""


def _trl_arguments(context: LaunchContext) -> Arguments:
    config, files = context.config, context.files
    arguments = trl_arguments(config, Shape(context.machines.processes, files.max_new_tokens))
    loggers = [name for name in ("wandb", "tensorboard") if getattr(config.logging, name)]
    lora = config.model.lora_rank > 0
    evaluates = files.held_out is not None and config.eval.every
    return {
        **{name: value for name, value in arguments.items() if name not in NOT_FOR_A_COMMAND},
        "model_name_or_path": config.model.path,
        "output_dir": f"{files.folder}/model",
        "dataset_name": f"{files.folder}/data" if files.count is not None else files.train,
        "reward_funcs": "plaudit_reward.reward",
        "shuffle_dataset": config.data.shuffle,
        "use_peft": True if lora else None,
        "lora_r": config.model.lora_rank if lora else None,
        "lora_alpha": round(config.model.lora_alpha) if lora else None,
        "lora_target_modules": list(config.model.lora_targets) if lora and config.model.lora_targets else None,
        "eval_strategy": "steps" if evaluates else None,
        "eval_steps": config.eval.every * optimizer_steps(config) if evaluates else None,
        "report_to": loggers or ["none"],
        "run_name": config.logging.name,
        "project": config.logging.project if config.logging.project != "plaudit" else None,
    }


def _trl_program(context: LaunchContext) -> list[str]:
    machines = context.machines
    processes = ["--num_processes", str(machines.processes)] if machines.processes > 1 else []
    nodes = ["--num_machines", str(machines.nodes)] if machines.nodes > 1 else []
    return ["env", f"PYTHONPATH={context.files.folder}", "trl", "grpo", *processes, *nodes]


TRL_COMPUTED = (
    *FILES, *ARGUMENTS, *REQUIRED, "model.path", "model.lora_rank", "model.lora_alpha", "model.lora_targets",
    "eval.samples_per_prompt", "logging.project", "data.shuffle",
)  # fmt: skip


TABLES = {
    "openrlhf": TrainerTable(
        name="openrlhf",
        program=lambda _: ("python3", "-m", "openrlhf.cli.train_ppo_ray"),
        renamed={key: names[-1] for key, names in ALIASES.items() if key not in OPENRLHF_COMPUTED},
        choices=OPENRLHF_CHOICES,
        compute=_openrlhf_arguments,
        computed_from=frozenset(OPENRLHF_COMPUTED),
        write=write_switch,
        data="OpenRLHF reads it as it is, without templates or a split",
        ending=".jsonl",
        row=row_of_lines,
        write_rows=write_lines,
        takes_agents=True,
    ),
    "verl": TrainerTable(
        name="verl",
        program=lambda _: ("python3", "-m", "verl.trainer.main_ppo"),
        renamed=VERL_RENAMED,
        choices=VERL_CHOICES,
        compute=_verl_arguments,
        computed_from=frozenset(VERL_COMPUTED),
        write=lambda name, value: [f"{name}={as_text(value)}"],
        data="it must be Parquet with the columns prompt, data_source, reward_model.ground_truth",
        ending=".parquet",
        row=verl_row,
        write_rows=write_parquet,
    ),
    "trl": TrainerTable(
        name="trl",
        program=_trl_program,
        renamed={},
        choices={},
        compute=_trl_arguments,
        computed_from=frozenset(TRL_COMPUTED),
        write=write_flag,
        data="it must have the columns prompt and ground_truth",
        ending=".jsonl",
        row=lambda row, _, is_chat: row_of_lines(row, "ground_truth", is_chat),  # the name that exported rewards read
        write_rows=write_lines,
    ),
}
"""Every trainer and its key table."""


def plan_launch(
    config: RunConfig,
    trainer: str,
    folder: str | Path,
    *,
    machines: Machines | None = None,
    extra: Sequence[str] = (),
) -> Launch:
    """The command for a config; writes the reward file and the data that it needs to `folder`.

    `extra` are arguments of the trainer itself; they are added as written and replace ours of the same name.
    """
    check_choice("trainer", trainer, TABLES)
    if machines is None and trainer == "trl" and config.model.device == "cpu":
        machines = Machines(gpus=1)
    return plan(config, TABLES[trainer], Path(folder), machines, extra)
