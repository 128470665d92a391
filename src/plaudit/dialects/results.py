"""Readers of what foreign functions return."""

from collections.abc import Callable, Mapping
from typing import Any

from plaudit.contract.failures import describe_failure, passed_on
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.contract.results import listed
from plaudit.errors import InvalidOutput, rename_hint


def as_it_is(returned: Any) -> Any:
    """The value itself."""
    return returned


def read_each(returned: Any, count: int, read: Callable[[Any], Any] = as_it_is) -> list[Any]:
    """One output or number per sample; a value that cannot be read is an error of its sample alone."""
    return [read_value(value, read) for value in listed(returned, count)]


def read_value(value: Any, read: Callable[[Any], Any], metadata: Mapping[str, Any] | None = None) -> Any:
    """The output that `read` gives for the value of one sample of a batch, or an output with the error."""
    try:
        return read(value)
    except passed_on():
        raise
    except BaseException as error:  # noqa: BLE001 - __float__ and __repr__ of a value are the user's code
        failure = describe_failure("reading its value", error)
        reason = str(error) if isinstance(error, InvalidOutput) else failure.reason
        return RewardOutput.unscored(failure.status, reason, metadata=metadata)


def read_columns(returned: Any, count: int) -> list[Any]:
    """One value per sample; of a tuple of several lists the first has the rewards, the others go to the metadata."""
    columns = list(returned) if isinstance(returned, tuple) else []
    if len(columns) < 2 or not all(isinstance(column, list) and len(column) == count for column in columns):
        return listed(returned, count)
    return [read_value(row, _read_row) for row in zip(*columns, strict=True)]


def _read_row(row: tuple[Any, ...]) -> RewardOutput | None:
    reward, *parts = row
    return None if reward is None else RewardOutput(reward, metadata={"parts": parts})


def read_result(returned: Any, key: str = "score") -> Any:
    """Read a result: a number is returned unchanged; of a mapping `key` is the reward, of a tuple the first value; the
    rest is metadata.
    """
    if isinstance(returned, tuple) and len(returned) > 1:
        return RewardOutput(as_number("reward", returned[0]), metadata={"parts": list(returned[1:])})
    if not isinstance(returned, Mapping):
        return returned
    if returned.get(key) is None:
        hint = rename_hint(key, map(str, returned))
        raise InvalidOutput(f"it returned no {key!r} but {', '.join(map(str, returned)) or 'nothing'}{hint}")
    return RewardOutput(returned[key], metadata={str(name): each for name, each in returned.items() if name != key})


def read_object(returned: Any) -> Any:
    """Read an object with a `reward` as an output; numbers and outputs are returned unchanged."""
    if isinstance(returned, RewardOutput) or not hasattr(returned, "reward"):
        return returned
    metadata = getattr(returned, "metadata", None)
    details = dict(metadata) if isinstance(metadata, Mapping) else {}
    if getattr(returned, "is_correct", None) is not None:
        details["is_correct"] = bool(returned.is_correct)
    token_rewards = list(getattr(returned, "token_rewards", None) or ())
    return RewardOutput(returned.reward, token_rewards=token_rewards or None, metadata=details)


def read_named_rewards(rewards: Mapping[str, float], key: str, remedy: str) -> RewardOutput:
    """Named numbers as Harbor has them: `key`, or the only one, is the reward, and the others are its components."""
    components = {name: RewardOutput(value) for name, value in rewards.items() if name != key}
    if key in rewards:
        return RewardOutput(rewards[key], components=components)
    if len(rewards) == 1:
        return RewardOutput(next(iter(rewards.values())))
    names = ", ".join(rewards) or "no key at all"
    reason = f"there is no key {key!r} (but {names}); {remedy}"
    return RewardOutput.unscored(Status.ERROR, reason, components=components)
