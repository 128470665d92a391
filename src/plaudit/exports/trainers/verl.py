"""verl: `compute_score(data_source, solution_str, ground_truth, extra_info)`, or all four in the plural.

The result is a dict whose keys must be the same for every sample, and a sample without a number spoils the batch. As a
coroutine, the samples of a group can wait for each other in one reward worker.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, Rated
from plaudit.jsonline import as_plain
from plaudit.trajectory import Trajectory

__all__ = ["EXPORTS"]

_OF_ROLLOUT = ("num_turns", "rollout_reward_scores")
_PROMPTS = ("prompt", "question", "problem", "raw_prompt")


def verl_call(
    reward: ExportedReward,
    data_source: Any = None,
    solution_str: str = "",
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> Call:
    """The score, with components and status."""
    rated = yield _sample(reward, data_source, solution_str, ground_truth, extra_info)
    return _result(reward, rated)


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
    rated = yield [_sample(reward, *row) for row in rows]
    return [_result(reward, each) for each in rated]


def _result(reward: ExportedReward, rated: Rated) -> dict[str, Any]:
    return {"score": rated.value, **reward.details(rated.output)}


def _sample(
    reward: ExportedReward, data_source: Any, solution: str, truth: Any, extra_info: Mapping[str, Any] | None
) -> Trajectory:
    """The sample of a call. verl does not pass the prompt: it is taken from the row, and the row identifies a group."""
    row = as_plain(dict(extra_info or {}))
    prompt = next((row[name] for name in _PROMPTS if isinstance(row.get(name), str | list)), "")
    shared = {name: value for name, value in row.items() if name not in _OF_ROLLOUT}
    return reward.sample(
        prompt,
        solution,
        row,
        ground_truth=as_plain(truth),
        task=None if data_source is None else str(data_source),
        group=f"{data_source} {shared.get('index', shared)} {truth}",
    )


_FLAGS = "reward.custom_reward_function.path={argument} reward.custom_reward_function.name=compute_score"
EXPORTS = (
    Export("verl", verl_call, f"python -m verl.trainer.main_ppo … {_FLAGS}", entry="compute_score"),
    Export(
        "verl",
        verl_call,
        f"python -m verl.trainer.main_ppo … {_FLAGS} reward.num_workers=1",
        build=AsyncExportedReward,
        grouping=Grouping.COLLECTED,
        form="async",
        entry="compute_score",
    ),
    Export(
        "verl",
        verl_batch_call,
        "python -m verl.trainer.main_ppo … custom_reward_function.path={argument} "
        "custom_reward_function.name=compute_score reward_model.reward_manager=batch",
        grouping=Grouping.CALL,
        form="batch",
        entry="compute_score",
    ),
)
