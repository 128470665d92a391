"""Record a run: its files, the displayed progress and the logs; and the report at its end.

The report is made of the files of the run, so the report of a resumed run covers all its steps.
"""

import errno
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.remote.tokens import hide_tokens
from plaudit.report.page.packing import encode_json
from plaudit.report.page.report_file import MAX_BYTES, build_report, write_page
from plaudit.report.terminal.analysis_text import describe_batch, render_analysis
from plaudit.rollouts import Rollout, RolloutsWriter, ScoredRollout, read_rollouts
from plaudit.rollouts.reading import require_scored
from plaudit.training.collecting import Batch
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.engine import Progress
from plaudit.training.log_writers import LOG_WRITERS, RunName
from plaudit.training.run_folder import RunFolder
from plaudit.trajectory import Trajectory
from plaudit.watch import RewardWatch, watch_run


class Recorder:
    """Writes each step to metrics.jsonl, rollouts.jsonl and the configured logs, and reports it."""

    def __init__(self, config: RunConfig, folder: RunFolder, progress: Progress, *, first_step: int) -> None:
        self._config, self._progress = config, progress
        names = [name for name in LOG_WRITERS if getattr(config.logging, name)]
        settings = hide_tokens(config.to_dict())
        run = RunName(folder.path, config.logging.project, config.logging.name, settings, first_step)
        self._writers = [LOG_WRITERS[name](run) for name in names]
        self._rollouts = RolloutsWriter(folder.rollouts, mode="resume")
        self._metrics = open(folder.metrics, "ab", buffering=0)  # noqa: SIM115  # closed in close()
        self._watch = self._open_watch(folder)
        self._has_noted_truncation = False
        self.problem: str | None = None
        """The reason to end the run, from a sign that the config names."""

    def step(self, metrics: Mapping[str, Any], batch: Batch | None = None) -> None:
        """Record one step; the evaluation before the first has no batch."""
        number = metrics["step"]
        if batch is not None:
            metrics = {**metrics, **self._watch_step(number, batch)}
        self._write_metrics(metrics)
        for writer in self._writers:
            writer.log(number, metrics)
        if batch is not None:
            self._record_rollouts(number, batch)
            self._note_truncated_episodes(number, batch)
        self._progress.step(number, {name: value for name, value in metrics.items() if name != "step"})

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._rollouts.flush()

    def close(self) -> None:
        """Close all files and logs."""
        with ExitStack() as stack:
            for log in (*self._writers, self._metrics, self._rollouts):
                stack.callback(log.close)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write one object to metrics.jsonl; it is with the operating system when this returns."""
        line = jsonline.encode(dict(metrics)) + b"\n"
        if self._metrics.write(line) != len(line):
            raise OSError(errno.ENOSPC, f"no room for the metrics of step {metrics['step']}", self._metrics.name)

    def _record_rollouts(self, step: int, batch: Batch) -> None:
        if self._config.training.log_rewards:
            outputs = [*batch.outputs, *(output for _, output in batch.left_out)]
            self._progress.note(f"step {step}: {describe_batch(outputs)}")
        for rollout in self._kept(step, batch):
            self._rollouts.write(rollout)

    def _note_truncated_episodes(self, step: int, batch: Batch) -> None:
        """Report once that all episodes of a step ended at the turn limit: most agents give a reward only when done."""
        limit, episodes = self._config.training.agent_max_steps, [row.steps for row in batch.sampled.trajectories]
        ended = any(row.metadata.get("finish_reason") != "length" for row in batch.sampled.trajectories)
        if self._has_noted_truncation or ended or not episodes or any(len(steps) < limit for steps in episodes):
            return
        self._has_noted_truncation = True
        self._progress.note(
            f"step {step}: all {len(episodes)} episodes ended at the turn limit of {limit} before the environment was "
            f"done; raise training.agent_max_steps (--max_steps), or end episodes earlier"
        )

    def _kept(self, step: int, batch: Batch) -> list[ScoredRollout]:
        """The part of a batch that rollouts.jsonl keeps."""
        every = self._config.logging.rollouts_every
        if not every or step % every:
            return []
        kept = [Rollout(self._for_file(trajectory), output) for trajectory, output in batch.scored]
        left_out = [Rollout(self._for_file(each, left_out=True), output) for each, output in batch.left_out]
        return [*kept, *left_out]

    def _open_watch(self, folder: RunFolder) -> RewardWatch | None:
        """A watch that has seen what is in the rollouts file, so that a resumed run continues as if never stopped."""
        logging = self._config.logging
        watch = RewardWatch(every=logging.watch_every or 1, stop_on=logging.stop_on)
        if not logging.watch_every:
            return None
        if folder.rollouts.is_file():
            deque(watch_run(folder.path, watch), maxlen=0)
        return watch

    def _watch_step(self, step: int, batch: Batch) -> dict[str, float]:
        """The signs that the watch sees in the latest steps, as metrics; new ones are reported as notes."""
        look = None if self._watch is None else self._watch.observe(step, self._kept(step, batch))
        if look is None:
            return {}
        for sign in look.new:
            self._progress.note(f"step {step}: {sign}")
        if look.stop is not None:
            self.problem = f"stopped at step {step} by logging.stop_on: {look.stop.name}: {look.stop.message}"
        return look.to_metrics()

    def _for_file(self, trajectory: Trajectory, **columns: bool) -> Trajectory:
        """The part of a trajectory that rollouts.jsonl keeps."""
        tokens = trajectory.tokens if self._config.logging.tokens else None
        return msgspec.structs.replace(trajectory, tokens=tokens, columns={**trajectory.columns, **columns})


REASONS = 3


class UnscoredBatches:
    """Counts batches without a single score."""

    def __init__(self, limit: int, progress: Progress) -> None:
        self._limit, self._progress = limit, progress
        self._in_a_row = 0

    def check(self, batch: Batch) -> str | None:
        """Report a batch without a score; returns why the run must end once there were too many in a row."""
        outputs = [*batch.outputs, *(rollout.output for rollout in batch.left_out)]
        if not outputs or any(output.ok for output in outputs):
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        reasons = Counter(f"{output.status.value}: {output.reason}" for output in outputs)
        if self._in_a_row == 1:
            listed = "".join(f"\n  {count} × {reason}" for reason, count in reasons.most_common(REASONS))
            self._progress.note(f"step {batch.step}: none of {len(outputs)} samples was scored:{listed}")
        if self._in_a_row < self._limit:
            return None
        return (
            f"no sample was scored in {self._in_a_row} batches in a row, so there is nothing to learn from "
            f"({reasons.most_common(1)[0][0]}); correct the reward (`plaudit check` tries it), continue with --resume, "
            "or raise training.max_unscored_batches"
        )


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
    scored = require_scored(read_rollouts(folder.rollouts), str(folder.rollouts))
    room = MAX_BYTES if config.logging.report else 0
    run = build_report(folder.path.name, scored, metrics=folder.metrics, max_bytes=room)
    if config.logging.report:
        write_page([run], folder.report)
    if config.training.save_reward_analysis:
        folder.analysis.write_bytes(encode_json(run.figures.to_dict()))
        folder.analysis.with_suffix(".txt").write_text(render_analysis(run.figures), encoding="utf-8")


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'").replace("\n", " ⏎ ") + "`" if text else ""
