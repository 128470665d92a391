"""slime rewards: `async fn(args, sample)` of one sample, or `(args, samples)` of a group.

They return a number, or a dict with a `score`.
"""

import inspect
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, own_values
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters, read_result
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "Sample"]


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


def slime_reward(foreign: Any) -> ForeignReward:
    """A reward of a function of one sample, or of the samples of a group."""
    imported = getattr(foreign, "__globals__", {}).get("Sample")
    sample = partial(_sample, imported if isinstance(imported, type) else Sample)
    convention = Convention(
        names={"sample": sample},
        plurals={"samples": sample},
        per_call={"args": lambda trajectories: SimpleNamespace()},
        fills_columns=False,
    )
    return ForeignReward(foreign, convention, read_result, scope="group")


def _sample(made: Any, trajectory: Trajectory) -> Any:
    """A sample of slime's class, or of the class of that name that the file has imported."""
    ids = [] if trajectory.tokens is None else trajectory.tokens.ids
    return made(
        prompt=trajectory.prompt,
        response=trajectory.response,
        label=trajectory.ground_truth,
        tokens=ids,
        response_length=len(ids),
        metadata=own_values(trajectory),
    )


def _matches(candidate: Any, *, second: str) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    asked = parameters(candidate)
    required = [name for name, each in asked.items() if each.kind in kinds and each.default is each.empty]
    return list(asked)[:2] == required == ["args", second]


SYSTEM = System(
    name="slime",
    title="slime",
    distribution="slime",
    shape="`async fn(args, sample)`, `(args, samples)` for groups",
    dialects=(
        Dialect("slime function", slime_reward, partial(_matches, second="sample")),
        Dialect("slime group function", slime_reward, partial(_matches, second="samples")),
    ),
    stand_ins={"slime": {"slime.utils.types": {"Sample": Sample}}},
)
