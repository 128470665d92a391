"""`plaudit train`: train a policy with a reward, as a config says."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.cli.progress import StepProgress
from plaudit.cli.training.launch import run_job
from plaudit.errors import InvalidSettings, TrainingError, did_you_mean
from plaudit.launching.openrlhf_flags import ForeignFlags, read_openrlhf_flags
from plaudit.launching.ray_jobs import Job, plaudit_command
from plaudit.report.coverage import CoveredMean, format_mean
from plaudit.report.formatting import count_noun
from plaudit.training.config.keys import flatten, read_config_file, write_value
from plaudit.training.config.reading import KEYS, document_config, load_config
from plaudit.training.config.schema import RunConfig
from plaudit.training.engine import Outcome
from plaudit.training.run_folder import RunFolder

__all__ = ["TrainingProgress", "outcome_table", "train"]

STOPPED = 128
LINES = 12
"""How many lines a pipe gets, besides evaluations."""
EVALUATIONS = {
    "eval/score": "score", "eval/greedy": "greedy score", "eval/reward": "reward",
    "eval/greedy_reward": "greedy reward", "eval/length": "length",
}  # fmt: skip


def train(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG.yaml] [KEY=VALUE]...",
            help="A config file, then keys that override it, such as optimizer.lr=1e-4 or "
            "+training.reward_function=my.py:name. OpenRLHF's flags, such as --remote_rm_url my.py, are taken too.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue from the newest checkpoint in output_dir; steps=N makes the run longer."
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    print_config: options.PrintConfig = False,
    ray: options.RayJob = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Train a policy with a reward; without arguments, a small model that learns to sort digits on this machine.

    The run folder gets config.yaml, metrics.jsonl, rollouts.jsonl, checkpoints, samples.md, report.html with the
    curves, and the model.
    """
    flags = read_openrlhf_flags(arguments or [])
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
        switches = {"--resume": resume, "--overwrite": overwrite, "--quiet": quiet}
        command = plaudit_command(["train", *_as_arguments(config), *(name for name, on in switches.items() if on)])
        on_gpu = int(config.model.device.startswith("cuda"))
        return run_job(ray, Job(command, flags.environment, on_gpu))
    first = os.environ.get("RANK", "0") == "0"  # torchrun starts several processes; only the first prints
    with TrainingProgress(config, quiet=quiet or not first) as progress:
        outcome = training.train(config, resume=resume, overwrite=overwrite, progress=progress)
    if not first:
        return 0
    if json:
        print_json(outcome.to_dict())
    else:
        print_result(outcome_table(outcome))
    if outcome.stopped_by is not None:
        print_message(f"stopped by {outcome.stopped_by} after step {outcome.step}; --resume goes on from there")
        return STOPPED + signal.Signals[outcome.stopped_by]
    return 0


def _config(flags: ForeignFlags, *, resume: bool) -> RunConfig:
    """The config of the command line; a run that is resumed without a file continues with its own."""
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


class TrainingProgress(StepProgress):
    """Shows a run of `plaudit train`."""

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        super().__init__(lines=LINES, quiet=quiet)
        self._steps = config.steps

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""
        self.show_live("warm start", step, steps, f"loss {loss:.3f}")
        if step == steps:
            self.note(f"warm start: {steps} supervised steps, loss {loss:.3f}")

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken."""
        results = _evaluation(metrics) if "eval/length" in metrics else ""
        numbers = _numbers(metrics)
        if numbers or results:  # step 0 has neither where no prompts are held out
            self.show_step("training", step, self._steps, numbers, results=results)


def outcome_table(outcome: Outcome) -> RenderableType:
    """The evaluations before and after, and where everything is."""
    table = Table("held out", "before", "after", box=None, padding=(0, 2, 0, 0))
    passes = sorted(key for key in outcome.after if key.startswith("eval/pass@") and "_" not in key)
    for key in (*EVALUATIONS, *passes, *_by_task(outcome.after)):
        if key in outcome.after:
            table.add_row(
                EVALUATIONS.get(key, key.removeprefix("eval/").removeprefix("task/").replace("/score", ": score")),
                _mean(outcome.before, key),
                _mean(outcome.after, key),
            )
    unscored = outcome.folder.unscored_share()
    note = f"{unscored:.1%} of the samples were not scored; " if unscored else ""
    text = Text(f"{note}{count_noun(outcome.step, 'step')}; everything is in {outcome.folder.path}")
    return Group(table, text) if table.rows else text


def _by_task(metrics: Mapping[str, float]) -> list[str]:
    """The keys that tell how well each of several tasks is done: scores, or rewards where there are none."""
    tasks = [key for key in metrics if key.startswith("eval/task/")]
    return [key for key in tasks if key.endswith("/score")] or [key for key in tasks if key.endswith("/reward")]


def _numbers(metrics: Mapping[str, float]) -> str:
    """What a line of 80 columns has room for; metrics.jsonl has the rest."""
    shown = [f"{name} {_mean(metrics, name)}" for name in ("reward", "score") if name in metrics]
    return ", ".join(shown) or ("no sample scored" if metrics.get("status/ok") == 0.0 else "")


def _evaluation(metrics: Mapping[str, float]) -> str:
    scores = [key for key in ("eval/score", "eval/greedy") if key in metrics]
    keys = scores or [key for key in ("eval/reward", "eval/greedy_reward") if key in metrics]
    return "held out: " + (", ".join(f"{EVALUATIONS[key]} {_mean(metrics, key)}" for key in keys) or "no sample scored")


def _mean(metrics: Mapping[str, float], key: str) -> str:
    mean = CoveredMean.from_metrics(metrics, key)
    return "" if mean is None else format_mean(mean)
