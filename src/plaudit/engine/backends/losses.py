"""What a sample is told when the worker that was at it is lost: the same words wherever workers run."""

import signal

from plaudit.contract.output import RewardOutput, Status

__all__ = ["NOT_ITS_FAULT", "after_death", "after_deadline", "describe_death"]

NOT_ITS_FAULT = {signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
"""Signals that come from others; a sample whose worker they end is tried once more."""


def after_deadline(seconds: float | None) -> RewardOutput:
    """The output of a sample that overran its deadline."""
    reason = f"no result within the deadline of {seconds:g} s; the worker was killed"
    return RewardOutput(None, status=Status.TIMEOUT, reason=reason, latency_s=seconds)


def after_death(code: int) -> RewardOutput:
    """The output of a sample whose worker ended with this exit code; negative for a signal."""
    status = Status.MEMORY if code == -signal.SIGKILL else Status.ERROR
    return RewardOutput.unscored(status, f"the worker died: {describe_death(code)}")


def describe_death(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
