"""A config as settings of verl's `main_ppo`."""

from plaudit.errors import InvalidSettings
from plaudit.launching.sheet import Sheet

__all__ = ["PROGRAM", "fill_sheet"]

PROGRAM = ("python3", "-m", "verl.trainer.main_ppo")
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"

SAME = {
    "model.path": "actor_rollout_ref.model.path",
    "model.lora_rank": "actor_rollout_ref.model.lora_rank",
    "model.lora_alpha": "actor_rollout_ref.model.lora_alpha",
    "model.gradient_checkpointing": "actor_rollout_ref.model.enable_gradient_checkpointing",
    "data.shuffle": "data.shuffle",
    "seed": "data.seed",
    "data.drop_long": "data.filter_overlong_prompts",
    "steps": "trainer.total_training_steps",
    "sampling.prompts_per_step": "data.train_batch_size",
    "sampling.samples_per_prompt": f"{ROLLOUT}.n",
    "sampling.temperature": f"{ROLLOUT}.temperature",
    "sampling.top_p": f"{ROLLOUT}.top_p",
    "loss.entropy_bonus": f"{ACTOR}.entropy_coeff",
    "optimizer.lr": f"{ACTOR}.optim.lr",
    "optimizer.betas": f"{ACTOR}.optim.betas",
    "optimizer.weight_decay": f"{ACTOR}.optim.weight_decay",
    "optimizer.max_grad_norm": f"{ACTOR}.grad_clip",
    "training.updates_per_batch": f"{ACTOR}.ppo_epochs",
    "training.gamma": "algorithm.gamma",
    "eval.samples_per_prompt": f"{ROLLOUT}.val_kwargs.n",
    "eval.temperature": f"{ROLLOUT}.val_kwargs.temperature",
    "checkpoint.keep": "trainer.max_actor_ckpt_to_keep",
    "logging.project": "trainer.project_name",
}
"""Keys that verl has under another name."""

