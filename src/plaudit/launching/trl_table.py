"""The keys of a config as flags of TRL's GRPO script; the names of arguments are those of the engine `trl`."""

from plaudit.launching.launch_files import (
    FILES,
    Arguments,
    LaunchContext,
    TrainerTable,
    note_data_elsewhere,
    refuse_agents_and_servers,
    write_flag,
)
from plaudit.training.trl.arguments import COMPUTED, RENAMED, REQUIRED, Shape, trl_arguments

__all__ = ["TABLE"]

NOT_FOR_A_COMMAND = {
    "report_to", "disable_tqdm", "logging_nan_inf_filter", "shuffle_dataset", "ddp_find_unused_parameters",
}  # fmt: skip
"""Arguments that only make sense where plaudit itself drives TRL."""


def _compute(context: LaunchContext) -> Arguments:
    config, files = context.config, context.files
    refuse_agents_and_servers(context, "TRL")
    note_data_elsewhere(context, "it must have the columns prompt and ground_truth")
    arguments = trl_arguments(config, Shape(context.machines.processes, files.max_new_tokens))
    loggers = [name for name in ("wandb", "tensorboard") if getattr(config.logging, name)]
    lora = config.model.lora_rank > 0
    evaluates = files.held_out is not None and config.eval.every
    steps = config.training.updates_per_batch * config.training.minibatches
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
        "eval_steps": config.eval.every * steps if evaluates else None,
        "report_to": loggers or ["none"],
        "run_name": config.logging.name,
        "project": config.logging.project if config.logging.project != "plaudit" else None,
    }


def _program(context: LaunchContext) -> list[str]:
    machines = context.machines
    processes = ["--num_processes", str(machines.processes)] if machines.processes > 1 else []
    nodes = ["--num_machines", str(machines.nodes)] if machines.nodes > 1 else []
    return ["env", f"PYTHONPATH={context.files.folder}", "trl", "grpo", *processes, *nodes]


COMPUTED_FROM = (
    *FILES, *RENAMED, *COMPUTED, *REQUIRED, "model.path", "model.lora_rank", "model.lora_alpha", "model.lora_targets",
    "eval.samples_per_prompt", "logging.project", "data.shuffle",
)  # fmt: skip

TABLE = TrainerTable(
    program=_program,
    renamed={},
    choices={},
    compute=_compute,
    computed_from=frozenset(COMPUTED_FROM),
    write=write_flag,
)
