"""`plaudit score --resume --retry-failed`: score again what failed in an earlier run of the same command."""

import os
from pathlib import Path

from plaudit.cli import options
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine import Scorer
from plaudit.errors import RolloutsError
from plaudit.rollouts import RolloutsWriter, read_rollouts

__all__ = ["retry_failed_samples"]

FAILED = (Status.ERROR, Status.TIMEOUT, Status.MEMORY)
"""What may succeed in a second attempt; skipped and unparsed samples are as the reward judged them."""


def retry_failed_samples(out: Path, scorer: Scorer) -> str:
    """Score the failed samples of OUT again and replace OUT by the result; returns what was done, as a sentence.

    OUT stays as it is until all of them are scored.
    """
    if scorer.reward.scope != "sample":
        raise RolloutsError(
            f"--retry-failed scores samples alone, and {scorer.reward.name} compares the samples of a "
            f"{scorer.reward.scope}; score them all again with --overwrite"
        )
    with RolloutsWriter(out, mode="resume"):
        pass  # cuts off a line that a killed run left unfinished
    beside = out.with_name(f"retry-{out.name}")
    failed = (rollout.trajectory for rollout in read_rollouts(out) if _has_failed(rollout.output))
    retried = scorer.score_stream(options.check_first_samples(scorer, failed))
    count = scored = 0
    try:
        with RolloutsWriter(beside, mode="new", overwrite=True) as writer:
            for rollout in read_rollouts(out):
                again = next(retried) if _has_failed(rollout.output) else None
                writer.write(again or rollout)
                count, scored = count + (again is not None), scored + (again is not None and again.output.ok)
        os.replace(beside, out)
    finally:
        beside.unlink(missing_ok=True)
    return f"retried {count:,} failed samples of {out}; {scored:,} of them are scored now"


def _has_failed(output: RewardOutput | None) -> bool:
    return output is not None and output.status in FAILED
