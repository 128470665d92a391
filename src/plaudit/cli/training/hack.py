"""`plaudit hack`: list rewards with planted bugs, and train the embedded model with one until it exploits the bug."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from plaudit import hacks
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.cli.training.train import TrainingProgress
from plaudit.hacks.hack import TRUE_SCORE
from plaudit.report.formatting import bare_table
from plaudit.training.config.schema import RunConfig

__all__ = ["hack"]


def hack(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A hack or control; none lists them.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Keys of the training config.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="The run folder; runs/hacks/NAME without it.")
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Train the embedded model with a reward that has a planted bug, and say when exploiting began and was reported.

    The reward is audited first. The run folder gets report.html, metrics.jsonl and rollouts.jsonl; every sample has
    the true score in its metadata.
    """
    if name is None:
        return _list(as_json=json)
    declared = hacks.find_hack(name)
    folder = out or Path("runs/hacks", name)
    if not quiet:
        print_message(f"{declared.name} ({declared.kind}): {declared.about}")
    report = hacks.audit_hack(declared)
    findings = sorted({each.operator for each in report.findings})
    if not quiet:
        print_message(f"audit: {', '.join(findings) or 'no finding'} ({report.calls:,} calls)")
    config = hacks.build_config(declared, folder, overrides or ())
    with HackProgress(config, quiet=quiet) as progress:
        run = hacks.train_hack(declared, folder, overrides=overrides or (), overwrite=overwrite, progress=progress)
    if json:
        print_json({**run.to_dict(), "audit": findings, "output_dir": str(folder)})
        return 0
    table = bare_table("", "first steps", "last steps")
    for title, (before, after) in {"reward": run.reward, "true score": run.true_score}.items():
        table.add_row(title, f"{before:.3f}", f"{after:.3f}")
    print_result(table, f"onset: {_step(run.onset)}; first warning of watch: {_step(run.warned_at)}")
    print_result(f"the report is {folder / 'report.html'}")
    return 0


def _step(step: int | None) -> str:
    return "none" if step is None else f"step {step}"


def _list(*, as_json: bool) -> int:
    declared = hacks.list_hacks()
    if as_json:
        print_json([{"name": each.name, "kind": each.kind, "about": each.about} for each in declared])
        return 0
    table = bare_table()
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("what the reward does")
    for each in declared:
        table.add_row(each.name, each.kind, Text(each.about))
    print_result(table)
    return 0


class HackProgress(TrainingProgress):
    """Shows reward, true score and the onset of a run as it goes on; the signs of `watch` are notes of the run."""

    def __init__(self, config: RunConfig, *, quiet: bool) -> None:
        super().__init__(config, quiet=quiet)
        self._rewards: list[float] = []
        self._truths: list[float] = []
        self._onset: int | None = None

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken."""
        if TRUE_SCORE not in metrics:
            return
        self._rewards.append(metrics["reward"])
        self._truths.append(metrics[TRUE_SCORE])
        numbers = f"reward {self._rewards[-1]:.3f}, true score {self._truths[-1]:.3f}"
        self.show_step("training", step, self._steps, numbers)
        if self._onset is None:
            self._onset = hacks.find_onset(self._rewards, self._truths)
            if self._onset is not None:
                self.note(f"step {step}: onset: {numbers}")
