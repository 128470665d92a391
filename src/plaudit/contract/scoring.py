"""The scoring path: bind, await, check, output. Every reward is scored here, wherever that happens.

A *call* is one invocation of a user's function: of one sample, or of a batch for functions written for batches. Every
call gets its own copies of its samples, and whatever it returns or raises leaves as one checked `RewardOutput` per
sample. Rewards made of rewards call nothing themselves: their parts are scored first, each at its own scope, and their
`merge` is pure arithmetic on the outputs.
"""

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, get_args

from plaudit.contract.failures import describe_failure, pass_nothing_on, passed_on
from plaudit.contract.isolation import ProcessState, call_in_context, own_copy
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import as_output, read_batch
from plaudit.errors import InvalidSettings
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = [
    "Call", "EndedCall", "Observer", "Progress", "Style", "calls_one_sample", "check_declared", "invoke_batch",
    "needs_loop", "paired_method", "pass_nothing_on", "score_one", "score_samples", "scope_of",
]  # fmt: skip

Outputs = list[RewardOutput]
Finish = Callable[[], Outputs]
Row = list[tuple[Any, Any]]
_clock = time.perf_counter


class Style(enum.Enum):
    """The call convention of a reward."""

    SAMPLE = "compute_reward(trajectory)"
    BATCH = "compute_rewards(trajectories)"
    PAIRED = "__call__(trajectories, ground_truths)"
    COMPOUND = "merge(trajectories, outputs of parts)"


_COMPOUND, _SAMPLE = Style.COMPOUND, Style.SAMPLE  # to look up a member of an enum costs as much as a quick function


class Call(NamedTuple):
    """One invocation in a unit: the part that is called (indexes from the root), its first sample, how many samples."""

    path: tuple[int, ...]
    first: int
    size: int = 1
    is_async: bool = False


class EndedCall(NamedTuple):
    """The result of a call: values, or the error it raised; `copies` are its samples, which it may have changed."""

    samples: Sequence[Trajectory]
    copies: Sequence[Trajectory]
    values: Any
    error: BaseException | None
    outputs: Outputs


Observer = Callable[[EndedCall], None]
"""Called with every call that has ended, in the thread in which it ended."""


class Progress:
    """The options and observers of the calls of a unit. Process settings that a call changed are reset to `state`."""

    deadline_s: float | None = None
    """How long an async call may take, times its samples; sync calls cannot be interrupted from inside."""
    one_at_a_time = False
    """Whether no call starts before the one before it has ended, also if they are async."""
    failed: Mapping[int, RewardOutput] = {}
    """Samples that arrived damaged: their output, for every call that would need them."""

    def __init__(self, observer: Observer | None = None, state: ProcessState | None = None) -> None:
        self.observer, self.state = observer, state or ProcessState()

    def known(self, call: Call) -> Outputs | None:
        """The outputs of a call that was made before, on a worker that was lost."""
        return None

    def started(self, call: Call) -> None:
        """The call begins now."""

    def ended(self, call: Call, outputs: Outputs) -> None:
        """The call has these outputs."""


def score_samples(reward: Any, trajectories: Sequence[Trajectory], progress: Progress | None = None) -> Outputs:
    """One output per trajectory, in order; never raises because of a reward."""
    if progress is None:
        progress = Progress()
    if calls_one_sample(reward) and not needs_loop(reward) and type(progress) is Progress:  # nothing is reported
        return [score_one(reward, trajectory, progress) for trajectory in trajectories]
    return _Unit(trajectories, progress).begin(reward, range(len(trajectories)), ())()


def score_one(reward: Any, trajectory: Trajectory, progress: Progress) -> RewardOutput:
    """The output of one sample, for rewards that are called with single samples and need no event loop.

    Every sample passes through here, so this avoids calls to keep the overhead low.
    """
    if reward.call_style is _COMPOUND:
        row = _row(reward, trajectory)
        if isinstance(row, RewardOutput):
            return row
        outputs = [None if sample is None else score_one(part, sample, progress) for part, sample in row]
        return _merge_one(reward, trajectory, outputs)
    copy, value, error, observer, pure = trajectory, None, None, progress.observer, reward.pure
    began = _clock()
    try:
        try:
            if pure:
                value = reward.compute_reward(trajectory)
            else:
                copy = own_copy(trajectory)
                value = call_in_context(reward.compute_reward, copy)
            if type(value) is float and isfinite(value):
                output = RewardOutput(value, latency_s=_clock() - began)
            else:
                output = as_output(value, trajectory, _clock() - began, pure)
        finally:
            if not pure:
                progress.state.restore()
    except passed_on():
        raise
    except BaseException as raised:
        output = describe_failure(reward.name, raised, _clock() - began)
        error = raised if observer is not None else None  # an error that is kept keeps its frames alive
    if observer is not None:
        observer(EndedCall([trajectory], [copy], [value], error, [output]))
    return output


