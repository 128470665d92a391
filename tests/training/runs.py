"""Training runs small enough for tests: seconds, not minutes."""

import json
from pathlib import Path
from typing import Any

from plaudit import RewardOutput, reward
from plaudit.training import load_config
from plaudit.training.config.schema import RunConfig

SMALL = (
    "steps=6",
    "sampling.prompts_per_step=4",
    "sampling.samples_per_prompt=4",
    "model.warm_start_steps=10",
    "model.warm_start_batch=16",
    "eval.prompts=8",
    "eval.every=3",
    "eval.samples_per_prompt=2",
    "eval.pass_at=[1,2]",
    "checkpoint.every=2",
    # drawing takes longer than training does here
    "logging.report=false",
)


@reward
def varied(response: str) -> RewardOutput:
    """Differs within nearly any group, so that there is something to learn from a handful of samples."""
    share = len(set(response)) / 10
    return RewardOutput(share + len(response) / 100, score=min(1.0, share))


def small(folder: Path, *overrides: str) -> RunConfig:
    """The config of a small run in `folder`."""
    return load_config(None, [*SMALL, f"output_dir={folder}", *overrides])


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The objects of metrics.jsonl."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def curves(folder: Path) -> list[dict[str, Any]]:
    """The metrics that do not tell of time."""
    timed = ("time/", "tokens_per_s")
    return [{name: value for name, value in row.items() if not name.startswith(timed)} for row in metrics(folder)]


def rollouts(folder: Path) -> list[dict[str, Any]]:
    """The lines of rollouts.jsonl without what tells of time."""
    rows = [json.loads(line) for line in (folder / "rollouts.jsonl").read_text().splitlines()]
    for row in rows:
        row["reward_output"].pop("latency_s", None)
    return rows
