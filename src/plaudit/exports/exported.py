"""A plaudit reward with the interface of another trainer: a named, picklable object that scores on the engine.

How a trainer calls it is a generator function `convert(reward, *arguments)` of an `Export`: it yields the sample or the
list of samples of a call, is sent a `SampleResult` for each, and returns what the trainer expects. Workers start with
the first call; a copy in another process starts separate workers, and they end with that process or with `close()`.
"""

import asyncio
import atexit
import inspect
import logging
import math
import threading
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from plaudit.columns import FIELDS, ColumnMapping, message_text
from plaudit.contract.output import RewardOutput, Status, finite_numbers
from plaudit.engine.scorer import Scorer
from plaudit.errors import MissingGroundTruth, ScoringFailed
from plaudit.trajectory import GroupKey, Trajectory

CALLS_AT_ONCE = 64
MOST_REASONS = 100
LOG = logging.getLogger("plaudit.exports")
Call: TypeAlias = Generator[Trajectory | list[Trajectory], Any, Any]
"""One call by a trainer: yields samples, is sent what became of them, returns the trainer's result."""


_Scoring: TypeAlias = Callable[[list[Any]], Sequence[Any]]


class OnUnscored(StrEnum):
    """The value that a trainer gets for a sample that was not scored."""

    NONE = "none"
    NAN = "nan"
    MEAN = "mean"  # the mean of the scored samples of the same group, or else of all that were scored so far
    MASK = "mask"  # that mean, and the sample is marked so that it is not trained on
    RAISE = "raise"


class SampleResult(NamedTuple):
    """The result of one sample: its output, and the number for the trainer (None only under `OnUnscored.NONE`)."""

    output: RewardOutput
    value: float | None


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """The settings of an exported reward; `components` are the names of components that its outputs may have.

    `takes_none`: the trainer leaves out a sample whose reward is None or NaN.
    """

    name: str
    convert: Callable[..., Call]
    build_scorer: Callable[[], Scorer]
    on_unscored: OnUnscored
    takes_none: bool = False
    columns: ColumnMapping = field(default_factory=ColumnMapping)
    group_size: int | None = None
    group_wait_s: float = 60.0
    components: tuple[str, ...] = ()


