"""A key per sample: equal exactly when a reward, as it is, is given the same content to judge.

A function that asks for some fields by name is keyed by those alone; every other reward is keyed by the whole sample,
except for its id, which counts only where the reward's code mentions it. 1, 1.0, "1" and True are all different.
"""

import hashlib
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, TypeAlias

import msgspec

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.engine.caching.fingerprint import DIGEST_SIZE, NotIdentified, fingerprint, identity
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Step, Tokens, Trajectory

__all__ = ["SampleKeys", "is_plain"]

Reading: TypeAlias = Callable[[Trajectory], tuple[Any, ...]]
_ATOMS = frozenset({str, int, float, bool, NoneType})
_NEVER_MSGPACK = b"\xc1"  # the one byte that no msgpack value begins with
_encoder = msgspec.msgpack.Encoder()


class SampleKeys:
    """The keys of samples for one reward; `reason` says why there are none, and is empty otherwise."""

    def __init__(self, reward: RewardFunction) -> None:
        found = fingerprint(reward)
        self.reason = found.reason
        self._digest = found.digest
        self._together = reward.scope != "sample"
        self._read = _reading(reward, reads_id=found.reads_id)

    def of(self, trajectories: Sequence[Trajectory]) -> list[bytes | None]:
        """One key per sample, None where its content cannot be identified.

        A reward that looks across samples must be given one whole group, or the whole batch: all of it is in each key.
        """
        if self._digest is None:
            return [None] * len(trajectories)
        keys = [self._one(self._digest, trajectory) for trajectory in trajectories]
        if not self._together:
            return keys
        known = [key for key in keys if key is not None]
        whole = hashlib.blake2b(b"".join(known), key=self._digest, digest_size=DIGEST_SIZE).digest()
        together = len(known) == len(keys)
        return [_hash(whole, str(place).encode()) if together else None for place in range(len(keys))]

    def _one(self, digest: bytes, trajectory: Trajectory) -> bytes | None:
        try:
            return _hash(digest, _encode(self._read(trajectory)))
        except (NotIdentified, InvalidTrajectory):  # the latter: a column is missing, which scoring will tell
            return None


def is_plain(value: Any) -> bool:
    """Whether a value is nothing but text, numbers, None, lists and dicts with text keys, as msgpack keeps exactly."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():  # loops, since all(...) over a generator takes twice as long
            if type(key) is not str or (type(item) not in _ATOMS and not is_plain(item)):
                return False
        return True
    if kind is list:
        for item in value:  # noqa: SIM110 - as above
            if type(item) not in _ATOMS and not is_plain(item):
                return False
        return True
    return kind in _ATOMS


def _reading(reward: RewardFunction, *, reads_id: bool) -> Reading:
    """How to take from a sample what the reward reads."""
    whole = _whole_with_id if reads_id else _whole
    if not isinstance(reward, FunctionReward) or _computes_otherwise(type(reward)):
        return whole
    binding = reward.binding
    lookups = [*binding.positional, *(lookup for _, lookup in binding.keywords)]
    if any(map(_takes_all, lookups)):
        return whole
    if binding.takes_columns:
        return lambda trajectory: (*[lookup(trajectory) for lookup in lookups], trajectory.columns)
    return lambda trajectory: tuple([lookup(trajectory) for lookup in lookups])


def _computes_otherwise(kind: type[FunctionReward]) -> bool:
    return (kind.compute_reward, kind.compute_rewards) != (
        FunctionReward.compute_reward,
        FunctionReward.compute_rewards,
    )


def _takes_all(lookup: Callable[[Trajectory], Any]) -> bool:
    probe = Trajectory(prompt="", response="")
    try:
        return lookup(probe) is probe
    except InvalidTrajectory:  # asks for a column
        return False


def _whole(trajectory: Trajectory) -> tuple[Any, ...]:
    return (
        trajectory.prompt,
        trajectory.response,
        trajectory.ground_truth,
        trajectory.metadata,
        trajectory.group,
        trajectory.task,
        trajectory.tokens,
        trajectory.steps,
        trajectory.training_step,
        trajectory.columns,
    )


def _whole_with_id(trajectory: Trajectory) -> tuple[Any, ...]:
    return (*_whole(trajectory), trajectory.id)


def _encode(values: tuple[Any, ...]) -> bytes:
    try:
        for value in values:
            if type(value) not in _ATOMS and not _is_plain_field(value):
                return _NEVER_MSGPACK + identity(values)
        return _encoder.encode(values)
    except (OverflowError, UnicodeEncodeError, RecursionError):  # large numbers, lone surrogates
        return _NEVER_MSGPACK + identity(values)


def _is_plain_field(value: Any) -> bool:
    if type(value) is Tokens:  # numbers only
        return True
    if type(value) is list and value and type(value[0]) is Step:
        return all(type(step) is Step and is_plain(step.metadata) for step in value)
    return is_plain(value)


def _hash(salt: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=salt, digest_size=DIGEST_SIZE).digest()
