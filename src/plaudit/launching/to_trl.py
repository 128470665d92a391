"""A config as the command of TRL's GRPO script; the names of arguments are those of the engine `trl`."""

from plaudit.errors import InvalidSettings
from plaudit.launching.command_builder import CommandBuilder
from plaudit.training.engines.trl_arguments import COMPUTED, RENAMED, REQUIRED, Shape, trl_arguments

__all__ = ["PROGRAM", "build_command"]

PROGRAM = ("trl", "grpo")
TAKEN = (
    "output_dir", "engine", "task", "model.path", "data.path", "data.eval_path", "data.eval_share", "data.prompt_key",
    "data.ground_truth_key", "data.split", "data.limit", "data.chat_template", "data.prompt_template",
    "data.system_prompt", "training.reward_function", "training.reward_workers", "training.reward_deadline_s",
    "model.lora_rank", "model.lora_alpha", "model.lora_targets", "eval.every", "eval.prompts", "eval.pass_at",
    "eval.samples_per_prompt", "logging.wandb", "logging.tensorboard", "logging.trackio", "logging.project",
    "logging.name", "data.shuffle",
)  # fmt: skip
NOT_FOR_A_COMMAND = {
    "report_to",
    "disable_tqdm",
    "logging_nan_inf_filter",
    "shuffle_dataset",
    "ddp_find_unused_parameters",
}
"""Arguments that only make sense where plaudit itself drives TRL."""


def build_command(builder: CommandBuilder) -> None:
    """Write the config as TRL's flags."""
    config, launch_files = builder.config, builder.launch_files
    if config.training.agent_file is not None:
        raise InvalidSettings("training.agent_file: TRL's environments are written otherwise; launch it with openrlhf")
    if launch_files.is_server:
        raise InvalidSettings(
            f"training.reward_function={launch_files.reward}: TRL takes a function, not a server's address"
        )
    builder.take(*TAKEN, *RENAMED, *COMPUTED, *REQUIRED)
    shape = Shape(builder.machines.processes, launch_files.max_new_tokens)
    for name, value in trl_arguments(config, shape).items():
        if name not in NOT_FOR_A_COMMAND and value is not None:
            builder.give(name, *value) if isinstance(value, list) else builder.give(name, value)
    builder.give("model_name_or_path", config.model.path)
    builder.give("output_dir", f"{launch_files.folder}/model")
    builder.give(
        "dataset_name", f"{launch_files.folder}/data" if launch_files.count is not None else launch_files.train
    )
    builder.give("reward_funcs", "plaudit_reward.reward")
    builder.give("shuffle_dataset", config.data.shuffle)
    if launch_files.count is None:
        builder.differ(f"data.path={config.data.path} is not here: it must have the columns prompt and ground_truth")
    if config.model.lora_rank:
        builder.give("use_peft", True)
        builder.give("lora_r", config.model.lora_rank)
        builder.give("lora_alpha", round(config.model.lora_alpha))
        if config.model.lora_targets:
            builder.give("lora_target_modules", *config.model.lora_targets)
    _reports(builder)


def _reports(builder: CommandBuilder) -> None:
    config = builder.config
    if builder.launch_files.held_out is not None and config.eval.every:
        builder.give("eval_strategy", "steps")
        builder.give("eval_steps", config.eval.every * config.training.updates_per_batch * config.training.minibatches)
        builder.differ("an evaluation there tells the mean reward of one batch of groups, not pass@k")
    logs = {name: getattr(config.logging, name) for name in ("wandb", "tensorboard", "trackio")}
    builder.give("report_to", *([name for name, on in logs.items() if on] or ["none"]))
    if config.logging.name is not None:
        builder.give("run_name", config.logging.name)
    if config.logging.project != "plaudit":
        builder.give("project", config.logging.project)
