"""Every flag of OpenRLHF's training command, and what it is here: a key, part of a computation, or nothing.

OpenRLHF renamed all its flags in 0.10: `--label_key` became `--data.label_key`. A name stands here without its dashes,
the old one first. A test holds that every flag of the pinned versions is in exactly one table.
"""

from dataclasses import dataclass

__all__ = ["COMPUTED", "DEFAULTS", "ELSEWHERE", "REFUSED", "SAME", "Refusal", "find_flags"]

Names = tuple[str, ...]

SAME: dict[str, Names] = {
    "output_dir": ("save_path", "ckpt.output_dir"),
    "seed": ("seed", "train.seed"),
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
    "loss.dual_clip": ("dual_clip", "actor.dual_clip"),
    "loss.entropy_bonus": ("entropy_loss_coef", "actor.entropy_coef"),
    "loss.kl_target": ("kl_target", "algo.kl.target"),
    "loss.kl_horizon": ("kl_horizon", "algo.kl.horizon"),
    "loss.kl_correction": ("algo.kl.unbiased_gradient",),
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
"""Keys and the flags that mean the same."""

COMPUTED: dict[str, Names] = {
    "estimator": ("advantage_estimator", "algo.advantage.estimator"),
    "episodes": ("num_episodes", "train.num_episodes"),
    "train_batch": ("train_batch_size", "train.batch_size"),
    "micro_batch": ("micro_train_batch_size", "train.micro_batch_size"),
    "max_len": ("max_len", "data.max_len"),
    "input_template": ("input_template", "data.input_template"),
    "clip": ("eps_clip", "actor.eps_clip"),
    "clip_range": ("eps_clip_low_high", "actor.eps_clip_low_high"),
    "loss": ("policy_loss_type", "actor.policy_loss_type"),
    "average": ("actor.loss_agg_mode",),
    "kl_weight": ("init_kl_coef", "algo.kl.init_coef"),
    "kl_estimator": ("kl_estimator", "algo.kl.estimator"),
    "kl_in_loss": ("use_kl_loss", "algo.kl.use_loss"),
    "filter": ("dynamic_filtering", "algo.dynamic_filtering_enable"),
    "filter_range": ("dynamic_filtering_reward_range", "algo.dynamic_filtering_range"),
    "schedule": ("lr_scheduler", "actor.lr_scheduler"),
    "warmup_ratio": ("lr_warmup_ratio", "actor.lr_warmup_ratio"),
    "critic_lr": ("critic_learning_rate", "critic.adam.lr"),
    "bfloat16": ("bf16",),
    "dtype": ("param_dtype", "ds.param_dtype"),
    "lora_targets": ("target_modules", "ds.lora.target_modules"),
    "token_pieces": ("use_dynamic_batch", "train.dynamic_batch_enable"),
    "piece_tokens": ("train_max_tokens_per_gpu", "train.max_tokens_per_gpu"),
    "eval_samples": ("eval_n_samples_per_prompt", "eval.n_samples_per_prompt"),
    "eval_every": ("eval_steps", "eval.steps"),
    "save_every": ("save_steps", "ckpt.save_steps"),
    "resume": ("load_checkpoint", "ckpt.load_enable"),
    "wandb": ("use_wandb", "logger.wandb.key"),
    "wandb_org": ("wandb_org", "logger.wandb.org"),
    "wandb_group": ("wandb_group", "logger.wandb.group"),
    "tensorboard": ("use_tensorboard", "logger.tensorboard_dir"),
}
"""Flags that become keys together with others, or after some arithmetic; by what we call their value."""

_SHARDING = "plaudit trains in one process, or with engine=trl under torchrun or accelerate"
_VLLM = "sampling.sampler=vllm generates with vLLM, in this process"
_MEMORY = "it changes memory and speed, not what is learnt"
_FOLDER = "everything of a run is in output_dir"

ELSEWHERE: dict[str, Names] = {
    _SHARDING: (
        "actor_num_nodes", "actor_num_gpus_per_node", "critic_num_nodes", "critic_num_gpus_per_node", "ref_num_nodes",
        "ref_num_gpus_per_node", "reward_num_nodes", "reward_num_gpus_per_node", "colocate_actor_ref",
        "colocate_critic_reward", "colocate_all_models", "ref_reward_offload", "zero_stage", "zpg", "adam_offload",
        "overlap_comm", "deepcompile", "deepspeed_enable_sleep", "ds_tensor_parallel_size", "ring_attn_size",
        "ring_head_stride", "local_rank", "actor_init_on_gpu", "grad_accum_dtype", "use_ds_universal_ckpt",
        "actor.num_nodes", "actor.num_gpus_per_node", "critic.num_nodes", "critic.num_gpus_per_node", "ref.num_nodes",
        "ref.num_gpus_per_node", "reward.num_nodes", "reward.num_gpus_per_node", "train.colocate_actor_ref",
        "train.colocate_critic_reward", "train.colocate_all", "ref.offload", "reward.offload", "ds.zero_stage",
        "ds.zpg", "ds.adam_offload", "ds.overlap_comm", "ds.deepcompile", "ds.enable_sleep", "ds.tensor_parallel_size",
        "ds.ring_attn_size", "ds.ring_attn_head_stride", "ds.grad_accum_dtype", "ds.use_universal_ckpt",
        "ds.experts_implementation",
    ),
    _VLLM: (
        "vllm_num_engines", "vllm_tensor_parallel_size", "vllm_sync_backend", "vllm_sync_with_ray",
        "enable_prefix_caching", "enforce_eager", "vllm_enable_sleep", "vllm_gpu_memory_utilization",
        "vllm_generate_batch_size", "vllm.num_engines", "vllm.tensor_parallel_size", "vllm.sync_backend",
        "vllm.sync_with_ray", "vllm.enable_prefix_caching", "vllm.enforce_eager", "vllm.enable_sleep",
        "vllm.gpu_memory_utilization", "rollout.vllm_generate_batch_size",
    ),
    _MEMORY: (
        "micro_rollout_batch_size", "rollout_max_tokens_per_gpu", "packing_samples", "attn_implementation",
        "use_liger_kernel", "gradient_checkpointing_use_reentrant", "dataloader_num_workers", "perf",
        "rollout.micro_batch_size", "rollout.max_tokens_per_gpu", "ds.packing_samples", "ds.attn_implementation",
        "ds.use_liger_kernel", "actor.gradient_checkpointing_reentrant", "data.dataloader_num_workers",
        "disable_fast_tokenizer", "data.disable_fast_tokenizer", "full_determinism", "train.full_determinism_enable",
    ),
    _FOLDER: (
        "ckpt_path", "save_hf_ckpt", "disable_ds_ckpt", "max_ckpt_mem", "best_metric_key", "save_value_network",
        "ckpt.path", "ckpt.save_hf", "ckpt.disable_ds", "ckpt.max_mem", "ckpt.best_metric_key",
        "critic.save_value_network", "logging_steps", "logger.logging_steps",
    ),
    "loss.max_importance bounds the weights of samples from another sampler": (
        "enable_vllm_is_correction", "vllm_is_truncated_threshold", "vllm_is_correction_type",
        "algo.advantage.is_correction_enable", "algo.advantage.is_correction_type",
        "algo.advantage.is_correction_threshold", "algo.advantage.is_correction_level",
        "algo.advantage.is_correction_mode", "algo.advantage.is_correction_gating",
    ),
}  # fmt: skip
"""Flags that do not change what is learnt, by what takes their place: they are noted and left out."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Flags that cannot be honoured, the values that ask for nothing, and what to do."""

    names: Names
    instead: str
    neutral: tuple[str, ...] = ()


REFUSED: tuple[Refusal, ...] = (
    Refusal(
        ("reward_pretrain", "reward.model_name_or_path"),
        "load the reward model in a reward function and name that with --remote_rm_url",
    ),
    Refusal(("critic_pretrain", "critic.model_name_or_path"), "the critic begins as the policy with a head of its own"),
    Refusal(
        ("normalize_reward", "reward.normalize_enable"), "put the reward on a scale of its own: reward.normalized(how)"
    ),
    Refusal(("reward_clip_range", "reward.clip_range"), "clip in the reward: reward.clip(low, high)"),
    Refusal(
        (
            "overlong_buffer_len",
            "overlong_penalty_factor",
            "reward.overlong_buffer_len",
            "reward.overlong_penalty_factor",
        ),
        "add plaudit.shaping.SoftOverlong to the reward",
    ),
    Refusal(
        ("stop_properly_penalty_coef", "reward.stop_properly_penalty_coef"),
        "loss.mask_truncated=true leaves truncated responses out, or a reward reads metadata['finish_reason']",
    ),
    Refusal(
        ("no_advantage_std_norm", "algo.advantage.no_std_norm"), "advantage=dr_grpo divides by no standard deviation"
    ),
    Refusal(("prompt_data_probs", "data.prompt_probs"), "mix the files before training", ("1.0", "1")),
    Refusal(("eval_split", "eval.split"), "data.split is for both; name a file in --eval_dataset", ("train",)),
    Refusal(("lora_dropout", "ds.lora.dropout"), "adapters have no dropout here", ("0", "0.0")),
    Refusal(("load_in_4bit", "ds.load_in_4bit"), "weights are trained in float32"),
    Refusal(("value_clip", "critic.value_clip"), "the critic's loss is not clipped here"),
    Refusal(
        ("freezing_actor_steps", "critic.freezing_steps"),
        "training.critic_passes lets the critic learn faster",
        ("-1",),
    ),
    Refusal(("enable_ema", "train.enable_ema"), "the last weights are what is saved"),
    Refusal(("ema_beta", "train.ema_beta"), "the last weights are what is saved"),
    Refusal(("ptx_coef",), "loss.sft_weight with data.demonstrations keeps a supervised term", ("0", "0.0")),
    Refusal(("aux_loss_coef", "actor.aux_loss_coef"), "the loss has no balancing term for experts", ("0", "0.0")),
    Refusal(("partial_rollout", "train.partial_rollout_enable"), "a response is sampled from one policy"),
    Refusal(("use_ms",), "download the model, and give its folder as --pretrain"),
    Refusal(("data.image_key",), "responses are to texts only", ("images",)),
    Refusal(("data.max_images_per_prompt",), "responses are to texts only", ("0",)),
    Refusal(("actor.freeze_visual_encoder",), "models with images are not trained here"),
    Refusal(("actor.optim", "critic.optim"), "the optimizer is AdamW", ("adam",)),
    Refusal(
        tuple(
            f"{model}.muon.{name}"
            for model in ("actor", "critic")
            for name in ("lr", "momentum", "ns_steps", "nesterov", "no_nesterov")
        ),
        "the optimizer is AdamW",
    ),
    Refusal(
        (
            "critic.adam.betas",
            "critic.adam.eps",
            "critic.adam.weight_decay",
            "critic.lr_scheduler",
            "critic.lr_warmup_ratio",
            "critic.min_lr_ratio",
            "critic.max_norm",
        ),
        "the critic has the policy's optimizer; training.critic_lr_factor sets its learning rate",
    ),
    Refusal(("actor.min_lr_ratio",), "the learning rate falls to 0", ("0", "0.0")),
    Refusal(("value_head_prefix", "ds.value_head_prefix"), "the critic's head is its own", ("score",)),
)
"""Flags that would change what is learnt and that plaudit has no word for."""

DEFAULTS: dict[str, str] = {
    "optimizer.lr": "1e-6",
    "sampling.prompts_per_step": "1024",
    "sampling.samples_per_prompt": "1",
    "advantage": "gae",
    "loss.kl_beta": "0.01, in the reward",
}
"""What OpenRLHF takes where a flag is left out, of the keys where that matters most."""


def find_flags() -> dict[str, str]:
    """Every flag that is known, by its name without dashes, and the table it stands in."""
    found = {name: "same" for names in SAME.values() for name in names}
    found |= {name: "computed" for names in COMPUTED.values() for name in names}
    found |= {name: "elsewhere" for names in ELSEWHERE.values() for name in names}
    return found | {name: "refused" for refusal in REFUSED for name in refusal.names}
