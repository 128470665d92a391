"""Batches in which nothing was scored: the reasons are reported at once, and too many in a row end the run.

A reward that always fails would otherwise train nothing, to the end, without a word.
"""

from collections import Counter

from plaudit.training.batches.collecting import Batch
from plaudit.training.engines.engine import Progress

__all__ = ["UnscoredBatches"]

REASONS = 3


class UnscoredBatches:
    """Counts batches without a single score."""

    def __init__(self, limit: int, progress: Progress) -> None:
        self._limit, self._progress = limit, progress
        self._in_a_row = 0

    def check(self, batch: Batch) -> str | None:
        """Report a batch without a score; why the run must end, once there were too many in a row."""
        outputs = [*batch.outputs, *(rollout.output for rollout in batch.left_out)]
        if not outputs or any(output.ok for output in outputs):
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        reasons = Counter(f"{output.status.value}: {output.reason}" for output in outputs)
        if self._in_a_row == 1:
            told = "".join(f"\n  {count} × {reason}" for reason, count in reasons.most_common(REASONS))
            self._progress.note(f"step {batch.step}: none of {len(outputs)} samples was scored:{told}")
        if self._in_a_row < self._limit:
            return None
        return (
            f"no sample was scored in {self._in_a_row} batches in a row, so there is nothing to learn from "
            f"({reasons.most_common(1)[0][0]}); mend the reward (`plaudit check` tries one) and go on with --resume, "
            "or raise training.max_unscored_batches"
        )
