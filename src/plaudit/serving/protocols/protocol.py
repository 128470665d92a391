"""What a protocol is: bytes of a request to samples, outputs to bytes of an answer.

A request that makes no sense as a whole is refused with a status; a sample that makes none gets an output that says
why, so that one bad sample stops nobody else.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeGuard

import msgspec

from plaudit import jsonline
from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.export import OnUnscored
from plaudit.errors import PlauditError
from plaudit.trajectory import Trajectory

__all__ = [
    "About", "RequestRefused", "Samples", "Scored", "ServingProtocol", "are_bare", "check_depth", "decode_plain",
    "encode_numbers", "invalid_sample", "numbers_of", "refusal_body",
]  # fmt: skip

Scored: TypeAlias = RewardOutput | float
"""What became of a sample: a bare number is an output that holds nothing else."""

MAX_DEPTH = 64
"""How deep the values of a request may be nested."""
_NESTED = frozenset({dict, list})


class RequestRefused(PlauditError, ValueError):
    """A request that cannot be answered, with the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class About:
    """What every answer says of the reward: its name here, its content key, the version of plaudit."""

    name: str
    key: str
    version: str
    on_unscored: str = OnUnscored.RAISE


@dataclass(slots=True)
class Samples:
    """The samples of a request; `invalid` has the outputs of those that are none, by place."""

    trajectories: Sequence[Trajectory | None]
    invalid: dict[int, RewardOutput] = field(default_factory=dict)
    context: Any = None

    def valid(self) -> Sequence[Trajectory]:
        """The samples that can be scored."""
        if not self.invalid:
            return self.trajectories  # type: ignore[return-value]  # None stands only for invalid ones
        return [trajectory for trajectory in self.trajectories if trajectory is not None]

    def merge(self, outputs: Sequence[Scored]) -> Sequence[Scored]:
        """The outputs of the valid samples with those of the invalid ones, in order."""
        if not self.invalid:
            return outputs
        scored = iter(outputs)
        return [
            self.invalid[place] if place in self.invalid else next(scored) for place in range(len(self.trajectories))
        ]


class ServingProtocol(Protocol):
    """One protocol that trainers speak."""

    path: str
    """Where it is asked, below the name of a reward."""
    packs: bool
    """Whether it may be spoken in msgpack."""
    plain: bool
    """Whether a bare number is all it can say of a sample whose output holds nothing else."""

    def read(self, body: bytes, *, packed: bool) -> Samples:
        """The samples of a request; RequestRefused where it holds none."""

    def write(self, samples: Samples, outputs: Sequence[Any], about: About, *, packed: bool) -> bytes:
        """The answer; outputs may be bare numbers where it is `plain`."""


def refusal_body(message: str) -> bytes:
    """What a client is told where its request is refused."""
    return msgspec.json.encode({"error": message})


def decode_plain(body: bytes, *, packed: bool = False) -> Any:
    """The plain value that a body holds, not nested too deeply."""
    try:
        value = msgspec.msgpack.decode(body) if packed else jsonline.decode(body)
    except RecursionError:
        raise RequestRefused(422, "the body is nested too deeply") from None
    except (jsonline.InvalidJSON, msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        status = 422 if "nested too deeply" in str(error) else 400
        raise RequestRefused(status, f"the body is not {'msgpack' if packed else 'JSON'}: {error}") from None
    check_depth(value)
    return value


def check_depth(value: Any, left: int = MAX_DEPTH) -> None:
    """Refuse what is nested too deeply."""
    if type(value) is dict:
        value = value.values()
    elif type(value) is not list:
        return
    if not left:
        raise RequestRefused(422, f"the body is nested too deeply: more than {MAX_DEPTH} levels")
    if not _NESTED.isdisjoint(map(type, value)):
        for item in value:
            check_depth(item, left - 1)


def are_bare(outputs: Sequence[Scored]) -> TypeGuard[Sequence[float]]:
    """Whether all of them are bare numbers."""
    return {*map(type, outputs)} == {float}


def numbers_of(outputs: Sequence[Scored], about: About) -> Sequence[float | None]:
    """The rewards as bare numbers, for protocols that know nothing else; what is unscored is as the server was told."""
    if are_bare(outputs):
        return outputs
    rewards = [output if isinstance(output, float) else output.reward for output in outputs]
    if None not in rewards:
        return rewards
    failed = [place for place, reward in enumerate(rewards) if reward is None]
    if about.on_unscored == OnUnscored.RAISE:
        first = outputs[failed[0]]
        assert isinstance(first, RewardOutput)  # a bare number is a reward
        raise RequestRefused(
            422,
            f"{len(failed)} of {len(outputs)} samples were not scored; sample {failed[0]}: {first.status.value}: "
            f"{first.reason}; this protocol cannot express that (/score can): serve with --on-unscored mean, nan or "
            "none to answer all the same",
        )
    if about.on_unscored == OnUnscored.NONE:
        return rewards
    scored = [reward for reward in rewards if reward is not None]
    instead = sum(scored) / len(scored) if about.on_unscored == OnUnscored.MEAN and scored else math.nan
    return [instead if reward is None else reward for reward in rewards]


def encode_numbers(answer: Any) -> bytes:
    """JSON of finite numbers; NaN, which its grammar lacks, as the clients of these protocols write and read it.

    The only NaN is what `numbers_of` put in the place of a reward, so nothing else has to be looked through for one.
    """
    try:
        encoded = msgspec.json.encode(answer)
    except (UnicodeEncodeError, OverflowError):  # half a character, an integer of more than 64 bits
        encoded = b"null"
    return json.dumps(answer).encode() if b"null" in encoded else encoded


def invalid_sample(place: int, error: object) -> RewardOutput:
    """The output of what is no sample."""
    return RewardOutput.unscored(Status.ERROR, f"sample {place}: {error}")
