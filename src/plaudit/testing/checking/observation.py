"""Score samples and record what the reward did: how it failed, or whether it changed its samples.

Scoring converts every failure to an output; a check has to distinguish them. It observes the calls that scoring makes.
"""

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.results import RETURNED_NONE, NotOnePerSample
from plaudit.contract.scoring import EndedCall, Progress, score_samples
from plaudit.errors import InvalidOutput
from plaudit.findings import Rule
from plaudit.trajectory import Trajectory

__all__ = ["Observation", "observe_calls"]

_LOST = {Status.TIMEOUT: Rule.DEADLINE, Status.MEMORY: Rule.TOTAL}


class Observation(NamedTuple):
    """A sample, its output, and what the reward did to bring that about."""

    trajectory: Trajectory
    output: RewardOutput
    fault: Rule | None = None
    """The rule that a failure to score this sample breaks."""
    changed: bool = False
    """Whether the reward changed the sample that it was given."""

    @property
    def returned_none(self) -> bool:
        """Whether the reward returned a bare None, as a function without `return` does."""
        return self.output.status is Status.SKIPPED and self.output.reason == RETURNED_NONE


def observe_calls(reward: Any, samples: Sequence[Trajectory], progress: Progress) -> list[Observation]:
    """Score the samples and record what the reward does."""
    calls = _Calls(samples)
    progress.observer = calls.note
    outputs = score_samples(reward, samples, progress)
    return [
        Observation(sample, output, calls.fault(index, output), index in calls.changed)
        for index, (sample, output) in enumerate(zip(samples, outputs, strict=True))
    ]


class _Calls:
    """Faults and changes by the calls of a reward, by the indices of the samples."""

    def __init__(self, samples: Sequence[Trajectory]) -> None:
        self._samples = samples
        self._faults: dict[int, Rule] = {}
        self._unscored: set[int] = set()  # places for which the reward itself returned an output without a number
        self.changed: set[int] = set()

    def note(self, call: EndedCall) -> None:
        """Record a call; parts of a reward are called one after the other for the same sample."""
        shortened = len(call.copies) != len(call.samples)
        for number, (sample, output) in enumerate(zip(call.samples, call.outputs, strict=True)):
            indices = self._indices(sample)
            if call.error is not None or output.status is Status.ERROR:
                rule = _broken_rule(call, number)
                self._faults.update((index, rule) for index in indices if index not in self._faults)
            elif not output.ok:
                self._unscored.update(indices)
            if shortened or _is_changed(sample, call.copies[number]):
                self.changed.update(indices)

    def fault(self, index: int, output: RewardOutput) -> Rule | None:
        """The rule that a sample's output breaks."""
        if output.status is Status.ERROR:
            return self._faults.get(index, Rule.TOTAL)
        if output.status in _LOST and index not in self._unscored:
            return self._faults.get(index, _LOST[output.status])
        return None

    def _indices(self, sample: Trajectory) -> list[int]:
        """The indices of a sample; a part may have received the sample with another prompt."""
        same = [index for index, each in enumerate(self._samples) if each is sample]
        return same or [index for index, each in enumerate(self._samples) if each.response == sample.response]


def _broken_rule(call: EndedCall, number: int) -> Rule:
    if isinstance(call.error, NotOnePerSample):
        return Rule.ARITY
    if call.error is not None:
        return Rule.FINITE if isinstance(call.error, InvalidOutput) else Rule.TOTAL
    value = call.values[number]
    return Rule.TOTAL if isinstance(value, RewardOutput) and value.status is Status.ERROR else Rule.FINITE


def _is_changed(before: Trajectory, after: Trajectory) -> bool:
    """Whether a sample differs from what it was: 1 differs from 1.0 and a tuple from a list; NaN equals NaN.

    `repr` alone would do, but takes most of the time of a check.
    """
    with contextlib.suppress(TypeError, ValueError, OverflowError, RecursionError):  # no plain data, or lone surrogates
        if msgspec.msgpack.encode(before) == msgspec.msgpack.encode(after) and before == after:
            return False
    return repr(before.to_dict()) != repr(after.to_dict())
