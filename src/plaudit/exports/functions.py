"""Trainers that call a function or an object with one sample or with many: how each calls it.

AReaL calls in a pool of processes. A reward for Flux has a number whatever happened. OpenRLHF ignores an exception of a
reward, so a number is always given, and needs the same logs in every call. slime can mask a sample; with
`--reward-key` its results are dicts. verl needs the same keys for every sample, and a sample without a number spoils
its batch; as a coroutine, the samples of a group can wait for each other in one of its workers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import require
from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, OnUnscored, SampleResult
from plaudit.jsonline import as_plain
from plaudit.trajectory import Trajectory, message_text

_OF_ROLLOUT = ("num_turns", "rollout_reward_scores")
_PROMPTS = ("prompt", "question", "problem", "raw_prompt")


def areal_call(
    reward: ExportedReward,
    prompt: Any,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    **row: Any,
) -> Call:
    """`f(prompt, completions, prompt_ids, completion_ids, **row)`: the reward of one completion."""
    rated = yield reward.sample(prompt or "", completions, row, completion_ids)
    return rated.value


class FluxExport(ExportedReward):
    """A reward with the names that Flux's trainer and composites use."""

    @property
    def name(self) -> str:
        """The name of the reward in the lists of Flux's composites."""
        return self.__name__

    compute_reward = ExportedReward.__call__


def flux_call(reward: ExportedReward, trajectory: Any) -> Call:
    """`compute_reward(trajectory)`: the output of one trajectory; status and reason are in its metadata."""
    if not isinstance(trajectory, Trajectory):
        row = getattr(trajectory, "metadata", None) or {}
        trajectory = reward.sample(trajectory.prompt, trajectory.response, row)
    output, value = yield trajectory
    status = {} if output.ok else {"status": output.status.value, "reason": output.reason}
    return RewardOutput(value, metadata={**output.metadata, **status}, components=output.components)


def openrlhf_call(
    reward: ExportedReward, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> Call:
    """`reward_func(queries, prompts, labels)`: tensors of rewards, scores (or rewards) and logs, a value per sample."""
    torch = require("torch", purpose="a reward for OpenRLHF", extra="train")
    rated = yield [
        reward.sample(prompt, query.removeprefix(prompt), {}, ground_truth=label)
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    scores = [each.value if each.output.score is None else each.output.score for each in rated]
    return {
        "rewards": torch.tensor([each.value for each in rated]),
        "scores": torch.tensor(scores),
        "extra_logs": {name: torch.tensor(values) for name, values in reward.log_columns(rated).items()},
    }


def slime_call(reward: ExportedReward, args: Any, sample: Any, **_: Any) -> Call:
    """`async fn(args, sample)`: the reward of a sample, or those of a list of samples."""
    if isinstance(sample, list):
        rated = yield [_slime_sample(reward, each) for each in sample]
        return [_slime_result(reward, args, *pair) for pair in zip(sample, rated, strict=True)]
    rated = yield _slime_sample(reward, sample)
    return _slime_result(reward, args, sample, rated)


def _slime_result(reward: ExportedReward, args: Any, sample: Any, rated: SampleResult) -> Any:
    if not rated.output.ok and reward.settings.on_unscored is OnUnscored.MASK:
        sample.remove_sample = True
    key = getattr(args, "reward_key", None)
    return {**reward.details(rated.output), key: rated.value} if key else rated.value


def _slime_sample(reward: ExportedReward, sample: Any) -> Trajectory:
    row = getattr(sample, "metadata", None) or {}
    ids = list(sample.tokens or [])[-sample.response_length :] if sample.response_length else None
    group = getattr(sample, "group_index", None)
    return reward.sample(sample.prompt, sample.response, row, ids, ground_truth=sample.label, group=group)


def twinkle_call(
    reward: ExportedReward, trajectories: Sequence[Any], ground_truths: Sequence[Any] | None = None, **_: Any
) -> Call:
    """One number per trajectory, a dict with `messages` and `user_data`; truths may be given beside them."""
    truths = [None] * len(trajectories) if ground_truths is None else [_twinkle_truth(each) for each in ground_truths]
    samples = []
    for each, truth in zip(trajectories, truths, strict=True):
        row = {str(name): value for name, value in each.get("user_data") or ()}
        messages = each["messages"]
        samples.append(reward.sample(list(messages[:-1]), messages[-1:], row, ground_truth=truth))
    rated = yield samples
    return [each.value for each in rated]


def _twinkle_truth(truth: Any) -> Any:
    """A plain truth, or the last message of a trajectory."""
    messages = truth.get("messages") if isinstance(truth, Mapping) else None
    return message_text(messages[-1]) if messages else truth


def verl_call(
    reward: ExportedReward,
    data_source: Any = None,
    solution_str: str = "",
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> Call:
    """`compute_score(data_source, solution_str, ground_truth, extra_info)`: the score, components and status."""
    rated = yield _verl_sample(reward, data_source, solution_str, ground_truth, extra_info)
    return _verl_result(reward, rated)


def verl_batch_call(
    reward: ExportedReward,
    data_sources: Sequence[Any],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **_: Any,
) -> Call:
    """One such result per sample of a step."""
    extra = [None] * len(solution_strs) if extra_infos is None else extra_infos
    rows = zip(data_sources, solution_strs, ground_truths, extra, strict=True)
    rated = yield [_verl_sample(reward, *row) for row in rows]
    return [_verl_result(reward, each) for each in rated]


def _verl_result(reward: ExportedReward, rated: SampleResult) -> dict[str, Any]:
    return {"score": rated.value, **reward.details(rated.output)}


def _verl_sample(
    reward: ExportedReward, data_source: Any, solution: str, truth: Any, extra_info: Mapping[str, Any] | None
) -> Trajectory:
    """The sample of a call. verl does not pass the prompt: it is taken from the row, and the row identifies a group."""
    row = as_plain(dict(extra_info or {}))
    prompt = next((row[name] for name in _PROMPTS if isinstance(row.get(name), str | list)), "")
    shared = {name: value for name, value in row.items() if name not in _OF_ROLLOUT}
    task = None if data_source is None else str(data_source)
    group = f"{data_source} {shared.get('index', shared)} {truth}"
    return reward.sample(prompt, solution, row, ground_truth=as_plain(truth), task=task, group=group)


_MASK = (OnUnscored.MASK, OnUnscored.MEAN, OnUnscored.RAISE)
EXPORTS = (
    Export("areal", areal_call),
    Export("flux", flux_call, build=FluxExport),
    Export("openrlhf", openrlhf_call),
    Export("slime", slime_call, _MASK, AsyncExportedReward, Grouping.CALL),
    Export("twinkle", twinkle_call, grouping=Grouping.CALL),
    Export("verl", verl_call),
    Export("verl", verl_call, build=AsyncExportedReward, grouping=Grouping.COLLECTED, form="async"),
    Export("verl", verl_batch_call, grouping=Grouping.CALL, form="batch"),
)
