"""A config as settings of verl's `main_ppo`."""

from plaudit.errors import InvalidSettings
from plaudit.launching.command_builder import CommandBuilder

__all__ = ["PROGRAM", "build_command"]

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


def build_command(builder: CommandBuilder) -> None:
    """Write the config as verl's settings."""
    builder.take(*TAKEN)
    builder.give_keys(SAME)
    _data(builder)
    _estimator(builder)
    _loss(builder)
    _kl(builder)
    _optimizer(builder)
    _trainer(builder)


def _data(builder: CommandBuilder) -> None:
    config, launch_files = builder.config, builder.launch_files
    if config.training.agent_file is not None:
        raise InvalidSettings("training.agent_file: verl's agents are written otherwise; launch it with openrlhf")
    if launch_files.is_server:
        raise InvalidSettings(
            f"training.reward_function={launch_files.reward}: verl takes a file, not the address of a server"
        )
    builder.give("data.train_files", launch_files.train)
    builder.give("data.val_files", launch_files.held_out or launch_files.train)
    if launch_files.held_out is None:
        builder.differ("nothing is held out, so verl validates on the prompts that it trains on")
    builder.give("data.prompt_key", "prompt")
    builder.give("data.max_prompt_length", config.data.max_prompt_tokens or PROMPT_TOKENS)
    builder.give("data.max_response_length", launch_files.max_new_tokens)
    builder.give("reward.custom_reward_function.path", launch_files.reward)
    builder.give("reward.custom_reward_function.name", "compute_score")
    if not launch_files.is_chat:
        builder.differ("prompts are texts: verl puts each through the model's chat template, as a user's message")
    if launch_files.count is None:
        builder.differ(
            f"data.path={config.data.path} is not here: it must be Parquet with verl's columns "
            "(prompt, data_source, reward_model.ground_truth)"
        )


def _estimator(builder: CommandBuilder) -> None:
    config = builder.config
    if config.advantage not in ESTIMATORS:
        raise InvalidSettings(f"advantage={config.advantage}: verl knows {', '.join(ESTIMATORS)}")
    for name, value in ESTIMATORS[config.advantage].items():
        builder.give(f"algorithm.{name}", value)
    if config.advantage in ("reinforce", "reinforce_baseline"):
        builder.differ(f"advantage={config.advantage}: verl's is REINFORCE++, which whitens over the batch")
    if config.advantage == "gae":
        builder.give("algorithm.lam", config.training.gae_lambda or 0.95)
        builder.give("critic.optim.lr", config.optimizer.lr * config.training.critic_lr_factor)
        builder.give("critic.model.path", config.model.path)
    if config.filter.by == "spread" and not config.filter.min_spread:
        builder.take("filter.by")
        builder.give("algorithm.filter_groups.enable", True)
        builder.give("algorithm.filter_groups.metric", "reward")
        builder.give("algorithm.filter_groups.max_num_gen_batches", config.filter.max_refills + 1)
        builder.take("filter.max_refills")
    elif config.filter.by != "none":
        builder.refuse("filter.by", "verl leaves out groups whose rewards are all the same (filter.by=spread)")


def _loss(builder: CommandBuilder) -> None:
    loss, name = builder.loss, builder.config.loss.name
    if name == "reinforce":
        builder.refuse("loss.name", "verl's nearest is the clipped loss, which is the same while a batch is used once")
    builder.give(f"{ACTOR}.policy_loss.loss_mode", LOSSES.get(name, "vanilla"))
    builder.give(f"{ACTOR}.clip_ratio_low", loss.clip_low)
    builder.give(f"{ACTOR}.clip_ratio_high", loss.clip_high)
    if loss.dual_clip is not None:
        builder.give(f"{ACTOR}.clip_ratio_c", loss.dual_clip)
    elif loss.surrogate == "clipped":
        builder.give(f"{ACTOR}.clip_ratio_c", 1000.0)
        builder.differ("loss.dual_clip is off: verl always has one, and a bound of 1000 is as good as none")
    builder.give(f"{ACTOR}.loss_agg_mode", AVERAGES[loss.average])


