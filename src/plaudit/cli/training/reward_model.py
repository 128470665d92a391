"""`plaudit train-reward-model`: train a reward model on preference pairs and evaluate it."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.cli.progress import StepProgress
from plaudit.errors import InvalidSettings
from plaudit.report.formatting import count_noun
from plaudit.training.reward_model.settings import document_reward_model_config

__all__ = ["train_reward_model"]

STOPPED = 128
LINES = 8
"""How many lines a pipe gets."""
COLORS = {"not length-biased": "green", "length-biased": "red"}
"""By `LengthVerdict`, whose module imports numpy."""


def train_reward_model(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAIRS [CONFIG.yaml] [KEY=VALUE]...",
            help="Rows with chosen and rejected (.jsonl, .parquet, .csv, a dataset folder), then a config file and "
            "keys that override it, such as model.path=smollm2 or training.lr=1e-4.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the model goes; runs/reward-model by default."),
    ] = None,
    overwrite: options.Overwrite = False,
    print_config: options.PrintConfig = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Train a reward model on preference pairs; without keys, a small one that needs a minute on this machine.

    Pairs of some prompts are held out, and the model is judged on them: accuracy, margins, calibration, and whether it
    only counts characters. FOLDER is the model, as RewardModel loads it, with report.json.
    """
    config = training.load_reward_model_config(*_arguments(arguments or [], out), require_pairs=not print_config)
    if print_config:
        print_text(document_reward_model_config(config))
        return 0
    with _FitProgress(lines=LINES, quiet=quiet) as progress:
        trained = training.train_reward_model(config, overwrite=overwrite, progress=progress)
    if json:
        print_json(trained.to_dict())
    else:
        print_result(_render(trained))
    if trained.stopped_by is not None:
        print_message(f"stopped by {trained.stopped_by} after step {trained.steps}; the model is that of this step")
        return STOPPED + signal.Signals[trained.stopped_by]
    return 0


def _arguments(arguments: list[str], out: str | None) -> tuple[str | None, list[str]]:
    """The config file and the overrides of a command line."""
    overrides = [each for each in arguments if "=" in each and not Path(each).exists()]
    named = [each for each in arguments if each not in overrides]
    files = [each for each in named if each.endswith((".yaml", ".yml"))]
    pairs = [each for each in named if each not in files]
    for what, files_of_kind in (("config file", files), ("file of pairs", pairs)):
        if len(files_of_kind) > 1:
            raise InvalidSettings(f"one {what} at most, got {' and '.join(files_of_kind)}; overrides are key=value")
    if files and not Path(files[0]).exists():
        raise InvalidSettings(f"no config file {files[0]!r}")
    overrides = [*(f"data.path={each}" for each in pairs), *overrides]
    return files[0] if files else None, [*overrides, *([] if out is None else [f"output_dir={out}"])]


class _FitProgress(StepProgress):
    """Shows the training of a reward model."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A reward model has no warm start."""

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """An optimizer step was taken."""
        steps = int(metrics["steps"])
        numbers = ", ".join(f"{name} {metrics[name]:.3f}" for name in ("loss", "accuracy") if name in metrics)
        self.show_step("training", step, steps, numbers)


def _render(trained: "training.TrainedRewardModel") -> RenderableType:
    report, length = trained.report, trained.report.length
    table = Table("accuracy", "", "95 %", "pairs", box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    rows: dict[str, training.Estimate | None] = {
        "held out": report.accuracy,
        "trained on": report.train_accuracy,
        "held out, length-matched": length.matched,
        "held out, chosen longer": length.chosen_longer,
        "held out, chosen shorter": length.chosen_shorter,
        "longer one cut": length.cut,
        "shorter one repeated": length.repeated,
    }
    for name, estimate in rows.items():
        if estimate is not None:
            table.add_row(
                name, f"{estimate.value:.3f}", f"{estimate.low:.3f} – {estimate.high:.3f}", f"{estimate.count:,}"
            )
    correlation = "none" if length.correlation is None else f"{length.correlation:.2f}"
    return Group(
        table,
        Text(
            f'"longer wins" is right on {length.longer_share:.1%}; reward and length correlate by {correlation}; '
            f"calibration error {report.calibration.error:.3f}"
        ),
        Text.assemble((str(length.verdict), f"bold {COLORS.get(length.verdict, 'yellow')}"), f": {length.reason}"),
        Text(
            f"{count_noun(trained.steps, 'step')} on {count_noun(report.trained_on, 'pair')}; "
            f"as a reward: reward_model(model={str(trained.folder)!r})"
        ),
    )
