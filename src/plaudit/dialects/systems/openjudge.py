"""OpenJudge's graders: `await grader.aevaluate(query=…, response=…)` gives a GraderScore.

A grader's own parameters are those of `_aevaluate`, or of `aevaluate` where a class defines that itself. A GraderError
and a ranking of several responses are no score.
"""

import functools
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention, own_values
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.dialects.dialect import Dialect, ForeignReward, System, truth_as_text
from plaudit.dialects.signatures import method_parameters
from plaudit.errors import InvalidOutput

_TRUTHS = ("reference_response", "reference", "ground_truth", "reference_answer", "expected_answer", "label")


_CONVENTION = Convention(
    {
        **dict.fromkeys(("query", "question", "instruction"), attrgetter("prompt_text")),
        **dict.fromkeys(("response", "answer", "output", "completion"), attrgetter("response")),
        **dict.fromkeys(_TRUTHS, truth_as_text),
    },
    rest=own_values,
)


def openjudge_reward(foreign: Any) -> ForeignReward:
    """A reward of a grader that scores one response."""
    reward = ForeignReward(foreign, _CONVENTION, _read, call=_evaluate(foreign))
    reward.name = str(getattr(foreign, "name", None) or reward.name)
    return reward


def _evaluate(grader: Any) -> Any:
    """`aevaluate` with the parameters that the grader itself names."""
    method = getattr(grader, "_aevaluate", None) or grader.aevaluate

    @functools.wraps(method)
    async def evaluate(**values: Any) -> Any:
        return await grader.aevaluate(**values)

    named = [each for each in inspect.signature(method).parameters.values() if each.kind is not each.VAR_POSITIONAL]
    by_name = [each if each.kind is each.VAR_KEYWORD else each.replace(kind=each.KEYWORD_ONLY) for each in named]
    evaluate.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return evaluate


def _read(result: Any) -> RewardOutput:
    reason, metadata = str(getattr(result, "reason", "") or ""), dict(getattr(result, "metadata", None) or {})
    error = getattr(result, "error", None)
    if error:
        return RewardOutput.unscored(Status.ERROR, f"the grader failed: {error}", metadata=metadata)
    if hasattr(result, "rank"):
        raise InvalidOutput("the grader ranks several responses; a reward needs a score for one")
    score = as_number("the grader's score", getattr(result, "score", result))
    return RewardOutput(score, reason=reason, metadata=metadata)


def _matches(candidate: Any) -> bool:
    owner = candidate if isinstance(candidate, type) else type(candidate)
    is_grader = any(each.__name__ == "BaseGrader" for each in owner.__mro__[1:])
    return is_grader and bool(method_parameters(owner, "_aevaluate") or method_parameters(owner, "aevaluate"))


class GraderMode(StrEnum):
    """Whether a grader scores one response or ranks several."""

    POINTWISE = "pointwise"
    LISTWISE = "listwise"


@dataclass
class GraderScore:
    """The score of one response."""

    name: str
    score: float
    reason: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class GraderRank:
    """The ranks of several responses."""

    name: str
    rank: list[int]
    reason: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class GraderError:
    """The error of a grader."""

    name: str
    error: str
    reason: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


class BaseGrader(ABC):
    """A grader; a subclass defines `_aevaluate`."""

    def __init__(
        self,
        name: str = "",
        mode: Any = GraderMode.POINTWISE,
        description: str = "",
        strategy: Any = None,
        **kwargs: Any,
    ) -> None:
        self.name, self.mode, self.description, self.strategy, self.kwargs = name, mode, description, strategy, kwargs

    @abstractmethod
    async def _aevaluate(self, **kwargs: Any) -> Any:
        """The result for one response."""

    async def aevaluate(self, executor: Any = None, **kwargs: Any) -> Any:
        """The same; strategies and executors are OpenJudge's own."""
        return await self._aevaluate(**kwargs)


_SCHEMA = {
    "GraderError": GraderError, "GraderMode": GraderMode, "GraderRank": GraderRank, "GraderScore": GraderScore,
}  # fmt: skip
SYSTEM = System(
    "openjudge",
    "OpenJudge",
    dialects=(Dialect("OpenJudge grader", openjudge_reward, _matches),),
    stubs={
        "openjudge": {
            "openjudge": {},
            "openjudge.graders": {"BaseGrader": BaseGrader},
            "openjudge.graders.base_grader": {"BaseGrader": BaseGrader},
            "openjudge.graders.schema": _SCHEMA,
        }
    },
)