ESTIMATORS: dict[str, dict[str, object]] = {
    "grpo": {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": True},
    "group_norm": {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": True},
    "dr_grpo": {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False},
    "rloo": {"adv_estimator": "rloo"},
    "opo": {"adv_estimator": "opo"},
    "remax": {"adv_estimator": "remax"},
    "gae": {"adv_estimator": "gae"},
    "gdpo": {"adv_estimator": "gdpo"},
    "reinforce": {"adv_estimator": "reinforce_plus_plus"},
    "reinforce_baseline": {"adv_estimator": "reinforce_plus_plus_baseline"},
}
LOSSES = {
    "gspo": "gspo",
    "cispo": "cispo",
    "gmpo": "geo_mean",
    "sapo": "sapo",
    "clip_cov": "clip_cov",
    "kl_cov": "kl_cov",
}
AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}
KL_TYPES = {"k1": "kl", "k2": "mse", "k3": "low_var_kl"}
SCHEDULES = {"cosine": "cosine", "constant": "constant"}
TAKEN = (
    "output_dir", "engine", "task", "model.device", "data.path", "data.eval_path", "data.eval_share", "data.prompt_key",
    "data.ground_truth_key", "data.split", "data.limit", "data.chat_template", "data.prompt_template",
    "data.system_prompt", "data.max_prompt_tokens", "training.reward_function", "training.reward_workers",
    "training.reward_deadline_s", "sampling.max_new_tokens", "sampling.top_k", "sampling.sampler", "loss.name",
    "loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.average", "loss.ratio", "loss.surrogate",
    "loss.kl_beta", "loss.kl_in", "loss.kl_estimator", "loss.kl_target", "loss.kl_horizon", "optimizer.schedule",
    "optimizer.warmup_steps", "training.minibatches", "training.gradient_accumulation", "training.gae_lambda",
    "training.critic_lr_factor", "model.dtype", "model.lora_targets", "eval.every", "eval.prompts", "eval.pass_at",
    "checkpoint.every", "logging.wandb", "logging.tensorboard", "logging.name", "advantage",
)  # fmt: skip
PROMPT_TOKENS = 1024


def fill_sheet(sheet: Sheet) -> None:
    """Write the config as verl's settings."""
    sheet.take(*TAKEN)
    sheet.give_keys(SAME)
    _data(sheet)
    _estimator(sheet)
    _loss(sheet)
    _kl(sheet)
    _optimizer(sheet)
    _trainer(sheet)


def _data(sheet: Sheet) -> None:
    config, launch_files = sheet.config, sheet.launch_files
    if config.training.agent_file is not None:
        raise InvalidSettings("training.agent_file: verl's agents are written otherwise; launch it with openrlhf")
    if launch_files.is_server:
        raise InvalidSettings(
            f"training.reward_function={launch_files.reward}: verl takes a file, not the address of a server"
        )
    sheet.give("data.train_files", launch_files.train)
    sheet.give("data.val_files", launch_files.held_out or launch_files.train)
    if launch_files.held_out is None:
        sheet.differ("nothing is held out, so verl validates on the prompts that it trains on")
    sheet.give("data.prompt_key", "prompt")
    sheet.give("data.max_prompt_length", config.data.max_prompt_tokens or PROMPT_TOKENS)
    sheet.give("data.max_response_length", launch_files.max_new_tokens)
    sheet.give("reward.custom_reward_function.path", launch_files.reward)
    sheet.give("reward.custom_reward_function.name", "compute_score")
    if not launch_files.is_chat:
        sheet.differ("prompts are texts: verl puts each through the model's chat template, as a user's message")
    if launch_files.count is None:
        sheet.differ(
            f"data.path={config.data.path} is not here: it must be Parquet with verl's columns "
            "(prompt, data_source, reward_model.ground_truth)"
        )


def _estimator(sheet: Sheet) -> None:
    config = sheet.config
    if config.advantage not in ESTIMATORS:
        raise InvalidSettings(f"advantage={config.advantage}: verl knows {', '.join(ESTIMATORS)}")
    for name, value in ESTIMATORS[config.advantage].items():
        sheet.give(f"algorithm.{name}", value)
    if config.advantage in ("reinforce", "reinforce_baseline"):
        sheet.differ(f"advantage={config.advantage}: verl's is REINFORCE++, which whitens over the batch")
    if config.advantage == "gae":
        sheet.give("algorithm.lam", config.training.gae_lambda or 0.95)
        sheet.give("critic.optim.lr", config.optimizer.lr * config.training.critic_lr_factor)
        sheet.give("critic.model.path", config.model.path)
    if config.filter.by == "spread" and not config.filter.min_spread:
        sheet.take("filter.by")
        sheet.give("algorithm.filter_groups.enable", True)
        sheet.give("algorithm.filter_groups.metric", "reward")
        sheet.give("algorithm.filter_groups.max_num_gen_batches", config.filter.max_refills + 1)
        sheet.take("filter.max_refills")
    elif config.filter.by != "none":
        sheet.refuse("filter.by", "verl leaves out groups whose rewards are all the same (filter.by=spread)")


def _loss(sheet: Sheet) -> None:
    loss, name = sheet.loss, sheet.config.loss.name
    if name == "reinforce":
        sheet.refuse("loss.name", "verl's nearest is the clipped loss, which is the same while a batch is used once")
    sheet.give(f"{ACTOR}.policy_loss.loss_mode", LOSSES.get(name, "vanilla"))
    sheet.give(f"{ACTOR}.clip_ratio_low", loss.clip_low)
    sheet.give(f"{ACTOR}.clip_ratio_high", loss.clip_high)
    if loss.dual_clip is not None:
        sheet.give(f"{ACTOR}.clip_ratio_c", loss.dual_clip)
    elif loss.surrogate == "clipped":
        sheet.give(f"{ACTOR}.clip_ratio_c", 1000.0)
        sheet.differ("loss.dual_clip is off: verl always has one, and a bound of 1000 is as good as none")
    sheet.give(f"{ACTOR}.loss_agg_mode", AVERAGES[loss.average])


def _kl(sheet: Sheet) -> None:
    loss = sheet.config.loss
    in_loss = bool(loss.kl_beta) and loss.kl_in == "loss"
    in_reward = bool(loss.kl_beta) and loss.kl_in == "reward"
    sheet.give(f"{ACTOR}.use_kl_loss", in_loss)
    sheet.give("algorithm.use_kl_in_reward", in_reward)
    if in_loss:
        sheet.give(f"{ACTOR}.kl_loss_coef", loss.kl_beta)
        sheet.give(f"{ACTOR}.kl_loss_type", KL_TYPES[loss.kl_estimator])
        if loss.kl_target is not None:
            sheet.refuse("loss.kl_target", "verl moves the weight of a KL in the reward only")
    if in_reward:
        sheet.give("algorithm.kl_penalty", KL_TYPES[loss.kl_estimator])
        sheet.give("algorithm.kl_ctrl.kl_coef", loss.kl_beta)
        if loss.kl_target is not None:
            sheet.give("algorithm.kl_ctrl.type", "adaptive")
            sheet.give("algorithm.kl_ctrl.target_kl", loss.kl_target)
            sheet.give("algorithm.kl_ctrl.horizon", loss.kl_horizon)


def _optimizer(sheet: Sheet) -> None:
    config = sheet.config
    if config.optimizer.schedule in SCHEDULES:
        sheet.give(f"{ACTOR}.optim.lr_scheduler_type", SCHEDULES[config.optimizer.schedule])
    else:
        sheet.refuse("optimizer.schedule", "verl has constant and cosine; it is left constant")
    sheet.give(f"{ACTOR}.optim.lr_warmup_steps", config.optimizer.warmup_steps)
    prompts = config.sampling.prompts_per_step
    if prompts % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {prompts} prompts of a step, as verl wants it")
    sheet.give(f"{ACTOR}.ppo_mini_batch_size", prompts // config.training.minibatches)
    in_one_update = config.batch_size // config.training.minibatches
    micro = max(1, in_one_update // (config.training.gradient_accumulation * sheet.machines.processes))
    sheet.give(f"{ACTOR}.ppo_micro_batch_size_per_gpu", micro)
    sheet.give(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", micro)
    sheet.give("actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", micro)
    if config.advantage == "gae":
        sheet.give("critic.ppo_micro_batch_size_per_gpu", micro)
    if config.model.lora_targets:
        sheet.give("actor_rollout_ref.model.target_modules", list(config.model.lora_targets))
    if config.model.dtype != "bfloat16":
        sheet.differ("model.dtype=float32: verl computes in bfloat16 over weights in float32")


def _trainer(sheet: Sheet) -> None:
    config, machines = sheet.config, sheet.machines
    sheet.give(f"{ROLLOUT}.name", "vllm")
    sheet.give(f"{ROLLOUT}.tensor_model_parallel_size", 1)
    sheet.give(f"{ROLLOUT}.top_k", config.sampling.top_k or -1)
    sheet.give(f"{ROLLOUT}.val_kwargs.do_sample", True)
    sheet.give("trainer.nnodes", machines.nodes)
    sheet.give("trainer.n_gpus_per_node", machines.gpus)
    sheet.give("trainer.default_local_dir", f"{sheet.launch_files.folder}/checkpoints")
    sheet.give("trainer.experiment_name", config.logging.name or "plaudit")
    sheet.give("trainer.save_freq", config.checkpoint.every or -1)
    sheet.give("trainer.test_freq", config.eval.every or -1)
    wanted = {"wandb": config.logging.wandb, "tensorboard": config.logging.tensorboard}
    sheet.give("trainer.logger", ["console", *(name for name, on in wanted.items() if on)])
