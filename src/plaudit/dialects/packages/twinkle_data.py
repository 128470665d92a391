"""Twinkle's messages and trajectories, written from how `twinkle.data_format` behaves."""

import json
from collections.abc import Sequence
from typing import Any

from plaudit.contract.binding import own_values
from plaudit.trajectory import Trajectory


class TwinkleMessage(dict[str, Any]):
    """A chat message, a dict as Twinkle has it; `message.content` reads like `message["content"]`."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"the message has no {name!r}; it has {', '.join(self)}")
        return self[name]


class Entry(tuple[str, Any]):
    """An entry of `user_data`, a key and its value; older files take the first one for a dict of them all."""

    known: dict[str, Any]

    def __new__(cls, key: str, known: dict[str, Any]) -> "Entry":
        entry = super().__new__(cls, (key, known[key]))
        entry.known = known
        return entry

    def get(self, key: str, default: Any = None) -> Any:
        """The value of any entry with that key."""
        return self.known.get(key, default)


class TwinkleTrajectory(dict[str, Any]):
    """Twinkle's trajectory: a dict with `messages` and `user_data`, whose `response` is what the assistant said last.

    It equals whatever has, or is, the same response: that is how rewards compare it with a ground truth.
    """

    @classmethod
    def of(cls, trajectory: Trajectory) -> "TwinkleTrajectory":
        """Our trajectory as Twinkle's rewards read it; columns and metadata are keys, and entries of `user_data`."""
        known = own_values(trajectory)
        if trajectory.ground_truth is not None:
            known = {"ground_truth": trajectory.ground_truth, **known}
        fields = {name: getattr(trajectory, name) for name in ("id", "group", "task") if getattr(trajectory, name)}
        messages = [TwinkleMessage(message) for message in trajectory.messages]
        return cls({**known, **fields, "messages": messages, "user_data": [Entry(key, known) for key in known]})

    @classmethod
    def saying(cls, truth: Any, prompt: Any = "") -> "TwinkleTrajectory":
        """A trajectory whose response is a ground truth."""
        return cls.of(Trajectory(prompt, "" if truth is None else str(truth), ground_truth=truth))

    @property
    def response(self) -> str:
        """The content of the last assistant message."""
        contents = [message.get("content") or "" for message in self["messages"] if message.get("role") == "assistant"]
        return str(contents[-1]) if contents else ""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"the trajectory has no {name!r}; it has {', '.join(self)}")
        return self[name]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Trajectory | TwinkleTrajectory):
            return self.response == other.response
        return self.response == (str(other) if type(other) in (int, float) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # a frozen view, though a dict
        return hash(self.response)


def as_twinkle(trajectory: Any) -> Any:
    """Convert a trajectory of plaudit to Twinkle's; a dict is returned unchanged."""
    return TwinkleTrajectory.of(trajectory) if isinstance(trajectory, Trajectory) else trajectory


def one_truth_each(trajectories: Sequence[Any], ground_truths: Sequence[Any]) -> list[Any]:
    """One ground truth per trajectory; one per prompt is repeated for the samples of the prompt, which are adjacent."""
    samples, surplus = divmod(len(trajectories), len(ground_truths)) if ground_truths else (0, len(trajectories))
    if surplus or (not samples and ground_truths):
        raise ValueError(
            f"{len(trajectories)} trajectories but {len(ground_truths)} ground truths; give one per trajectory, or one "
            "per prompt if each prompt has the same number of trajectories"
        )
    return [truth for truth in ground_truths for _ in range(samples)]


def pack_value(value: Any) -> str:
    """A value of `user_data` as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def user_data_get(items: Any, key: str, default: Any = None) -> Any:
    """The first value under `key` in `user_data`, read as JSON where it is JSON."""
    entry = find_entry(items, key)
    if entry is None:
        return default
    value = entry[1]
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def find_entry(items: Any, key: str) -> Sequence[Any] | None:
    """The first entry under `key` in `user_data`, unchanged."""
    entries = items if isinstance(items, list) else []
    pairs = (each for each in entries if isinstance(each, list | tuple) and len(each) == 2)
    return next((each for each in pairs if each[0] == key), None)
