"""slime rewards: `async fn(args, sample)` of one sample, or `(args, samples)` of a group.

They return a number, or a dict with a `score`.
"""

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignBatchReward, ForeignReward, parameters
from plaudit.dialects.standins import Packages
from plaudit.errors import InvalidOutput
from plaudit.trajectory import Trajectory

__all__ = ["DIALECTS", "STAND_INS", "Sample", "SlimeGroupReward", "SlimeReward"]


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
        return _await_output(returned) if inspect.isawaitable(returned) else _read(returned)


class SlimeGroupReward(ForeignBatchReward):
    """A function of the samples of a group."""

    scope = "group"

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        return self.ask(SimpleNamespace(), [_sample(self.foreign, each) for each in trajectories])

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return [_read(each) for each in returned]


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


async def _await_output(returned: Awaitable[Any]) -> Any:
    return _read(await returned)


def _read(returned: Any) -> Any:
    if not isinstance(returned, Mapping):
        return returned
    if returned.get("score") is None:
        raise InvalidOutput(f"it returned no 'score' but {', '.join(map(str, returned)) or 'nothing'}")
    return RewardOutput(
        returned["score"], metadata={str(key): each for key, each in returned.items() if key != "score"}
    )


def _recognises(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == ["args", "sample"] and len(_positional(candidate)) == 2


def _recognises_group(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == ["args", "samples"] and len(_positional(candidate)) == 2


def _positional(candidate: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [name for name, each in parameters(candidate).items() if each.kind in kinds and each.default is each.empty]


_HOME = frozenset({"slime"})
DIALECTS = (
    Dialect("slime", "slime function", _HOME, SlimeReward, recognises=_recognises),
    Dialect("slime", "slime group function", _HOME, SlimeGroupReward, recognises=_recognises_group),
)
STAND_INS: Packages = {"slime": {"slime.utils.types": {"Sample": Sample}}}
