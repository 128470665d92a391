"""Reward models: `plaudit pairs` builds preference pairs, `train-reward-model` trains on them."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from typer import Argument, Option

from plaudit import jsonline, training
from plaudit.cli import options
from plaudit.cli.app import NOT_PASSED, SIGNAL
from plaudit.cli.console import (
    StepProgress,
    print_message,
    print_report,
    print_text,
    write_bytes,
)
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.report.formatting import bare_table, count_noun
from plaudit.training.engine import Progress
from plaudit.training.reward_model.pair_files import PairCounts, write_pairs
from plaudit.training.reward_model.settings import document_reward_model_config


def pairs(
    scored: options.Scored,
    out: Annotated[
        str, Option("--out", "-o", metavar="PAIRS", help="Write here, as JSON lines; - is standard output.")
    ],
    output: options.Output,
    margin: Annotated[float, Option("--margin", help="The least difference of a pair; ties are never paired.")] = 0.0,
    count: Annotated[int, options.count("How many pairs of a group, drawn at random; 0: all.", least=0)] = 4,
    order_by: Annotated[
        Literal["reward", "score"], Option("--order-by", help="The value that orders responses.")
    ] = "reward",
    seed: options.Seed = 0,
    columns: options.Columns = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
) -> int:
    """Build preference pairs from a scored file: of two responses of a group, the one with the higher reward is chosen.

    Samples without a reward are left out, and counted. The exit code is 1 when there is no pair.
    """
    options.check_output(out, overwrite=overwrite)
    if out != "-" and Path(out).suffix != ".jsonl":
        raise RolloutsError(f"{out}: pairs are written as JSON lines; give a name that ends in .jsonl")
    if output.json and out == "-":
        raise RolloutsError("--json and -o - both write to standard output; give one of them")
    settings = training.PairSettings(margin=margin, per_group=count or None, by=order_by, seed=seed)
    reader = options.open_rollouts(scored, columns, skip_bad=skip_bad)
    built = training.build_pairs(reader, settings)
    rows = [pair.to_row() for pair in built.pairs]
    if out == "-":
        write_bytes(b"".join(jsonline.encode(row) + b"\n" for row in rows))
    elif rows:
        write_pairs(rows, out)
    output.note_input(reader)
    if out == "-":
        print_report(_table(built.counts))
    else:
        output.show(built.counts.to_dict(), _table(built.counts))
    if not rows:
        print_message(_remedy(built.counts, margin))
        return NOT_PASSED
    return 0


ALWAYS = ("samples", "unscored", "groups", "tied", "pairs")


def _table(counts: PairCounts) -> Table:
    meanings = {name: hint.__metadata__[0] for name, hint in get_type_hints(PairCounts, include_extras=True).items()}
    known = counts.to_dict().items()
    rows = ((f"{number:,}", meanings[name]) for name, number in known if number or name in ALWAYS)
    return bare_table(Column(justify="right"), "", rows=rows)


def _remedy(counts: PairCounts, margin: float) -> str:
    if counts.unscored == counts.samples:
        return "no pairs: no sample was scored; `plaudit explain` shows why"
    if counts.single == counts.groups:
        return "no pairs: no group has two responses to compare; pairs need several responses to one prompt"
    if counts.close:
        return f"no pairs: no two responses of a group differ by {margin:g}; lower --margin"
    return "no pairs: within every group all values are the same"


LINES = 8
"""The number of progress lines when the output is a pipe."""
COLORS = {"not length-biased": "green", "length-biased": "red"}
"""By `LengthVerdict`, whose module imports numpy."""


def train_reward_model(
    output: options.Output,
    arguments: Annotated[
        list[str] | None,
        Argument(
            metavar="PAIRS [CONFIG.yaml] [KEY=VALUE]...",
            help="Rows with chosen and rejected (.jsonl, .parquet, .csv, a dataset folder), then a config file and "
            "keys that override it, such as model.path=smollm2 or training.lr=1e-4.",
        ),
    ] = None,
    out: Annotated[str | None, options.out_folder("Where the model goes; runs/reward-model by default.")] = None,
    overwrite: options.Overwrite = False,
    print_config: options.PrintConfig = False,
) -> int:
    """Train a reward model on preference pairs; without keys, a small one that needs a minute on this machine.

    Pairs of some prompts are held out, and the model is judged on them: accuracy, margins, calibration, and whether it
    only counts characters. FOLDER is the model, as RewardModel loads it, with report.json.
    """
    config = training.load_reward_model_config(*_config_of(arguments or [], out))
    if print_config:
        print_text(document_reward_model_config(config))
        return 0
    with _FitProgress(lines=LINES, quiet=output.quiet) as progress:
        trained = training.train_reward_model(config, overwrite=overwrite, progress=progress)
    output.show(trained.to_dict(), _render(trained))
    if trained.stopped_by is not None:
        print_message(f"stopped by {trained.stopped_by} after step {trained.steps}; the model is that of this step")
        return SIGNAL + signal.Signals[trained.stopped_by]
    return 0


def _config_of(words: list[str], out: str | None) -> tuple[str | None, list[str]]:
    """The config file and the overrides of a command line."""
    file, overrides, pairs = options.split_config(words)
    if len(pairs) > 1:
        raise InvalidSettings(f"one file of pairs at most, got {' and '.join(pairs)}; overrides are key=value")
    overrides = [*(f"data.path={each}" for each in pairs), *overrides]
    return file, overrides if out is None else [*overrides, f"output_dir={out}"]


class _FitProgress(StepProgress, Progress):
    """Shows the training of a reward model."""

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """An optimizer step was taken."""
        steps = int(metrics["steps"])
        numbers = ", ".join(f"{name} {metrics[name]:.3f}" for name in ("loss", "accuracy") if name in metrics)
        self.show_step("training", step, steps, numbers)


def _render(trained: "training.TrainedRewardModel") -> RenderableType:
    report, length = trained.report, trained.report.length
    rows: dict[str, training.Estimate | None] = {
        "held out": report.accuracy,
        "trained on": report.train_accuracy,
        "held out, length-matched": length.matched,
        "held out, chosen longer": length.chosen_longer,
        "held out, chosen shorter": length.chosen_shorter,
        "longer one cut": length.cut,
        "shorter one repeated": length.repeated,
    }
    cells = (
        (name, f"{each.value:.3f}", f"{each.low:.3f} – {each.high:.3f}", f"{each.count:,}")
        for name, each in rows.items()
        if each is not None
    )
    correlation = "none" if length.correlation is None else f"{length.correlation:.2f}"
    return Group(
        bare_table("accuracy", "", "95 %", "pairs", rows=cells),
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