def calls_one_sample(reward: Any) -> bool:
    """Whether every function within the reward is called with single samples."""
    if reward.call_style is not _COMPOUND:
        return reward.call_style is _SAMPLE
    return reward.merge_scope == "sample" and all(map(calls_one_sample, reward.parts))


def needs_loop(reward: Any) -> bool:
    """Whether a function within the reward is async."""
    return any(map(needs_loop, reward.parts)) if reward.call_style is _COMPOUND else bool(reward.is_async)


def check_declared(reward: Any) -> None:
    """Raise InvalidSettings if a reward declares a scope, a `max_batch` or a `concurrency` that cannot be."""
    if reward.scope not in get_args(Scope):
        raise InvalidSettings(f"{reward.name}: scope is one of {', '.join(get_args(Scope))}; got {reward.scope!r}")
    limits = {"concurrency": reward.concurrency, "max_batch": 1 if reward.max_batch is None else reward.max_batch}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidSettings(f"{reward.name}: {name} is a whole number of at least 1, got {value!r}")


def scope_of(reward: Any) -> Scope:
    """The samples that must be scored together, so that every function within the reward sees its whole scope.

    A function written for batches sees everything unless it declares `max_batch`, or looks at groups.
    """
    if reward.call_style is _COMPOUND:
        return widest([reward.merge_scope, *map(scope_of, reward.parts)])
    check_declared(reward)
    if reward.call_style is _SAMPLE or (reward.max_batch is not None and reward.scope == "sample"):
        return "sample"
    return "group" if reward.scope == "group" else "batch"


def widest(scopes: Sequence[Scope]) -> Scope:
    """The scope that contains all others."""
    order: tuple[Scope, ...] = ("batch", "group", "sample")
    return min(scopes, key=order.index)


class _Unit:
    """Samples on their way through a reward. `begin` starts async calls; what it returns makes the others and waits."""

    def __init__(self, trajectories: Sequence[Trajectory], progress: Progress) -> None:
        self._samples, self._progress = trajectories, progress

    def begin(self, reward: Any, indexes: Sequence[int], path: tuple[int, ...]) -> Finish:
        if reward.call_style is _COMPOUND and not (calls_one_sample(reward) and not needs_loop(reward)):
            return self._begin_parts(reward, indexes, path)
        if reward.call_style is not _COMPOUND and reward.is_async:
            return self._begin_async(reward, indexes, path)
        if calls_one_sample(reward):
            return lambda: [self._call(reward, [index], path)[0] for index in indexes]
        return lambda: self._in_order(
            indexes, [(batch, self._call(reward, batch, path)) for batch in self._batches(reward, indexes)]
        )

    def _begin_parts(self, reward: Any, indexes: Sequence[int], path: tuple[int, ...]) -> Finish:
        prepared = [_row(reward, self._samples[index]) for index in indexes]
        failed = {position: row for position, row in enumerate(prepared) if isinstance(row, RewardOutput)}
        no_part: Row = [(part, None) for part in reward.parts]
        part_rows = [no_part if isinstance(row, RewardOutput) else row for row in prepared]
        finishers: list[tuple[list[int], Finish]] = []
        for number, part in enumerate(reward.parts):
            concerned = [position for position, row in enumerate(part_rows) if row[number][1] is not None]
            unit, at = self, [indexes[position] for position in concerned]
            part_samples = [part_rows[position][number][1] for position in concerned]
            if any(sample is not self._samples[index] for index, sample in zip(at, part_samples, strict=True)):
                samples = list(self._samples)
                for index, sample in zip(at, part_samples, strict=True):
                    samples[index] = sample
                unit = _Unit(samples, self._progress)
            finishers.append((concerned, unit.begin(part, at, (*path, number))))

        def finish() -> Outputs:
            rows: list[list[RewardOutput | None]] = [[None] * len(finishers) for _ in indexes]
            for number, (concerned, end) in enumerate(finishers):
                for position, output in zip(concerned, end(), strict=True):
                    rows[position][number] = output
            merged = _merge(reward, [self._samples[index] for index in indexes], rows)
            return [failed.get(position, output) for position, output in enumerate(merged)]

        return finish

    def _begin_async(self, reward: Any, indexes: Sequence[int], path: tuple[int, ...]) -> Finish:
        from plaudit.contract.event_loop import AsyncCalls  # noqa: PLC0415 - asyncio takes long to import

        single = reward.call_style is _SAMPLE
        batches = [[index] for index in indexes] if single else self._batches(reward, indexes)
        calls = [(Call(path, batch[0], len(batch), True), self._given(batch)) for batch in batches]
        start = AsyncCalls(reward, self._progress).start
        waiting = None if self._progress.one_at_a_time else start(calls)

        def finish() -> Outputs:
            outputs = (waiting or start(calls))()
            return self._in_order(indexes, list(zip(batches, outputs, strict=True)))

        return finish

    def _call(self, reward: Any, batch: Sequence[int], path: tuple[int, ...]) -> Outputs:
        """Call a sync function for some samples, or what was made of sync functions for one."""
        progress, call = self._progress, Call(path, batch[0], len(batch))
        outputs = progress.known(call)
        if outputs is not None:
            return outputs
        samples = self._given(batch)
        progress.started(call)
        if isinstance(samples, RewardOutput):
            outputs = [samples] * len(batch)
        elif calls_one_sample(reward):
            outputs = [score_one(reward, samples[0], progress)]
        else:
            outputs = _call_batch(reward, samples, progress)
        progress.ended(call, outputs)
        return outputs

    def _given(self, batch: Sequence[int]) -> list[Trajectory] | RewardOutput:
        """The samples of a call, or the failure of one of them, which no call can do without."""
        failed = self._progress.failed
        damaged = next((failed[index] for index in batch if index in failed), None) if failed else None
        return [self._samples[index] for index in batch] if damaged is None else damaged

    def _batches(self, reward: Any, indexes: Sequence[int]) -> list[list[int]]:
        """The indexes of the samples that are given to one call of a function written for batches."""
        check_declared(reward)
        if reward.scope == "group":
            return _together("group", self._samples, indexes)
        size = reward.max_batch or len(indexes)
        return [list(indexes[first : first + size]) for first in range(0, len(indexes), size or 1)]

    @staticmethod
    def _in_order(indexes: Sequence[int], batches: Sequence[tuple[Sequence[int], Outputs]]) -> Outputs:
        by_index = {index: output for batch, outputs in batches for index, output in zip(batch, outputs, strict=True)}
        return [by_index[index] for index in indexes]


