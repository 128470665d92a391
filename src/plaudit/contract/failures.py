"""Outputs for samples whose call failed."""

import inspect
import os
import time
import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory, MissingGroundTruth, PlauditError

MAX_REASON = 500
_passed_on: tuple[type[BaseException], ...] = (KeyboardInterrupt,)


def passed_on() -> tuple[type[BaseException], ...]:
    """The exceptions that end scoring instead of becoming a status: the user's Ctrl-C, in the user's own process."""
    return _passed_on


def pass_nothing_on() -> None:
    """Make every exception a status, in a worker process."""
    global _passed_on
    _passed_on = ()


class DescribedFailure(Exception):
    """A failure that became an output where it happened, in another process."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


def describe_failure(name: str, error: BaseException, seconds: float | None = None) -> RewardOutput:
    """The output of a sample whose call raised.

    The exception is known by its type: its methods and attributes are the user's code and may raise anything.
    """
    kind, where = type(error), ""
    if issubclass(kind, PlauditError):  # its text says what is wrong and what to do
        reason = f"{name}: {_text(lambda: str(error))}"
    else:
        reason = f"{name} raised {_text(lambda: kind.__name__)}: {_text(lambda: str(error))}"
        where = _text(lambda: _place(error), "")[:MAX_REASON]
    reason = reason[: MAX_REASON - len(where)] + where
    return RewardOutput(None, status=_status(kind), reason=reason, latency_s=seconds)


def _place(error: BaseException) -> str:
    """Where an exception was raised, the remedy if one is known, and its notes."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    return f" (at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}){_remedy(error)}{notes}"


def describe_unusable(error: InvalidTrajectory) -> RewardOutput:
    """The output of a sample whose data cannot be used: skipped where it has no ground truth, else unparsed."""
    status = Status.SKIPPED if isinstance(error, MissingGroundTruth) else Status.UNPARSED
    return RewardOutput.unscored(status, str(error))


def _status(kind: type[BaseException]) -> Status:
    if issubclass(kind, MissingGroundTruth):
        return Status.SKIPPED
    return Status.MEMORY if issubclass(kind, MemoryError) else Status.ERROR


async def attempt(name: str, call: Callable[[], Any]) -> Any:
    """The return value of a call, awaited if needed; if it raises, an output with a status and the reason."""
    began = time.perf_counter()
    try:
        value = call()
        return await value if inspect.isawaitable(value) else value
    except DescribedFailure as failure:
        return failure.output
    except (Exception, SystemExit) as error:
        return describe_failure(name, error, time.perf_counter() - began)


def timed_out(seconds: float, how: str) -> RewardOutput:
    """The output of a sample that overran its deadline; `how` describes the end of its call."""
    reason = f"no result within the deadline of {seconds:g} s; {how}"
    return RewardOutput(None, status=Status.TIMEOUT, reason=reason, latency_s=seconds)


def _remedy(error: BaseException) -> str:
    """The remedy for a path that exists only on the author's machine."""
    name = error.filename if issubclass(type(error), FileNotFoundError) else None  # type: ignore[attr-defined]
    folder = os.path.dirname(str(name)) if name else ""
    if not folder or os.path.isdir(folder):
        return ""
    return f"; there is no folder {folder} on this machine: make it, or change the path in the reward's file"


def _text(text: Callable[[], str], instead: str = "(no message)") -> str:
    """A part of the reason, or what stands `instead` of it."""
    try:
        return text()
    except BaseException:
        return instead
