"""The folder of a run: what is in it, and how a new run, a resumed one and an old one are told apart.

A resumed run cuts metrics.jsonl and rollouts.jsonl back to what they were at its checkpoint, so that every step stands
in them once.
"""

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from plaudit import jsonline
from plaudit.errors import TrainingError
from plaudit.remote.tokens import hide_tokens
from plaudit.rollouts import Rollout, RolloutsWriter
from plaudit.rollouts.writing import write_atomically
from plaudit.training.config.keys import flatten
from plaudit.training.config.reading import document_config, load_config
from plaudit.training.config.schema import RunConfig

__all__ = ["RunFolder", "RunLog"]


RUN_FILES = (
    "config.yaml", "metrics.jsonl", "rollouts.jsonl", "checkpoints", "model", "samples.md", "report.html",
    "reward_analysis.json", "reward_analysis.txt", "tensorboard", "wandb",
)  # fmt: skip
MAY_CHANGE_ON_RESUME = (
    "output_dir",
    "steps",
    "checkpoint.",
    "logging.",
    "training.log_rewards",
    "training.save_reward_analysis",
)
"""What may differ between a run and its continuation: nothing of it changes what was learnt so far."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run leaves its config, metrics, rollouts, checkpoints and samples."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def rollouts(self) -> Path:
        return self.path / "rollouts.jsonl"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def samples(self) -> Path:
        return self.path / "samples.md"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def holds_run(self) -> bool:
        """True when a run was begun here."""
        return self.config.is_file()

    def open(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Continue with the run that is here where `resume` says so, else begin one."""
        if resume:
            self.check_continues(config)
            self.save_config(config)
        else:
            self.begin(config, overwrite=overwrite)

    def check(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Raise what `open` would raise, and change nothing."""
        if resume:
            self.check_continues(config)
        elif self.holds_run and not overwrite:
            raise TrainingError(
                f"{self.path} holds a run already; --resume goes on with it, --overwrite replaces it, "
                "output_dir=FOLDER takes another folder"
            )
        elif self.path.exists() and not self.path.is_dir():
            raise TrainingError(f"output_dir={self.path} is a file; name a folder")

    def forget_failed_start(self) -> None:
        """Remove what a run left that ended before it had recorded anything, so that it blocks no other."""
        if self.metrics.exists() and self.metrics.stat().st_size:
            return
        self._remove_run()
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def begin(self, config: RunConfig, *, overwrite: bool = False) -> None:
        """Make the folder and save the config; a folder with a run in it is replaced only with `overwrite`."""
        self.check(config, resume=False, overwrite=overwrite)
        if self.holds_run:
            self._remove_run()
        self.path.mkdir(parents=True, exist_ok=True)
        self.save_config(config)

    def check_continues(self, config: RunConfig) -> None:
        """Raise TrainingError unless the config continues the run in this folder; it may have more steps."""
        if not self.holds_run:
            raise TrainingError(f"there is no run in {self.path} to resume; begin one without --resume")
        before = flatten(load_config(self.config).to_dict())
        now = flatten(hide_tokens(config.to_dict()))
        changed = [
            f"{name}: {before.get(name)!r} → {value!r}"
            for name, value in now.items()
            if before.get(name) != value and not name.startswith(MAY_CHANGE_ON_RESUME)
        ]
        if changed:
            raise TrainingError(
                f"this is not the config that {self.path} was begun with ({'; '.join(changed)}): "
                "resume with the same one, or begin another run with output_dir=FOLDER"
            )
        if config.steps < int(str(before["steps"])):
            raise TrainingError(
                f"steps={config.steps} is less than the {before['steps']} that {self.path} was begun with; "
                "a run can be made longer, not shorter"
            )

    def save_config(self, config: RunConfig) -> None:
        """Write config.yaml, every key with its meaning but no token, whole or not at all."""
        write_atomically(self.config, hide_tokens(document_config(config)).encode())

    def unscored_share(self) -> float:
        """The share of the samples of all steps that were not scored."""
        rows = (
            [jsonline.decode(line) for line in self.metrics.read_bytes().splitlines()] if self.metrics.exists() else []
        )
        scored = [row["status/ok"] for row in rows if "status/ok" in row]
        return 1.0 - sum(scored) / len(scored) if scored else 0.0

    def _remove_run(self) -> None:
        for name in RUN_FILES:
            old = self.path / name
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)

    def sizes(self) -> dict[str, int]:
        """How long the files that grow are now, for a checkpoint."""
        return {path.name: path.stat().st_size if path.exists() else 0 for path in (self.metrics, self.rollouts)}

    def cut_back(self, sizes: dict[str, int]) -> None:
        """Make the files that grow as long as they were at a checkpoint."""
        for path in (self.metrics, self.rollouts):
            if path.exists():
                os.truncate(path, min(sizes.get(path.name, 0), path.stat().st_size))


class RunLog:
    """Appends to metrics.jsonl and rollouts.jsonl; use it as a context manager."""

    def __init__(self, folder: RunFolder) -> None:
        self._metrics = open(folder.metrics, "ab", buffering=0)  # noqa: SIM115  # closed in close()
        self._rollouts = RolloutsWriter(folder.rollouts, mode="resume")

    def step(self, metrics: dict[str, Any]) -> None:
        """One object of metrics.jsonl; it is with the operating system when this returns."""
        line = jsonline.encode(metrics) + b"\n"
        if self._metrics.write(line) != len(line):
            raise OSError(errno.ENOSPC, f"no room for the metrics of step {metrics.get('step')}", self._metrics.name)

    def rollout(self, rollout: Rollout) -> None:
        """One line of rollouts.jsonl."""
        self._rollouts.write(rollout)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._rollouts.flush()

    def close(self) -> None:
        """Finish both files."""
        try:
            self._rollouts.close()
        finally:
            self._metrics.close()

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()
