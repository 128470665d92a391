"""OpenRLHF reward files: `reward_func(queries, prompts, labels) -> {"rewards", "scores", "extra_logs"}`.

A query is the prompt followed by the response. The values come back as tensors of several shapes, lists or numbers;
they are read through `.tolist()`, so torch is needed only by the files themselves. Newer files expect one sample a call
and return bare numbers; the scoring boundary calls those sample by sample.
"""

import inspect
import math
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from plaudit.agents import AgentExecutor, AgentInstance
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.dialects.dialect import Dialect, is_a, name_of, parameters, required
from plaudit.errors import InvalidOutput, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["OPENRLHF_FILE", "STAND_INS", "OpenRLHFReward"]

_ASKED = {"queries", "prompts", "labels"}


class OpenRLHFReward(RewardFunction):
    """A reward function of queries, prompts and labels."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = name_of(function)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        returned = self.function(
            queries=[trajectory.prompt_text + trajectory.response for trajectory in trajectories],
            prompts=[trajectory.prompt_text for trajectory in trajectories],
            labels=[_label(trajectory.ground_truth) for trajectory in trajectories],
        )
        if inspect.isawaitable(returned):
            return _await_outputs(returned, len(trajectories))
        return outputs_of(returned, len(trajectories))

    def __repr__(self) -> str:
        return self.name


def outputs_of(returned: Any, count: int) -> list[RewardOutput]:
    """What a reward file returned for `count` samples, as one output each."""
    columns = returned if isinstance(returned, Mapping) else {"rewards": returned}
    if columns.get("rewards") is None:
        present = ", ".join(map(str, columns)) or "nothing"
        raise InvalidOutput(f"it returned no 'rewards' but {present}{did_you_mean('rewards', map(str, columns))}")
    try:
        rewards = _column("rewards", columns["rewards"], count)
        scores = _column("scores", columns.get("scores", [None] * count), count)
        logs = {str(key): _log(str(key), value, count) for key, value in (columns.get("extra_logs") or {}).items()}
    except _WrongLength as error:  # not raised on: asking again sample by sample would hide the mistake
        return [RewardOutput.unscored(Status.ERROR, str(error))] * count
    return [
        _output(rewards[place], scores[place], {key: values[place] for key, values in logs.items()})
        for place in range(count)
    ]


class _WrongLength(InvalidOutput):
    pass


async def _await_outputs(returned: Awaitable[Any], count: int) -> list[RewardOutput]:
    return outputs_of(await returned, count)


def _label(truth: Any) -> Any:
    return str(truth) if isinstance(truth, int | float) and not isinstance(truth, bool) else truth


def _column(what: str, value: Any, count: int) -> list[Any]:
    values = _plain(value)
    if not isinstance(values, list):
        if count == 1 or values is None:
            return [values] * count
        raise InvalidOutput(f"{what} is the one number {values!r:.40} for {count} samples; give one per sample")
    return _of_length(what, values, count)


def _log(what: str, value: Any, count: int) -> list[Any]:
    """One value per sample; a bare number counts for every sample."""
    values = _plain(value)
    listed = _of_length(f"extra_logs[{what!r}]", values, count) if isinstance(values, list) else [values] * count
    return [None if isinstance(each, float) and not math.isfinite(each) else each for each in listed]


def _of_length(what: str, values: list[Any], count: int) -> list[Any]:
    if len(values) != count:
        raise _WrongLength(f"{what} has {len(values)} values for {count} samples; give one per sample")
    return values


def _plain(value: Any) -> Any:
    """Tensors and sequences as lists; a column of shape (B, 1) as one of shape (B,)."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, list | tuple):
        return plain
    inner = [_plain(each) if hasattr(each, "tolist") else each for each in plain]
    return [each[0] if isinstance(each, list | tuple) and len(each) == 1 else each for each in inner]


def _output(reward: Any, score: Any, logs: dict[str, Any]) -> RewardOutput:
    if reward is None:
        return RewardOutput.unscored(Status.SKIPPED, "the reward is None", metadata=logs)
    try:
        number = as_number("reward", reward)
        checked = None if score is None else as_number("score", score)
    except InvalidOutput as error:
        return RewardOutput.unscored(Status.ERROR, str(error), metadata=logs)
    if checked is None or 0.0 <= checked <= 1.0:
        return RewardOutput(number, score=checked, metadata=logs)
    note = f"scores says {checked:g}, which is outside [0, 1]: kept in the metadata, not used as the score"
    return RewardOutput(number, metadata={**logs, "scores": checked}, reason=note)


def _recognises(candidate: Any) -> bool:
    asked = parameters(candidate)
    return set(asked) >= _ASKED >= required(asked)


OPENRLHF_FILE = Dialect("OpenRLHF reward file", _recognises, OpenRLHFReward, is_a(OpenRLHFReward))

STAND_INS: dict[str, dict[str, object]] = {
    "openrlhf.utils.agent": {
        "AgentExecutorBase": AgentExecutor,
        "AgentInstanceBase": AgentInstance,
        "MultiTurnAgentExecutor": AgentExecutor,
    },
}