class ExportedReward:
    """A reward as a trainer calls it; `close()` ends its workers."""

    def __init__(self, settings: ExportSettings, identity: str | None = None) -> None:
        self.settings = settings
        self.identity = identity or uuid.uuid4().hex
        self.__name__ = self.__qualname__ = settings.name
        self._scorer: Scorer | None = None
        self._lock = threading.Lock()
        self._count, self._sum = 0, 0.0
        self._reasons: set[str] = set()
        self._log_names: tuple[str, ...] | None = None
        self._start()
        _here[self.identity] = self

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        call = self.settings.convert(self, *arguments, **keywords)
        return _finish(call, self.rate(next(call)))

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self.settings.convert)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def rate(self, samples: Trajectory | list[Trajectory]) -> Any:
        """A `SampleResult` for a sample, a list of them for a list; a single sample waits for the rest of its group."""
        if isinstance(samples, list):
            self._check_groups(samples)
            return self._rate(samples)
        if self.settings.group_size is None:
            return self._rate([samples])[0]
        return self._groups.add(samples.group_key, samples).result()

    def sample(
        self, prompt: Any, completion: Any, row: Mapping[str, Any], ids: Any = None, **fields: Any
    ) -> Trajectory:
        """The sample of one row of the data; `fields` are passed by the trainer.

        Fields are found in the row under their usual names; what the user chose with `columns` has priority.
        """
        chosen = self.settings.columns.chosen
        kept = {"ground_truth", *chosen.values()}
        text = completion if isinstance(completion, str) else "".join(map(message_text, completion))
        tokens = None if ids is None else {"ids": [int(each) for each in plain_value(ids)]}
        known = {"prompt": prompt, "response": text, "tokens": tokens, **fields}
        plain = {name: value for name, value in row.items() if name not in FIELDS or name in kept}
        plain |= {name: value for name, value in known.items() if value is not None and name not in chosen}
        return Trajectory.from_dict(plain, self.settings.columns)

    def details(self, output: RewardOutput, *, same_keys: bool = True) -> dict[str, float]:
        """Status and components of one sample as numbers.

        With `same_keys` every sample has the same names, with NaN for a missing number; otherwise missing numbers are
        left out, and numbers of the metadata are included.
        """
        parts = {name: part.reward for name, part in output.flat_components().items()}
        same = {name: parts.get(name) for name in self.settings.components}
        numbers = same if same_keys else finite_numbers(output.metadata | parts)
        statuses = {f"unscored/{status}": output.status is status for status in Status if status is not Status.OK}
        details = {**numbers, "unscored": not output.ok, **statuses}
        return {name: math.nan if value is None else float(value) for name, value in details.items()}

    def log_columns(self, rated: Sequence[SampleResult]) -> dict[str, list[float]]:
        """Details and metadata numbers with one value per sample, under the names that the first call had."""
        rows = [{**finite_numbers(each.output.metadata), **self.details(each.output)} for each in rated]
        with self._lock:
            if self._log_names is None:
                self._log_names = tuple(dict.fromkeys(name for row in rows for name in row))
            names = self._log_names
        return {name: [row.get(name, math.nan) for row in rows] for name in names}

    def close(self) -> None:
        """End the workers; the next call starts new ones."""
        with self._lock:
            scorer, self._scorer = self._scorer, None
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._start()
        if scorer is not None:
            atexit.unregister(self.close)
            scorer.close()

    def _start(self) -> None:
        size, wait_s = self.settings.group_size or 1, self.settings.group_wait_s
        self._threads = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix=self.__name__)
        self._groups = _GroupCollector(self._rate, self._give_up, self._threads, size, wait_s)

    def _rate(self, samples: list[Trajectory]) -> list[SampleResult]:
        with self._lock:
            if self._scorer is None:
                self._scorer = self.settings.build_scorer()
                atexit.register(self.close)
            scorer = self._scorer
        return self._judge(samples, scorer.score(samples))

    def _give_up(self, samples: list[Trajectory]) -> list[SampleResult]:
        reason = (
            f"{self.__name__} needs whole groups of {self.settings.group_size}, and {len(samples)} samples of this one "
            f"reached this process within {self.settings.group_wait_s:g} s: let one process score, or give "
            "group_wait_s="
        )
        return self._judge(samples, [RewardOutput.unscored(Status.SKIPPED, reason)] * len(samples))

    def _judge(self, samples: list[Trajectory], outputs: list[RewardOutput]) -> list[SampleResult]:
        """The outputs with the numbers for the trainer: those of the policy for samples that were not scored."""
        failed = [output for output in outputs if output.reward is None]
        groups: dict[GroupKey, list[float]] = {}
        for sample, output in zip(samples, outputs, strict=True):
            if output.reward is not None:
                groups.setdefault(sample.group_key, []).append(output.reward)
        with self._lock:
            self._count += len(outputs) - len(failed)
            self._sum += sum(map(sum, groups.values()))
        self._report(samples, outputs)
        if failed and self.settings.on_unscored is OnUnscored.RAISE:
            raise ScoringFailed(f"{len(failed)} of {len(outputs)} samples were not scored: {failed[0].reason}")
        results = []
        for sample, output in zip(samples, outputs, strict=True):
            value = output.reward if output.ok else self._instead(groups.get(sample.group_key, []), output)
            results.append(SampleResult(output, value))
        return results

    def _instead(self, of_group: list[float], output: RewardOutput) -> float | None:
        if self.settings.on_unscored is OnUnscored.NONE:
            return None
        if self.settings.on_unscored is OnUnscored.NAN:
            return math.nan
        if of_group:
            return sum(of_group) / len(of_group)
        if self.settings.takes_none:
            return math.nan
        if self._count:
            return self._sum / self._count
        self._report_once(
            "0.0",
            f"{self.__name__} gives 0.0 for samples that are not scored until it has scored one, since the trainer "
            f"cannot leave them out: {output.reason}",
        )
        return 0.0

    def _report(self, samples: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> None:
        """Report each distinct reason once, to the log and as a warning."""
        for index, (sample, output) in enumerate(zip(samples, outputs, strict=True)):
            if output.ok or output.reason in self._reasons:
                continue
            self._report_once(
                output.reason,
                f"{self.__name__}: {sample.label(index)} with the prompt {sample.prompt_text!r:.60} was not scored "
                f"({output.status.value}): {output.reason}{_remedy(sample, output)}; this reason is reported once",
            )

    def _report_once(self, reason: str, message: str) -> None:
        with self._lock:
            if reason in self._reasons or len(self._reasons) == MOST_REASONS:
                return
            self._reasons.add(reason)
        LOG.warning(message)
        warnings.warn(message, stacklevel=2)

    def _check_groups(self, samples: Sequence[Trajectory]) -> None:
        """Raise ScoringFailed if a group that is to be scored whole was cut."""
        size = self.settings.group_size
        counts = Counter(sample.group_key for sample in samples) if size is not None else {}
        cut = next((key for key, count in counts.items() if count % (size or 1)), None)
        if cut is not None:
            raise ScoringFailed(
                f"{self.__name__} needs whole groups of {size}, and the trainer gave {counts[cut]} samples of the "
                f"prompt {cut!r:.60}: make the batch of a process a multiple of the group size"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Trainers that pickle a reward with every call get the same object in a process each time."""
        return _arrive, (type(self), self.settings, self.identity)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__})"


class AsyncExportedReward(ExportedReward):
    """The same for a trainer that awaits its rewards; `inspect.iscoroutinefunction` is true of it.

    Trainers ask that before they call; up to Python 3.11 it needs an object with the attributes of a function.
    """

    __defaults__ = None
    __kwdefaults__ = None

    async def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        call = self.settings.convert(self, *arguments, **keywords)
        return _finish(call, await self._rate_async(next(call)))

    @property
    def __code__(self) -> CodeType:
        return AsyncExportedReward.__call__.__code__

    async def _rate_async(self, samples: Trajectory | list[Trajectory]) -> Any:
        if isinstance(samples, Trajectory) and self.settings.group_size is not None:
            return await asyncio.wrap_future(self._groups.add(samples.group_key, samples))
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.rate, samples)


class _GroupCollector:
    """Puts single samples together: calls `score` with groups of `size` samples.

    A group that is not complete within `wait_s` goes to `give_up`: its samples are unscored.
    """

    def __init__(self, score: _Scoring, give_up: _Scoring, executor: Executor, size: int, wait_s: float) -> None:
        self._score, self._give_up, self._executor = score, give_up, executor
        self._size, self._wait_s = size, wait_s
        self._groups: dict[Hashable, list[tuple[Any, Future[Any]]]] = {}
        self._lock = threading.Lock()

    def add(self, key: Hashable, sample: Any) -> "Future[Any]":
        """The future result of a sample; the last sample of a group starts its scoring."""
        future: Future[Any] = Future()
        with self._lock:
            group = self._groups.setdefault(key, [])
            group.append((sample, future))
            if len(group) == self._size:
                del self._groups[key]
                self._executor.submit(_complete, self._score, group)
            elif len(group) == 1:
                timer = threading.Timer(self._wait_s, self._expire, (key, group))
                timer.daemon = True
                timer.start()
        return future

    def _expire(self, key: Hashable, group: "list[tuple[Any, Future[Any]]]") -> None:
        with self._lock:
            if self._groups.get(key) is group:
                del self._groups[key]
                self._executor.submit(_complete, self._give_up, group)


def _complete(score: _Scoring, group: "list[tuple[Any, Future[Any]]]") -> None:
    try:
        results = score([sample for sample, _ in group])
    except BaseException as error:  # noqa: BLE001 - it is raised wherever a sample of the group is waited for
        for _, future in group:
            future.set_exception(error)
    else:
        for (_, future), result in zip(group, results, strict=True):
            future.set_result(result)


_here: weakref.WeakValueDictionary[str, ExportedReward] = weakref.WeakValueDictionary()


def _arrive(kind: type[ExportedReward], settings: ExportSettings, identity: str) -> ExportedReward:
    known = _here.get(identity)
    return kind(settings, identity) if known is None else known


def _finish(call: Call, rated: Any) -> Any:
    try:
        call.send(rated)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a call yields its samples once")


def plain_value(value: Any) -> Any:
    """An array, or an element of one, as a list or a number."""
    return value.tolist() if hasattr(value, "tolist") else value


def _remedy(sample: Trajectory, output: RewardOutput) -> str:
    """A hint how to map a column, if the sample has no ground truth and this may be the reason."""
    if sample.ground_truth is not None or not sample.columns or output.status in (Status.TIMEOUT, Status.MEMORY):
        return ""
    guess = next(iter(sample.columns)) if len(sample.columns) == 1 else "COLUMN"
    missing = "" if output.status is Status.SKIPPED else f"; {MissingGroundTruth.among(sample.columns)}"
    return (
        f"{missing}; if the reward needs one, map the column that holds it: columns={{'ground_truth': '{guess}'}} "
        f"(plaudit export -c ground_truth={guess})"
    )