def _kl(builder: CommandBuilder) -> None:
    loss = builder.config.loss
    in_loss = bool(loss.kl_beta) and loss.kl_in == "loss"
    in_reward = bool(loss.kl_beta) and loss.kl_in == "reward"
    builder.give(f"{ACTOR}.use_kl_loss", in_loss)
    builder.give("algorithm.use_kl_in_reward", in_reward)
    if in_loss:
        builder.give(f"{ACTOR}.kl_loss_coef", loss.kl_beta)
        builder.give(f"{ACTOR}.kl_loss_type", KL_TYPES[loss.kl_estimator])
        if loss.kl_target is not None:
            builder.refuse("loss.kl_target", "verl moves the weight of a KL in the reward only")
    if in_reward:
        builder.give("algorithm.kl_penalty", KL_TYPES[loss.kl_estimator])
        builder.give("algorithm.kl_ctrl.kl_coef", loss.kl_beta)
        if loss.kl_target is not None:
            builder.give("algorithm.kl_ctrl.type", "adaptive")
            builder.give("algorithm.kl_ctrl.target_kl", loss.kl_target)
            builder.give("algorithm.kl_ctrl.horizon", loss.kl_horizon)


def _optimizer(builder: CommandBuilder) -> None:
    config = builder.config
    if config.optimizer.schedule in SCHEDULES:
        builder.give(f"{ACTOR}.optim.lr_scheduler_type", SCHEDULES[config.optimizer.schedule])
    else:
        builder.refuse("optimizer.schedule", "verl has constant and cosine; it is left constant")
    builder.give(f"{ACTOR}.optim.lr_warmup_steps", config.optimizer.warmup_steps)
    prompts = config.sampling.prompts_per_step
    if prompts % config.training.minibatches:
        raise InvalidSettings(f"training.minibatches does not divide the {prompts} prompts of a step, as verl wants it")
    builder.give(f"{ACTOR}.ppo_mini_batch_size", prompts // config.training.minibatches)
    in_one_update = config.batch_size // config.training.minibatches
    micro = max(1, in_one_update // (config.training.gradient_accumulation * builder.machines.processes))
    builder.give(f"{ACTOR}.ppo_micro_batch_size_per_gpu", micro)
    builder.give(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", micro)
    builder.give("actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", micro)
    if config.advantage == "gae":
        builder.give("critic.ppo_micro_batch_size_per_gpu", micro)
    if config.model.lora_targets:
        builder.give("actor_rollout_ref.model.target_modules", list(config.model.lora_targets))
    if config.model.dtype != "bfloat16":
        builder.differ("model.dtype=float32: verl computes in bfloat16 over weights in float32")


def _trainer(builder: CommandBuilder) -> None:
    config, machines = builder.config, builder.machines
    builder.give(f"{ROLLOUT}.name", "vllm")
    builder.give(f"{ROLLOUT}.tensor_model_parallel_size", 1)
    builder.give(f"{ROLLOUT}.top_k", config.sampling.top_k or -1)
    builder.give(f"{ROLLOUT}.val_kwargs.do_sample", True)
    builder.give("trainer.nnodes", machines.nodes)
    builder.give("trainer.n_gpus_per_node", machines.gpus)
    builder.give("trainer.default_local_dir", f"{builder.launch_files.folder}/checkpoints")
    builder.give("trainer.experiment_name", config.logging.name or "plaudit")
    builder.give("trainer.save_freq", config.checkpoint.every or -1)
    builder.give("trainer.test_freq", config.eval.every or -1)
    wanted = {"wandb": config.logging.wandb, "tensorboard": config.logging.tensorboard}
    builder.give("trainer.logger", ["console", *(name for name, on in wanted.items() if on)])
