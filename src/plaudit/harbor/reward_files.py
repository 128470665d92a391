"""Read `reward.json` or `reward.txt` as a verifier left it: flat finite numbers, or why there is no reward."""

import json
import math
from collections.abc import Callable
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.results import read_named_rewards

REWARD_FILES = ("reward.json", "reward.txt")
MOST_BYTES = 1 << 20


def read_rewards(read: Callable[[str, int], tuple[str, bytes]], key: str = "reward") -> RewardOutput:
    """The reward of a verifier's folder; `read(name, most)` gives what a file is and its content.

    `reward.json` counts if it exists, else `reward.txt`, as in Harbor. Whatever is wrong with the file is a reason and
    never a number.
    """
    for name in REWARD_FILES:
        kind, data = read(name, MOST_BYTES)
        if kind == "missing":
            continue
        if kind != "file":
            return _unscored(f"{name} is not a file of at most 1 MiB but {kind}")
        try:
            rewards = _parse_json(data) if name.endswith("json") else {"reward": _number("reward.txt", float(data))}
        except (ValueError, RecursionError) as error:
            return _unscored(f"{name}: {error}")
        output = read_named_rewards(rewards, key, f"name the one that is the reward in {name} with --key")
        return _compare_text(output, read) if name.endswith("json") and output.ok else output
    return _unscored("the verifier wrote neither reward.json nor reward.txt")


def _compare_text(output: RewardOutput, read: Callable[[str, int], tuple[str, bytes]]) -> RewardOutput:
    """The output, with a reason where `reward.txt` differs: older programs read that file first."""
    kind, data = read("reward.txt", MOST_BYTES)
    try:
        is_same = kind == "missing" or float(data) == output.reward
    except ValueError:
        is_same = False
    if is_same:
        return output
    return RewardOutput(output.reward, components=output.components, reason="reward.txt says something else")


def _parse_json(data: bytes) -> dict[str, float]:
    if not data.strip():
        raise ValueError("it is empty")
    value = json.loads(data, parse_int=float)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object of names and numbers, got {str(value)[:60]}")
    return {name: _number(name, number) for name, number in value.items()}


def _number(name: str, value: Any) -> float:
    if not isinstance(value, bool | int | float):
        raise ValueError(f"{name} must be a number, got {value!r:.60}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)


def _unscored(reason: str) -> RewardOutput:
    return RewardOutput.unscored(Status.ERROR, reason)
