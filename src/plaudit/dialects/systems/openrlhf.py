"""OpenRLHF reward files: `reward_func(queries, prompts, labels) -> {"rewards", "scores", "extra_logs"}`.

A query is the prompt followed by the response. The values come back as tensors of several shapes, lists or numbers;
they are read through `.tolist()`, so torch is needed only by the files themselves. Files that expect one sample a call
and return one bare number need `max_batch=1`. Forks ask for rows of the data instead of labels, as `batch` or
`prompt_metadata`.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention, Lookup, row_of
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.contract.results import is_array, listed
from plaudit.dialects.dialect import Dialect, ForeignReward, System, name_of, truth_as_text
from plaudit.dialects.results import read_value
from plaudit.dialects.signatures import asks_for
from plaudit.dialects.stub_packages import LazyStub
from plaudit.errors import InvalidOutput, rename_hint
from plaudit.trajectory import Trajectory


def _row(trajectory: Trajectory) -> dict[str, Any]:
    return {**row_of(trajectory), "prompt": trajectory.prompt_text}


_ARGUMENTS: dict[str, Lookup] = {
    "queries": lambda trajectory: trajectory.prompt_text + trajectory.response,
    "prompts": attrgetter("prompt_text"),
    "labels": truth_as_text,
    "batch": _row,
    "prompt_metadata": _row,
}


def openrlhf_reward(foreign: Any) -> ForeignReward:
    """A reward of a function of queries, prompts and labels."""
    plurals: dict[str, Lookup] = {**_ARGUMENTS, "prompts": partial(_prompt, name_of(foreign))}
    return ForeignReward(foreign, Convention(plurals=plurals, fills_columns=False), read_batch=read_outputs)


def _prompt(reader: str, trajectory: Trajectory) -> str:
    if not isinstance(trajectory.prompt, str):
        warnings.warn(
            f"{reader} reads prompts as text, but the prompts are chats: their messages are joined by blank lines, "
            "without the tokens of a chat template; give --chat-template (chat_template=) where it looks for these",
            stacklevel=2,
        )
    return trajectory.prompt_text


def read_outputs(returned: Any, count: int) -> list[RewardOutput]:
    """One output per sample from the return value of a reward file for `count` samples."""
    columns = returned if isinstance(returned, Mapping) else {"rewards": returned}
    if columns.get("rewards") is None:
        present = ", ".join(map(str, columns)) or "nothing"
        raise InvalidOutput(f"it returned no 'rewards' but {present}{rename_hint('rewards', map(str, columns))}")
    rewards = _column("rewards", columns["rewards"], count)
    scores = _column("scores", columns.get("scores", [None] * count), count)
    logs = {str(key): _log(str(key), value, count) for key, value in (columns.get("extra_logs") or {}).items()}
    each_logs = [{key: values[index] for key, values in logs.items()} for index in range(count)]
    return [read_value(row, _output, row[2]) for row in zip(rewards, scores, each_logs, strict=True)]


def request_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """The columns that OpenRLHF sends to a remote reward for these samples."""
    names = {"query": "queries", "prompts": "prompts", "labels": "labels"}
    return {sent: [_ARGUMENTS[name](each) for each in trajectories] for sent, name in names.items()}


def _column(what: str, value: Any, count: int) -> list[Any]:
    values = _plain(value)
    if values is None or (count == 1 and not isinstance(values, list)):
        return [values] * count
    return listed(values, count, f"{what} has")


def _log(what: str, value: Any, count: int) -> list[Any]:
    """One value per sample; a single one, such as a mean over the batch, counts for every sample."""
    values = _plain(value)
    if isinstance(values, list) and len(values) == 1:
        values = values[0]
    each = listed(values, count, f"extra_logs[{what!r}] has") if isinstance(values, list) else [values] * count
    scalars = map(_scalar, each)
    return [None if isinstance(one, float) and not math.isfinite(one) else one for one in scalars]


def _plain(value: Any) -> Any:
    """Tensors and sequences as lists; a column of shape (B, 1) as one of shape (B,)."""
    plain = value.tolist() if is_array(value) else value
    if not isinstance(plain, list | tuple):
        return plain
    return [each[0] if isinstance(each, list | tuple) and len(each) == 1 else each for each in plain]


def _scalar(value: Any) -> Any:
    """One element of a column, which may be an array itself; it is read within the error boundary of its sample."""
    plain = _plain(value) if is_array(value) else value
    return plain[0] if isinstance(plain, list | tuple) and len(plain) == 1 else plain


def _output(row: tuple[Any, Any, dict[str, Any]]) -> RewardOutput:
    reward, score, logs = _scalar(row[0]), _scalar(row[1]), row[2]
    if reward is None:
        return RewardOutput.unscored(Status.SKIPPED, "the reward is None", metadata=logs)
    number = as_number("reward", reward)
    checked = None if score is None else as_number("score", score)
    if checked is None or 0.0 <= checked <= 1.0:
        return RewardOutput(number, score=checked, metadata=logs)
    note = f"scores says {checked:g}, which is outside [0, 1]: kept in the metadata, not used as the score"
    return RewardOutput(number, metadata={**logs, "scores": checked}, reason=note)


SYSTEM = System(
    "openrlhf",
    "OpenRLHF",
    dialects=(Dialect("OpenRLHF reward file", openrlhf_reward, asks_for(Convention(_ARGUMENTS), {"queries"})),),
    stubs={"openrlhf": LazyStub("plaudit.dialects.packages.openrlhf_utils", "STUBS")},
)
