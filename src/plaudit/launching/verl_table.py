"""The keys of a config as settings of verl's `main_ppo`."""

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
    refuse_agents_and_servers,
    write_setting,
)
from plaudit.training.config.schema import RunConfig

__all__ = ["TABLE"]

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
RENAMED = {
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
COMPUTED = (
    *FILES, "sampling.top_k", "loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.average", "loss.ratio",
    "loss.surrogate", "loss.kl_beta", "loss.kl_in", "loss.kl_estimator",
    "training.minibatches", "training.gradient_accumulation", "training.gae_lambda", "training.critic_lr_factor",
    "model.lora_targets", "checkpoint.every", "filter.max_refills",
)  # fmt: skip
ESTIMATORS = {
    **{name: name for name in ("rloo", "opo", "gae", "gdpo")},
    "reinforce": "reinforce_plus_plus",
    "reinforce_baseline": "reinforce_plus_plus_baseline",
}
GROUPED = {"grpo": True, "group_norm": True, "dr_grpo": False}
LOSSES = {
    **dict.fromkeys(("grpo", "dapo", "dr_grpo", "ppo"), "vanilla"),
    **{name: name for name in ("gspo", "cispo", "sapo")},
    "gmpo": "geo_mean",
}
AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}
KL_TYPES = {"k1": "kl", "k2": "mse", "k3": "low_var_kl"}
NO_DUAL_CLIP = 1000.0  # verl always has one


def _compute(context: LaunchContext) -> Arguments:
    config, files, loss = context.config, context.files, context.config.loss
    refuse_agents_and_servers(context, "verl")
    prompts = config.sampling.prompts_per_step
    if prompts % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {prompts} prompts of a step, as verl needs")
    if files.held_out is None:
        context.notes.append("no prompts are held out, so verl validates on the training prompts")
    if not files.is_chat:
        context.notes.append("prompts are plain text: verl puts each into the model's chat template as a user message")
    note_data_elsewhere(context, "it must be Parquet with the columns prompt, data_source, reward_model.ground_truth")
    loggers = {"wandb": config.logging.wandb, "tensorboard": config.logging.tensorboard}
    return {
        "data.train_files": files.train,
        "data.val_files": files.held_out or files.train,
        "data.prompt_key": "prompt",
        "data.max_prompt_length": config.data.max_prompt_tokens or PROMPT_TOKENS,
        "data.max_response_length": files.max_new_tokens,
        "reward.custom_reward_function.path": files.reward,
        "reward.custom_reward_function.name": "compute_score",
        **_critic(context),
        f"{ACTOR}.clip_ratio_low": loss.clip_low,
        f"{ACTOR}.clip_ratio_high": loss.clip_high,
        f"{ACTOR}.clip_ratio_c": loss.dual_clip or (NO_DUAL_CLIP if loss.surrogate == "clipped" else None),
        f"{ACTOR}.loss_agg_mode": AVERAGES[loss.average],
        **_kl(config),
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
        "trainer.logger": ["console", *(name for name, is_on in loggers.items() if is_on)],
    }


def _critic(context: LaunchContext) -> Arguments:
    config = context.config
    if config.advantage != "gae":
        return {}
    return {
        "algorithm.lam": config.training.gae_lambda or 0.95,
        "critic.optim.lr": config.optimizer.lr * config.training.critic_lr_factor,
        "critic.model.path": config.model.path,
        "critic.ppo_micro_batch_size_per_gpu": context.micro_batch,
    }


def _kl(config: RunConfig) -> Arguments:
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


def _choices() -> dict[str, Mapping[Any, Arguments]]:
    estimators: dict[Any, Arguments] = one_flag("algorithm.adv_estimator", ESTIMATORS)
    for name, by_std in GROUPED.items():
        estimators[name] = {"algorithm.adv_estimator": "grpo", "algorithm.norm_adv_by_std_in_grpo": by_std}
    filtered = {"algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "reward"}
    return {
        "advantage": estimators,
        "loss.name": one_flag(f"{ACTOR}.policy_loss.loss_mode", LOSSES),
        "optimizer.schedule": one_flag(
            f"{ACTOR}.optim.lr_scheduler_type", {"cosine": "cosine", "constant": "constant"}
        ),
        "filter.by": {"none": {}, "spread": filtered},
        "data.too_long": {
            "refuse": {"data.filter_overlong_prompts": False},
            "skip": {"data.filter_overlong_prompts": True},
        },
    }


TABLE = TrainerTable(
    program=lambda _: ("python3", "-m", "verl.trainer.main_ppo"),
    renamed=RENAMED,
    choices=_choices(),
    compute=_compute,
    computed_from=frozenset(COMPUTED),
    write=write_setting,
)
