"""What a step trained on, and how that went: by task, where there are several, and by difficulty, where it is known."""

import statistics
from collections.abc import Sequence

from plaudit.rollouts import ScoredRollout
from plaudit.training.batches.collecting import Batch
from plaudit.training.data.levels import Levels
from plaudit.training.reporting.evaluation import split_by

__all__ = ["split_metrics"]


def split_metrics(batch: Batch, levels: Levels) -> dict[str, float]:
    """`task/<task>/share`, `/reward`, `/score` and `/unscored`; `difficulty/<level>/share` and `/score`; and what a
    curriculum tells. Groups that filtering left out were drawn too, and count."""
    everything = [*batch.scored, *batch.left_out]
    tasks = split_by(everything, lambda row: row.task)
    found = dict(batch.stream_metrics)
    for task, part in tasks.items() if len(tasks) > 1 else ():
        found |= _describe(f"task/{task}", part, len(everything))
        rewards = [output.reward for _, output in part if output.reward is not None]
        found |= {f"task/{task}/reward": statistics.fmean(rewards)} if rewards else {}
        found[f"task/{task}/unscored"] = sum(not output.ok for _, output in part) / len(part)
    parts = split_by(everything, levels.label)
    for level in levels.all:
        found |= _describe(f"difficulty/{level}", parts.get(level, []), len(everything))
    return found


def _describe(name: str, part: Sequence[ScoredRollout], total: int) -> dict[str, float]:
    scores = [output.score for _, output in part if output.score is not None]
    share = {f"{name}/share": len(part) / total} if total else {}
    return share | ({f"{name}/score": statistics.fmean(scores)} if scores else {})
