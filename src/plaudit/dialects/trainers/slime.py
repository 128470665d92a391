"""slime rewards: `async fn(args, sample)` of one sample, or `(args, samples)` of a group.

They return a number, or a dict with a `score`. An exported reward takes a sample or a group; it can mask what was not
scored.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from plaudit.dialects.dialect import (
    Dialect,
    ForeignBatchReward,
    ForeignReward,
    System,
    await_result,
    parameters,
    read_result,
)
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import AsyncSampleExport, Rated
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "Sample", "SlimeExport", "SlimeGroupReward", "SlimeReward"]


@dataclass
class Sample:
    """slime's sample, as far as rewards read it."""

    prompt: Any = ""
    response: str = ""
    label: Any = None
    index: int | None = None
    tokens: list[int] = field(default_factory=list)
    response_length: int = 0
    reward: Any = None
    loss_mask: list[int] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class SlimeReward(ForeignReward):
    """A function of one sample."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        returned = self.ask(SimpleNamespace(), _sample(self.foreign, trajectory))
        return await_result(returned) if inspect.isawaitable(returned) else read_result(returned)


class SlimeGroupReward(ForeignBatchReward):
    """A function of the samples of a group."""

    scope = "group"

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        return self.ask(SimpleNamespace(), [_sample(self.foreign, each) for each in trajectories])

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return [read_result(each) for each in returned]


def _sample(foreign: Any, trajectory: Trajectory) -> Any:
    """A sample of the class that the file has imported, where slime is installed."""
    imported = getattr(foreign, "__globals__", {}).get("Sample", Sample)
    made = imported if isinstance(imported, type) else Sample
    ids = [] if trajectory.tokens is None else trajectory.tokens.ids
    return made(
        prompt=trajectory.prompt,
        response=trajectory.response,
        label=trajectory.ground_truth,
        tokens=ids,
        response_length=len(ids),
        metadata={**trajectory.columns, **trajectory.metadata},
    )


def _recognises(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == ["args", "sample"] and len(_positional(candidate)) == 2


def _recognises_group(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == ["args", "samples"] and len(_positional(candidate)) == 2


def _positional(candidate: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [name for name, each in parameters(candidate).items() if each.kind in kinds and each.default is each.empty]


class SlimeExport(AsyncSampleExport):
    """A reward for `--custom-rm-path`: a number for a sample, a list for a group (`--group-rm`).

    With `--reward-key` it gives dicts that also hold components and status.
    """

    async def __call__(self, args: Any, sample: Any, **_: Any) -> Any:
        """The reward of a sample, or those of a list of samples."""
        if not isinstance(sample, list):
            return self._result(args, sample, await self.rate_async(_trajectory(sample)))
        group = await self.rate_group([_trajectory(each) for each in sample])
        return [self._result(args, each, rated) for each, rated in zip(sample, group, strict=True)]

    def _result(self, args: Any, sample: Any, rated: Rated) -> Any:
        if not rated.output.ok and self.settings.on_unscored is OnUnscored.MASK:
            sample.remove_sample = True
        key = getattr(args, "reward_key", None)
        return {**self.details(rated.output), key: rated.number} if key else rated.number


def _trajectory(sample: Any) -> Trajectory:
    row = {**(getattr(sample, "metadata", None) or {}), "ground_truth": sample.label}
    ids = list(sample.tokens or [])[-sample.response_length :] if sample.response_length else None
    group = getattr(sample, "group_index", None)
    return trajectory_of(sample.prompt, sample.response, row, ids, group=group)


_HOME = frozenset({"slime"})
SYSTEM = System(
    name="slime",
    title="slime",
    distribution="slime",
    shape="`async fn(args, sample)`, `(args, samples)` for groups",
    dialects=(
        Dialect("slime", "slime function", _HOME, SlimeReward, recognises=_recognises),
        Dialect("slime", "slime group function", _HOME, SlimeGroupReward, recognises=_recognises_group),
    ),
    exports=(
        Export(
            SlimeExport,
            (OnUnscored.MASK, OnUnscored.MEAN, OnUnscored.RAISE),
            usage="python train.py … --custom-rm-path {module}.reward    # and --group-rm for a reward of groups",
            grouping=Grouping.CALL,
        ),
    ),
    stand_ins={"slime": {"slime.utils.types": {"Sample": Sample}}},
)