def paired_method(reward: Any) -> Callable[..., Any]:
    """The `__call__` that the class of a paired reward defines; to call the reward would score it again."""
    method: Callable[..., Any] = type(reward).__call__.__wrapped__  # type: ignore[attr-defined]  # see RewardFunction
    return method


def invoke_batch(reward: Any, batch: list[Trajectory]) -> Any:
    """Call a function written for batches; what it returns may have to be awaited."""
    if reward.call_style is Style.PAIRED:
        return paired_method(reward)(reward, batch, [sample.ground_truth for sample in batch])
    return reward.compute_rewards(batch)


def _call_batch(reward: Any, samples: Sequence[Trajectory], progress: Progress) -> Outputs:
    copies, values, error, observer, pure = list(samples), None, None, progress.observer, reward.pure
    began = _clock()
    try:
        try:
            if pure:
                values = invoke_batch(reward, copies)
            else:
                copies = list(map(own_copy, samples))
                values = call_in_context(invoke_batch, reward, copies)
            outputs = read_batch(reward.name, values, samples, _clock() - began, pure)
        finally:
            if not pure:
                progress.state.restore()
    except passed_on():
        raise
    except BaseException as raised:
        outputs = [describe_failure(reward.name, raised, _clock() - began)] * len(samples)
        error = raised if observer is not None else None
    if observer is not None:
        observer(EndedCall(samples, copies, values, error, outputs))
    return outputs


def _row(reward: Any, trajectory: Trajectory) -> Row | RewardOutput:
    """Each part with the sample it gets, or the failure of a reward that makes other samples for its parts."""
    try:
        return list(reward.samples_for(trajectory))
    except Exception as error:  # a chat template may refuse a prompt
        return describe_failure(reward.name, error)


def _merge(reward: Any, trajectories: Sequence[Trajectory], rows: Sequence[Sequence[RewardOutput | None]]) -> Outputs:
    if reward.merge_scope == "sample":
        return [_merge_one(reward, *pair) for pair in zip(trajectories, rows, strict=True)]
    outputs: dict[int, RewardOutput] = {}
    for members in _together(reward.merge_scope, trajectories, range(len(trajectories))):
        try:
            merged = reward.merge([trajectories[index] for index in members], [rows[index] for index in members])
        except Exception as error:
            merged = [describe_failure(reward.name, error)] * len(members)
        outputs.update(zip(members, merged, strict=True))
    return [outputs[index] for index in range(len(trajectories))]


def _together(scope: Scope, trajectories: Sequence[Trajectory], indexes: Sequence[int]) -> list[list[int]]:
    """The indexes of samples that are scored or merged together: of each group, or all."""
    groups: dict[Any, list[int]] = {}
    for index in indexes:
        groups.setdefault(trajectories[index].group_key if scope == "group" else None, []).append(index)
    return list(groups.values())


def _merge_one(reward: Any, trajectory: Trajectory, outputs: Sequence[RewardOutput | None]) -> RewardOutput:
    try:
        merged: RewardOutput = reward.merge_one(trajectory, outputs)
    except Exception as error:
        return describe_failure(reward.name, error)
    return merged
