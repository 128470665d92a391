"""`plaudit train`: train a policy with a reward, as a config says."""

import os
import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from plaudit import training
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.cli.options import JsonOption, QuietOption
from plaudit.cli.training.jobs import run_job
from plaudit.cli.training.training_progress import TrainingProgress, outcome_table
from plaudit.errors import InvalidSettings, TrainingError, did_you_mean
from plaudit.launching.openrlhf_flags import ForeignFlags, read_openrlhf_flags
from plaudit.launching.ray_jobs import Job, plaudit_command
from plaudit.training.config.keys import flatten, read_config_file, write_value
from plaudit.training.config.reading import KEYS, document_config, load_config
from plaudit.training.config.schema import RunConfig
from plaudit.training.reporting.run_folder import RunFolder

__all__ = ["train"]

STOPPED = 128


def train(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG.yaml] [KEY=VALUE]...",
            help="A config file, then keys that take its place, such as optimizer.lr=1e-4 or "
            "+training.reward_function=my.py:name. OpenRLHF's flags, such as --remote_rm_url my.py, are taken too.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the newest checkpoint in output_dir; steps=N makes the run longer."),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in output_dir.")] = False,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the config with the meaning of every key, and stop.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Run on this Ray cluster, and follow its log: auto, host:port or http://host:8265.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Train a policy with a reward; without arguments, a small model that learns to sort digits on this machine.

    The run folder gets config.yaml, metrics.jsonl, rollouts.jsonl, checkpoints, samples.md, report.html with the
    curves, and the model.
    """
    flags = read_openrlhf_flags(given or [])
    resume = resume or flags.resume
    os.environ.update(flags.environment)
    config = flags.complete(_config(flags, resume=resume), _count_prompts)
    for note in () if quiet or print_config else flags.notes:
        print_message(note)
    if print_config:
        print_text(document_config(config))
        return 0
    if ray is not None:
        if json:
            raise InvalidSettings("--json is not for --ray: what the job prints is its log")
        options = {"--resume": resume, "--overwrite": overwrite, "--quiet": quiet}
        command = plaudit_command(["train", *_as_arguments(config), *(name for name, on in options.items() if on)])
        on_gpu = int(config.model.device.startswith("cuda"))
        return run_job(ray, Job(command, flags.environment, on_gpu))
    first = os.environ.get("RANK", "0") == "0"  # torchrun starts several of us, and one speaks
    with TrainingProgress(config, quiet=quiet or not first) as progress:
        outcome = training.train(config, resume=resume, overwrite=overwrite, progress=progress)
    if not first:
        return 0
    if json:
        print_json(outcome.to_dict())
    elif not quiet:
        print_result(outcome_table(outcome))
    if outcome.stopped_by is not None:
        print_message(f"stopped by {outcome.stopped_by} after step {outcome.step}; --resume goes on from there")
        return STOPPED + signal.Signals[outcome.stopped_by]
    return 0


def _config(flags: ForeignFlags, *, resume: bool) -> RunConfig:
    """The config of the command line; a run that is resumed without a file goes on with its own."""
    files = [each for each in flags.rest if "=" not in each]
    overrides = [*flags.overrides, *(each for each in flags.rest if "=" in each)]
    if len(files) > 1:
        raise InvalidSettings(f"one config file at most, got {' and '.join(files)}; overrides are key=value")
    if files and not Path(files[0]).exists():
        if files[0].lstrip("+") in KEYS:
            raise InvalidSettings(f"the key {files[0]!r} has no value; write {files[0]}=VALUE")
        hint = did_you_mean(files[0], KEYS) if not files[0].endswith((".yaml", ".yml")) else ""
        raise InvalidSettings(f"no config file {files[0]!r}{hint} (overrides are written key=value)")
    config = load_config(files[0] if files else None, overrides)
    folder = RunFolder(Path(config.output_dir))
    if resume and not files and not folder.holds_run:
        raise TrainingError(f"there is no run in {folder.path} to resume; begin one without --resume")
    if resume and not files:
        saved: dict[str, Any] = read_config_file(folder.config)
        return load_config(None, overrides, base=saved)
    return config


def _as_arguments(config: RunConfig) -> list[str]:
    """Every key that is not at its default, as `key=value`."""
    values = flatten(config.to_dict())
    plain = flatten(RunConfig().to_dict())
    return [
        f"{name}={value if isinstance(value, str) else write_value(value)}"
        for name, value in values.items()
        if value != plain.get(name)
    ]


def _count_prompts(config: RunConfig) -> int:
    return len(training.load_task(config, config.training.reward_function).prompts)
