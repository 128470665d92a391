"""A reward of ours as another trainer calls it: an object with a name that can be pickled and scores on the engine.

It is given what builds a scorer, so nothing here knows the engine. Workers start with the first call and do not travel:
a copy in another process starts its own, and they end with that process or with `close()`.
"""

import atexit
import math
import threading
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from plaudit.columns import our_name
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import ScoringFailed
from plaudit.trajectory import Tokens, Trajectory, message_text

__all__ = [
    "Export", "ExportSettings", "ExportedReward", "Grouping", "OnUnscored", "SupportsScore", "logs_of",
    "plain_value", "trajectory_of",
]  # fmt: skip


class SupportsScore(Protocol):
    """What scores: an engine's scorer."""

    def score(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]: ...
    def close(self) -> None: ...


class OnUnscored(StrEnum):
    """What a trainer is given for a sample that was not scored."""

    NONE = "none"
    NAN = "nan"
    MEAN = "mean"  # the mean of what was scored of the same group, or else of all that was scored so far
    MASK = "mask"  # that mean, and the sample is marked so that it is not trained on
    RAISE = "raise"


class Grouping(StrEnum):
    """How the samples of a group reach an exported reward."""

    CALL = "in one call"
    COLLECTED = "collected"  # one sample a call, in one process: they wait for each other
    NEVER = "never together"


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What an exported reward is made with; `components` are the names that every output of the reward may have."""

    name: str
    build_scorer: Callable[[], SupportsScore]
    on_unscored: OnUnscored
    group_size: int | None = None
    group_wait_s: float = 60.0
    components: tuple[str, ...] = ()


class ExportedReward:
    """The base of exported rewards; `close()` ends its workers."""

    takes_nan = False
    """Whether the trainer leaves out a sample whose reward is NaN."""

    def __init__(self, settings: ExportSettings, identity: str | None = None) -> None:
        self.settings = settings
        self.identity = identity or uuid.uuid4().hex
        self.__name__ = self.__qualname__ = settings.name
        self._scorer: SupportsScore | None = None
        self._lock = threading.Lock()
        self._count, self._sum = 0, 0.0
        _here[self.identity] = self

    def score(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs, in order."""
        with self._lock:
            if self._scorer is None:
                self._scorer = self.settings.build_scorer()
                atexit.register(self.close)
            scorer = self._scorer
        outputs = scorer.score(trajectories)
        with self._lock:
            for output in outputs:
                if output.reward is not None:
                    self._count, self._sum = self._count + 1, self._sum + output.reward
        return outputs

    def values(self, trajectories: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> list[float | None]:
        """The number of each sample, and what the policy says where there is none."""
        failed = [output for output in outputs if output.reward is None]
        policy = self.settings.on_unscored
        if failed and policy is OnUnscored.RAISE:
            raise ScoringFailed(f"{len(failed)} of {len(outputs)} samples were not scored: {failed[0].reason}")
        if not failed or policy is OnUnscored.NONE:
            return [output.reward for output in outputs]
        groups: dict[Any, list[float]] = {}
        for trajectory, output in zip(trajectories, outputs, strict=True):
            if output.reward is not None:
                groups.setdefault(trajectory.group_key, []).append(output.reward)
        return [
            self._instead(groups.get(trajectory.group_key, []), output) if output.reward is None else output.reward
            for trajectory, output in zip(trajectories, outputs, strict=True)
        ]

    def numbers(self, trajectories: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> list[float]:
        """`values` for trainers that take nothing but numbers."""
        return [math.nan if value is None else value for value in self.values(trajectories, outputs)]

    def check_groups(self, trajectories: Sequence[Trajectory], remedy: str) -> None:
        """Raise ScoringFailed where a group that is to be scored whole was cut."""
        size = self.settings.group_size
        if size is None:
            return
        counts = Counter(trajectory.group_key for trajectory in trajectories)
        cut = next((key for key, count in counts.items() if count % size), None)
        if cut is not None:
            raise ScoringFailed(
                f"{self.__name__} needs whole groups of {size}, and the trainer gave {counts[cut]} samples of the "
                f"prompt {str(cut)!r:.60}: {remedy}"
            )

    def details(self, output: RewardOutput) -> dict[str, float]:
        """Components and status of one sample, under the same keys for every sample; NaN where there is no number."""
        parts = output.flat_components()
        known = {name: parts[name].reward if name in parts else None for name in self.settings.components}
        return {
            "unscored": float(not output.ok),
            **{f"unscored/{status}": float(output.status is status) for status in Status if status is not Status.OK},
            **{name: math.nan if value is None else value for name, value in known.items()},
        }

    def close(self) -> None:
        """End the workers; the next call starts new ones."""
        with self._lock:
            scorer, self._scorer = self._scorer, None
        if scorer is not None:
            atexit.unregister(self.close)
            scorer.close()

    def _instead(self, of_group: list[float], output: RewardOutput) -> float:
        if self.settings.on_unscored is OnUnscored.NAN:
            return math.nan
        if of_group:
            return sum(of_group) / len(of_group)
        if self.takes_nan:
            return math.nan
        with self._lock:
            known = self._sum / self._count if self._count else None
        if known is None:
            warnings.warn(
                f"{self.__name__} gives 0.0 for a sample that was not scored, since it has scored none yet and "
                f"the trainer cannot leave one out: {output.reason}",
                stacklevel=2,
            )
        return known or 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel light, and arrive once: trainers that pickle a reward with every call meet the same object again."""
        return _arrive, (type(self), self.settings, self.identity)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__})"


_here: weakref.WeakValueDictionary[str, ExportedReward] = weakref.WeakValueDictionary()


def _arrive(kind: type[ExportedReward], settings: ExportSettings, identity: str) -> ExportedReward:
    known = _here.get(identity)
    return kind(settings, identity) if known is None else known


@dataclass(frozen=True, slots=True)
class Export:
    """How our rewards follow a foreign convention: the class, the policies it can follow (the safe one first), and the
    lines that use it, in which `{argument}` is the file as a shell takes it. `form` tells several of one system apart;
    in a shim the reward is called `entry`, and `imports` and `setup` stand before and after it.
    """

    reward: Callable[[ExportSettings], ExportedReward]
    policies: tuple[OnUnscored, ...]
    usage: str
    grouping: Grouping = Grouping.CALL
    form: str = ""
    entry: str = "reward"
    imports: str = ""
    setup: str = ""


def trajectory_of(
    prompt: Any, completion: Any, row: Mapping[str, Any], ids: Iterable[Any] | None = None, **fields: Any
) -> Trajectory:
    """The sample of one row; the ground truth under whatever usual name it has."""
    text = completion if isinstance(completion, str) else "".join(message_text(message) for message in completion)
    known = {ours: row[name] for name in row if (ours := our_name(name)) in ("ground_truth", "task")}
    return Trajectory(
        prompt,
        text,
        ground_truth=row.get("ground_truth", known.get("ground_truth")),
        task=known.get("task"),
        tokens=None if ids is None else Tokens(ids=_whole_numbers(ids)),
        columns={name: value for name, value in row.items() if name not in Trajectory.FIELDS},
        **fields,
    )


def _whole_numbers(ids: Iterable[Any]) -> list[int]:
    """Token ids as a list of ints, which they mostly are already; a trainer does not mix kinds."""
    listed = list(plain_value(ids))
    return listed if listed and type(listed[0]) is int else list(map(int, listed))


def plain_value(value: Any) -> Any:
    """A number or list where a trainer has an array or an element of one."""
    return value.tolist() if hasattr(value, "tolist") else value


def logs_of(outputs: Sequence[RewardOutput]) -> dict[str, float]:
    """What a trainer's log shows of a batch: shares of statuses, means of components and of numbers in the metadata."""
    logs = {"unscored": sum(not output.ok for output in outputs) / len(outputs)}
    for status in {output.status for output in outputs} - {Status.OK}:
        logs[f"unscored/{status}"] = sum(output.status is status for output in outputs) / len(outputs)
    columns: dict[str, list[float]] = {}
    for output in outputs:
        parts = {name: part.reward for name, part in output.flat_components().items()}
        for name, value in {**output.metadata, **parts}.items():
            if isinstance(value, int | float) and math.isfinite(value):
                columns.setdefault(str(name), []).append(float(value))
    return {**logs, **{name: sum(values) / len(values) for name, values in columns.items()}}
