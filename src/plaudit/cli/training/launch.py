"""`plaudit launch`: the command that runs a config with another trainer; and commands as jobs on Ray."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plaudit import launching
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_text
from plaudit.errors import InvalidSettings
from plaudit.launching.ray_jobs import Job
from plaudit.training.config.reading import KEYS, load_config

if TYPE_CHECKING:
    from plaudit.launching import Launch
import sys

from plaudit.launching.ray_jobs import submit_job

__all__ = ["launch", "run_job"]


def launch(
    trainer: Annotated[str, typer.Argument(metavar="TRAINER", help="openrlhf, verl or trl.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG.yaml] [KEY=VALUE]... [THEIR FLAGS]...",
            help="A config of `plaudit train`, keys that override it, and arguments of the trainer.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where reward file, data and checkpoints go."),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, help="GPUs of each node; 8 by default.")] = None,
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="Nodes.")] = 1,
    overwrite: options.Overwrite = False,
    ray: options.RayJob = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print the training command of another trainer for a config.

    The reward is written as a file that keeps deadlines and worker processes, prompts in the form of the trainer.
    Arguments of the trainer are passed on as written. Keys without a counterpart are listed by name.
    """
    words = arguments or []
    ours = [word for word in words if _is_ours(word, trainer)]
    files, overrides = [w for w in ours if "=" not in w], [w for w in ours if "=" in w]
    if len(files) > 1:
        raise InvalidSettings(f"one config file at most, got {' and '.join(files)}; overrides are key=value")
    config = load_config(files[0] if files else None, overrides)
    folder = out or Path(f"{config.output_dir}-{trainer}")
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidSettings(f"{folder} is not empty; --overwrite replaces the reward file and the data in it")
    machines = None if gpus is None and nodes == 1 else launching.Machines(gpus or 8, nodes)
    extra = [word for word in words if word not in ours]
    planned = launching.plan_launch(config, trainer, folder, machines=machines, extra=extra)
    if not quiet:
        _describe(planned)
    if json:
        print_json({**dataclasses.asdict(planned), "command": planned.command})
    else:
        print_text(planned.command + "\n")
    return 0 if ray is None else run_job(ray, Job(planned.command))


def _is_ours(word: str, trainer: str) -> bool:
    """Whether a word is a config file or a key of ours, not an argument of the trainer's."""
    if word.startswith("--"):
        return False
    name, equals, _ = word.partition("=")
    if not equals:
        return word.endswith((".yaml", ".yml"))
    return trainer != "verl" or name.lstrip("+") in KEYS  # verl's own settings are written as ours are


def _describe(planned: "Launch") -> None:
    for file in planned.files:
        print_message(f"wrote {file}")
    for key in planned.unmapped:
        print_message(f"not mapped: {key}")
    for note in planned.notes:
        print_message(f"differs: {note}")


NOT_DONE, INTERRUPTED = 1, 130


def run_job(address: str, job: Job) -> int:
    """Submit a command, follow it to its end, and return an exit code; Ctrl-C ends the following, not the job."""
    submitted = submit_job(address, job)
    print_message(f"submitted to Ray at {address} as {submitted.id}")
    try:
        problem = submitted.follow(_show)
    except KeyboardInterrupt:
        print_message(f"{submitted.id} goes on; {submitted.commands}")
        return INTERRUPTED
    if problem is not None:
        print_message(f"{submitted.id} {problem}")
        return NOT_DONE
    return 0


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
