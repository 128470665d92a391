"""OpenRLHF reward files: `reward_func(queries, prompts, labels) -> {"rewards", "scores", "extra_logs"}`.

A query is the prompt followed by the response. The values come back as tensors of several shapes, lists or numbers;
they are read through `.tolist()`, so torch is needed only by the files themselves. Newer files expect one sample a call
and return bare numbers; the scoring boundary calls those sample by sample. Forks ask for rows of the data instead of
labels, as `batch` or `prompt_metadata`.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.columns import FOREIGN_NAMES
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.dialects.dialect import (
    Dialect,
    ForeignBatchReward,
    System,
    file_of,
    parameters,
    required_names,
    truth_as_text,
)
from plaudit.dialects.export import Export, ExportedReward, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.standins import Later
from plaudit.errors import InvalidOutput, did_you_mean, require
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "OpenRLHFExport", "OpenRLHFReward", "read_outputs", "request_columns"]


class OpenRLHFReward(ForeignBatchReward):
    """A reward function of queries, prompts and labels."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        self._warn_of_chats(trajectories)
        columns = {
            name: [read(each) for each in trajectories]
            for name, read in _ARGUMENTS.items()
            if name in parameters(self.foreign)
        }
        return self.ask(**columns)

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[RewardOutput]:
        return read_outputs(returned, len(trajectories))

    def _warn_of_chats(self, trajectories: Sequence[Trajectory]) -> None:
        if not all(isinstance(each.prompt, str) for each in trajectories):
            warnings.warn(
                f"{self.name} in {file_of(self.foreign)} reads prompts as text, but the prompts are chats: their "
                "messages are joined by blank lines, without the tokens of a chat template; give --chat-template "
                "(chat_template=) where it looks for these",
                stacklevel=2,
            )


def read_outputs(returned: Any, count: int) -> list[RewardOutput]:
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


def request_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """What OpenRLHF sends to a remote reward for these samples."""
    names = {"query": "queries", "prompts": "prompts", "labels": "labels"}
    return {sent: [_ARGUMENTS[name](each) for each in trajectories] for sent, name in names.items()}


class _WrongLength(InvalidOutput):
    pass


def _row(trajectory: Trajectory) -> dict[str, Any]:
    """The sample as a row of its data: its columns and metadata, the prompt, and the truth under its usual names."""
    names = dict.fromkeys(FOREIGN_NAMES["ground_truth"], truth_as_text(trajectory))
    return {**names, **trajectory.columns, **trajectory.metadata, "prompt": trajectory.prompt_text}


_ARGUMENTS = {
    "queries": lambda trajectory: trajectory.prompt_text + trajectory.response,
    "prompts": lambda trajectory: trajectory.prompt_text,
    "labels": truth_as_text,
    "batch": _row,
    "prompt_metadata": _row,
}


def _column(what: str, value: Any, count: int) -> list[Any]:
    values = _plain(value)
    if not isinstance(values, list):
        if count == 1 or values is None:
            return [values] * count
        raise InvalidOutput(f"{what} is the one number {values!r:.40} for {count} samples; give one per sample")
    return _of_length(what, values, count)


def _log(what: str, value: Any, count: int) -> list[Any]:
    """One value per sample; a single one, such as a mean over the batch, counts for every sample."""
    values = _plain(value)
    if isinstance(values, list) and len(values) == 1:
        values = values[0]
    each = _of_length(f"extra_logs[{what!r}]", values, count) if isinstance(values, list) else [values] * count
    return [None if isinstance(one, float) and not math.isfinite(one) else one for one in each]


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
    return "queries" in asked and required_names(asked) <= set(_ARGUMENTS)


class OpenRLHFExport(ExportedReward):
    """A reward for `--remote_rm_url FILE`: tensors of rewards, scores and logs, all of one value per sample.

    The logs have the same keys in every call. A raise would be swallowed there, so a number is always given.
    """

    def __call__(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        """Rewards; scores where the reward has some, else the rewards; components and statuses as extra logs."""
        torch = require("torch", purpose="a reward for OpenRLHF", extra="train")
        rows = zip(queries, prompts, labels, strict=True)
        trajectories = [
            trajectory_of(prompt, query.removeprefix(prompt), {"ground_truth": label}) for query, prompt, label in rows
        ]
        outputs = self.score(trajectories)
        rewards = self.numbers(trajectories, outputs)
        details = [self.details(output) for output in outputs]
        scores = [
            reward if output.score is None else output.score for output, reward in zip(outputs, rewards, strict=True)
        ]
        return {
            "rewards": torch.tensor(rewards),
            "scores": torch.tensor(scores),
            "extra_logs": {name: torch.tensor([each[name] for each in details]) for name in details[0]},
        }


SYSTEM = System(
    name="openrlhf",
    title="OpenRLHF",
    distribution="openrlhf",
    shape="`reward_func(queries, prompts, labels)`, forks with `batch`",
    dialects=(
        Dialect("openrlhf", "OpenRLHF reward file", frozenset({"openrlhf"}), OpenRLHFReward, recognises=_recognises),
    ),
    exports=(
        Export(
            OpenRLHFExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage="python -m openrlhf.cli.train_ppo_ray … --reward.remote_url {argument} --data.label_key answer",
            grouping=Grouping.NEVER,  # from 0.9.1 on, a call has one sample
            entry="reward_func",
        ),
    ),
    stand_ins={"openrlhf": Later("plaudit.dialects.packages.openrlhf_utils", "ANSWERS")},
)
