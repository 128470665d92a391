"""What a finished run leaves for its reader: samples.md, report.html, and the analysis of rewards where the config asks
for it.

Everything is made of the run's own files, so a resumed run tells of all its steps.
"""

from collections.abc import Sequence
from pathlib import Path

from plaudit.report.page.packing import encode_json
from plaudit.report.page.report_file import MAX_BYTES, build_report, write_page
from plaudit.report.terminal.analysis_text import render_analysis
from plaudit.rollouts import Rollout, read_rollouts
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.reporting.run_folder import RunFolder

__all__ = ["write_report", "write_samples"]


def write_report(
    folder: RunFolder, config: RunConfig, prompts: Prompts, before: Sequence[str], after: Sequence[str]
) -> None:
    """Write everything that is made at the end of a run."""
    write_samples(folder.samples, prompts, before, after)
    if folder.rollouts.exists() and folder.rollouts.stat().st_size:
        _write_figures(folder, config)


def write_samples(path: Path, prompts: Prompts, before: Sequence[str], after: Sequence[str]) -> None:
    """The likeliest responses to held-out prompts before and after training, as a table."""
    lines = [
        "# Held-out prompts, before and after",
        "",
        "| prompt | before | after | ground truth |",
        "|---|---|---|---|",
    ]
    for row, first, last in zip(prompts, before, after, strict=False):
        cells = (row.prompt_text, first, last, "" if row.ground_truth is None else str(row.ground_truth))
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_figures(folder: RunFolder, config: RunConfig) -> None:
    """report.html, and reward_analysis.json and .txt, from all rollouts and metrics of the run."""
    scored = (
        Rollout(line.trajectory, line.output) for line in read_rollouts(folder.rollouts) if line.output is not None
    )
    room = MAX_BYTES if config.logging.report else 0
    run = build_report(folder.path.name, scored, metrics=folder.metrics, max_bytes=room)
    if config.logging.report:
        write_page([run], folder.report)
    if config.training.save_reward_analysis:
        (folder.path / "reward_analysis.json").write_bytes(encode_json(run.figures.to_dict()))
        (folder.path / "reward_analysis.txt").write_text(render_analysis(run.figures), encoding="utf-8")


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'").replace("\n", " ⏎ ") + "`" if text else ""
