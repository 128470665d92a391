"""The output of a reward for one sample, checked when it is built.

`reward` feeds the advantage and may be any finite number; `score` in [0, 1] says how right the outcome was, and stays
None for rewards that judge something else (length, style). An output that is not `ok` has neither: a failure is never
a number.
"""

import enum
from collections.abc import Mapping
from math import isfinite
from sys import float_info
from typing import Any, Literal, SupportsFloat, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from plaudit.errors import InvalidOutput
from plaudit.jsonline import as_plain
from plaudit.markup import html_table

TokenUnit: TypeAlias = Literal["word", "token"]


class Status(enum.StrEnum):
    """Whether a sample was scored, and if not, why."""

    OK = "ok"
    UNPARSED = "unparsed"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    SKIPPED = "skipped"


_OK = Status.OK  # to look up a member of an enum costs as much as making an output


class RewardOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reward of one sample, with everything needed to understand it later.

    `components` are outputs too; a number given there becomes `RewardOutput(number)`.
    `token_rewards` has one number per word of the response (`response.split()`), or per tokenizer token where
    `token_unit` says so.
    """

    reward: float | None
    token_rewards: list[float] | None = None
    metadata: dict[str, Any] = {}
    score: float | None = None
    status: Status = Status.OK
    reason: str = ""
    components: dict[str, "RewardOutput"] = {}
    token_unit: TokenUnit = "word"
    latency_s: float | None = None

    def __post_init__(self) -> None:
        if type(self.reward) is not float or self.status is not _OK or not isfinite(self.reward):
            self._check_reward()
        if self.score is not None and not (type(self.score) is float and 0.0 <= self.score <= 1.0):
            force_setattr(self, "score", _checked_score(self.score))
        if self.components:
            self._check_components()
        if self.token_rewards is not None:
            force_setattr(self, "token_rewards", _numbers("token_rewards", self.token_rewards))
        if type(self.latency_s) is not float and self.latency_s is not None:
            force_setattr(self, "latency_s", as_number("latency_s", self.latency_s))
        if not isinstance(self.reason, str):
            raise InvalidOutput(f"reason must be text, got {type(self.reason).__name__}")
        if not isinstance(self.metadata, dict):
            raise InvalidOutput(f"metadata must be a dict, got {type(self.metadata).__name__}")
        if self.token_unit not in ("word", "token"):
            raise InvalidOutput(f"token_unit must be 'word' or 'token', got {self.token_unit!r}")

    @classmethod
    def unscored(
        cls,
        status: Status,
        reason: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        components: Mapping[str, "RewardOutput"] | None = None,
    ) -> "RewardOutput":
        """An output for a sample that could not be scored; `reason` is the message."""
        return cls(None, status=status, reason=reason, metadata=dict(metadata or {}), components=dict(components or {}))

    @property
    def ok(self) -> bool:
        """True when the sample was scored."""
        return self.status is _OK

    def flat_components(self) -> dict[str, "RewardOutput"]:
        """Every component at any depth, nested names joined by `/`."""
        flat: dict[str, RewardOutput] = {}
        for name, component in self.components.items():
            flat[name] = component
            flat.update({f"{name}/{inner}": output for inner, output in component.flat_components().items()})
        return flat

    def _repr_html_(self) -> str:
        """A table for notebooks: the total, and every component."""
        parts = {"total": self, **self.flat_components()}
        rows = [
            [name, part.reward if part.ok else part.status.value, part.score, part.reason]
            for name, part in parts.items()
        ]
        return html_table(["part", "reward", "score", "why"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for a rollouts file; metadata that JSON cannot hold is written as text."""
        plain: dict[str, Any] = {"reward": self.reward, "status": self.status.value}
        if self.score is not None:
            plain["score"] = self.score
        if self.reason:
            plain["reason"] = self.reason
        if self.token_rewards is not None:
            plain["token_rewards"] = self.token_rewards
        if self.latency_s is not None:
            plain["latency_s"] = self.latency_s
        if self.metadata:
            plain["metadata"] = as_plain(self.metadata)
        if self.token_unit != "word":
            plain["token_unit"] = self.token_unit
        if self.components:
            plain["components"] = {name: component.to_dict() for name, component in self.components.items()}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "RewardOutput":
        """The output that `to_dict` wrote."""
        try:
            return msgspec.convert(plain, cls)
        except msgspec.ValidationError as error:
            raise InvalidOutput(f"not a reward output: {error}") from None

    def _check_reward(self) -> None:
        try:
            status = Status(self.status)
        except ValueError:
            raise InvalidOutput(f"status is one of {', '.join(Status)}; got {self.status!r:.60}") from None
        force_setattr(self, "status", status)
        if status is not _OK:
            if self.reward is not None or self.score is not None:
                raise InvalidOutput(f"status {status.value!r} cannot carry a reward or a score; leave both None")
            return
        if self.reward is None:
            raise InvalidOutput(
                "reward is None; for a sample without a reward use RewardOutput.unscored(status, reason)"
            )
        force_setattr(self, "reward", as_number("reward", self.reward))

    def _check_components(self) -> None:
        if not isinstance(self.components, dict):
            raise InvalidOutput(f"components must be a dict, got {type(self.components).__name__}")
        if set(map(type, self.components)) != {str}:
            raise InvalidOutput("the names of components must be text")
        if set(map(type, self.components.values())) != {RewardOutput}:
            force_setattr(self, "components", {name: _component(name, each) for name, each in self.components.items()})


def _checked_score(value: Any) -> float:
    score = as_number("score", value)
    if not 0.0 <= score <= 1.0:
        raise InvalidOutput(f"score must lie in [0, 1], got {score}; `reward` may be any number")
    return score


def _component(name: str, part: Any) -> RewardOutput:
    return part if isinstance(part, RewardOutput) else RewardOutput(as_number(f"component {name!r}", part))


def as_number(what: str, value: Any) -> float:
    """`value` as a finite float; text, NaN, infinity and everything else that is no number raises InvalidOutput.

    A value of numpy or torch is a number if the value of Python that it holds (`item()`) is one.
    """
    if type(value) is float and isfinite(value):  # the usual case; the protocol check is slow
        return value
    kind = type(value).__name__
    try:  # the methods of a value are the user's code, and may raise anything
        held = value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
        if not isinstance(held, SupportsFloat) or isinstance(held, str):
            raise InvalidOutput(f"{what} must be a number, got {kind} {value!r:.60}")
        number = float(value)
    except InvalidOutput:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        raise InvalidOutput(f"{what} must be one number, got {kind}: {type(error).__name__}: {error}") from None
    if not isfinite(number):
        raise InvalidOutput(f"{what} is {number}; a reward is a finite number")
    return number


def finite_numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The values that are finite numbers, under their names as text."""
    return {
        str(name): float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and -float_info.max <= value <= float_info.max
    }


def _numbers(what: str, values: Any) -> list[float]:
    try:
        listed = list(values)
    except TypeError:
        raise InvalidOutput(f"{what} must be a list of numbers, got {type(values).__name__}") from None
    return [
        value if type(value) is float and isfinite(value) else as_number(f"{what}[{index}]", value)
        for index, value in enumerate(listed)
    ]
