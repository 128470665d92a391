"""open-instruct's verifiers: `VerifierFunction`s of (tokenized_prediction, prediction, label, query).

A class that defines `async_call` is called by it, as the trainer does. A sample without tokens has none to pass: a
verifier that uses them fails for this sample.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.contract.binding import Convention
from plaudit.contract.output import RewardOutput, as_number
from plaudit.dialects.dialect import Dialect, ForeignReward, System, truth_as_text
from plaudit.dialects.signatures import call_parameters
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory

_SHAPE = ["tokenized_prediction", "prediction", "label"]


class _NoTokens(Sequence[int]):
    """The tokens of a sample that has none: any use raises."""

    def __len__(self) -> int:
        raise InvalidTrajectory("the verifier reads tokenized_prediction, and the sample has no tokens")

    def __getitem__(self, index: Any) -> Any:
        return len(self)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))


def _tokens(trajectory: Trajectory) -> Any:
    return _NoTokens() if trajectory.tokens is None else list(trajectory.tokens.ids)


_CONVENTION = Convention(
    {
        "tokenized_prediction": _tokens,
        "prediction": lambda trajectory: trajectory.response,
        "label": truth_as_text,
        "query": lambda trajectory: trajectory.prompt_text,
    },
    fills_columns=False,
)


def open_instruct_reward(foreign: Any) -> ForeignReward:
    """A reward of a verifier."""
    is_async = getattr(type(foreign), "async_call", None) not in (None, getattr(_base_of(foreign), "async_call", None))
    reward = ForeignReward(foreign, _CONVENTION, _read, call=foreign.async_call if is_async else None)
    reward.name = str(getattr(foreign, "name", None) or reward.name)
    return reward


def _base_of(foreign: Any) -> type | None:
    return next((each for each in type(foreign).__mro__ if each.__name__ == "VerifierFunction"), None)


def _read(result: Any) -> RewardOutput:
    """A result with a score, or a number, as earlier versions return it."""
    number = as_number("the verifier's score", getattr(result, "score", result))
    metadata = {"cost": result.cost} if getattr(result, "cost", None) else {}
    reason = str(getattr(result, "reasoning", None) or "")
    return RewardOutput(number, score=number if 0.0 <= number <= 1.0 else None, reason=reason, metadata=metadata)


def _matches(candidate: Any) -> bool:
    is_function = not isinstance(candidate, type) and hasattr(candidate, "__code__")
    return not is_function and list(call_parameters(candidate))[:3] == _SHAPE


@dataclass
class VerifierConfig:
    """Settings of a verifier."""


@dataclass
class VerificationResult:
    """The result of a verifier."""

    score: float
    cost: float = 0.0
    reasoning: str | None = None


class VerifierFunction(ABC):
    """A verifier with a name; a subclass defines `__call__`."""

    def __init__(self, name: str, weight: float = 1.0, verifier_config: Any = None) -> None:
        self.name, self.weight, self.verifier_config = name, weight, verifier_config

    @classmethod
    def get_config_class(cls) -> type:
        """The class of its settings."""
        return VerifierConfig

    @abstractmethod
    def __call__(
        self, tokenized_prediction: list[int], prediction: str, label: Any, query: str | None = None
    ) -> VerificationResult:
        """The result for one prediction."""

    async def async_call(
        self, tokenized_prediction: list[int], prediction: str, label: Any, query: str | None = None
    ) -> VerificationResult:
        """The same for callers on an event loop."""
        return self(tokenized_prediction, prediction, label, query)


SYSTEM = System(
    "open_instruct",
    "open-instruct",
    dialects=(Dialect("open-instruct verifier", open_instruct_reward, _matches),),
    stubs={
        "open_instruct": {
            "open_instruct": {},
            "open_instruct.ground_truth_utils": {
                "VerificationResult": VerificationResult,
                "VerifierConfig": VerifierConfig,
                "VerifierFunction": VerifierFunction,
            },
        }
    },
)
