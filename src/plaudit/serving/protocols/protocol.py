"""The interface of a protocol: bytes of a request to samples, outputs to bytes of an answer.

A request that cannot be read is refused with an HTTP status; a sample that cannot be read gets an output that says why,
so that one bad sample does not affect the others.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from plaudit import jsonline
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import PlauditError
from plaudit.exports.exported import OnUnscored
from plaudit.trajectory import Trajectory

T = TypeVar("T")
MAX_DEPTH = 64
"""The largest depth of nested values in a request."""
_NESTED = frozenset({dict, list})


class RequestRefused(PlauditError, ValueError):
    """A request that is not answered, with the HTTP status and the reason."""

    def __init__(self, status: int, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_s = status, retry_after_s


@dataclass(frozen=True, slots=True)
class About:
    """The description of the reward in every answer: its name here, its content key, the version of plaudit."""

    name: str
    key: str
    version: str
    on_unscored: str = OnUnscored.RAISE


@dataclass(slots=True)
class Samples:
    """The samples of a request; `invalid` maps the index of each malformed sample to its error output."""

    trajectories: Sequence[Trajectory | None]
    invalid: dict[int, RewardOutput] = field(default_factory=dict)
    context: Any = None

    def valid(self) -> Sequence[Trajectory]:
        """The samples that can be scored."""
        if not self.invalid:
            return self.trajectories  # type: ignore[return-value]  # only malformed samples are None
        return [trajectory for trajectory in self.trajectories if trajectory is not None]

    def merge(self, outputs: Sequence[RewardOutput]) -> Sequence[RewardOutput]:
        """The outputs of the valid samples and those of the malformed ones, in the order of the request."""
        if not self.invalid:
            return outputs
        scored = iter(outputs)
        return [self.invalid[i] if i in self.invalid else next(scored) for i in range(len(self.trajectories))]


class ServingProtocol(Protocol):
    """One protocol that trainers speak."""

    path: str
    """The path below the name of a reward."""
    packs: bool
    """Whether it also takes msgpack."""
    title: str

    @property
    def messages(self) -> tuple[Any, Any]:
        """The types of a request and of an answer, for the OpenAPI document."""

    def read(self, body: bytes, *, packed: bool) -> Samples:
        """The samples of a request; RequestRefused if it holds none."""

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        """The answer."""


def refusal_body(message: str) -> bytes:
    """The body of a refusal."""
    return msgspec.json.encode({"error": message})


def decode_plain(body: bytes, *, packed: bool = False) -> Any:
    """The plain value of a body; RequestRefused if it cannot be decoded or is nested too deeply."""
    try:
        value = msgspec.msgpack.decode(body) if packed else jsonline.decode(body)
    except RecursionError:
        raise RequestRefused(422, "the body is nested too deeply") from None
    except (jsonline.InvalidJSON, msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        status = 422 if "nested too deeply" in str(error) else 400
        raise RequestRefused(status, f"the body is not {'msgpack' if packed else 'JSON'}: {error}") from None
    check_depth(value)
    return value


def decode_message(body: bytes, kind: type[T], *, packed: bool = False) -> T:
    """A body as a message of some type; RequestRefused if it is not one."""
    try:
        return msgspec.convert(decode_plain(body, packed=packed), kind)
    except msgspec.ValidationError as error:
        raise RequestRefused(422, f"{error}; expected {kind.__doc__}") from None


def check_depth(value: Any, left: int = MAX_DEPTH) -> None:
    """Refuse a value that is nested too deeply."""
    if type(value) is dict:
        value = value.values()
    elif type(value) is not list:
        return
    if not left:
        raise RequestRefused(422, f"the body is nested too deeply: more than {MAX_DEPTH} levels")
    if not _NESTED.isdisjoint(map(type, value)):
        for item in value:
            check_depth(item, left - 1)


def numbers_of(outputs: Sequence[RewardOutput], about: About) -> list[float | None]:
    """The rewards as bare numbers, for protocols without statuses; unscored samples follow `--on-unscored`."""
    rewards = [output.reward for output in outputs]
    failed = [index for index, reward in enumerate(rewards) if reward is None]
    if failed and about.on_unscored == OnUnscored.RAISE:
        first = outputs[failed[0]]
        raise RequestRefused(
            422,
            f"{len(failed)} of {len(outputs)} samples were not scored; sample {failed[0]}: {first.status.value}: "
            f"{first.reason}; this protocol cannot express that (/score can): serve with --on-unscored mean, nan or "
            "none to get an answer",
        )
    return fill_unscored(rewards, about)


def fill_unscored(numbers: list[float | None], about: About) -> list[float | None]:
    """Numbers in which those of unscored samples follow `--on-unscored`."""
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) or about.on_unscored == OnUnscored.NONE:
        return numbers
    instead = sum(known) / len(known) if about.on_unscored == OnUnscored.MEAN and known else math.nan
    return [instead if number is None else number for number in numbers]


def encode_numbers(answer: Any) -> bytes:
    """JSON of numbers; NaN is written as the Python clients of these protocols write and read it."""
    try:
        encoded = msgspec.json.encode(answer)
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, an integer of more than 64 bits
        encoded = b"null"
    return json.dumps(answer).encode() if b"null" in encoded else encoded


def invalid_sample(index: int, error: object) -> RewardOutput:
    """The output of a malformed sample."""
    return RewardOutput.unscored(Status.ERROR, f"sample {index}: {error}")


class WorkerRequest(msgspec.Struct, array_like=True):
    """The body of an HTTP request in some protocol; `packed` marks msgpack."""

    protocol: str
    body: bytes = b""
    packed: bool = False


class Answer(msgspec.Struct, array_like=True):
    """The HTTP status, the body, the number of samples by status, and whether the body is msgpack."""

    status: int
    body: bytes
    counts: dict[str, int] = {}
    packed: bool = False


_encoder = msgspec.msgpack.Encoder()
encode_request = encode_answer = _encoder.encode
read_request = msgspec.msgpack.Decoder(WorkerRequest).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode
