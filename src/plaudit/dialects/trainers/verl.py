"""verl rewards: `compute_score(data_source, solution_str, ground_truth, extra_info)`, or all four in the plural.

They return a number, or a dict whose `score` is the reward and whose other keys are logged; the keys must be the same
for every sample, and a sample without a number spoils the batch, so an exported reward always gives one.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plaudit.dialects.dialect import (
    Dialect,
    ForeignBatchReward,
    ForeignReward,
    System,
    await_result,
    parameters,
    read_result,
    required_names,
    truth_as_text,
)
from plaudit.dialects.export import Export, ExportedReward, Grouping, OnUnscored
from plaudit.dialects.sample_export import AsyncSampleExport, Rated, SampleExport
from plaudit.jsonline import as_plain
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "VerlAsyncExport", "VerlBatchExport", "VerlBatchReward", "VerlExport", "VerlReward"]

_SOLUTIONS = ("solution_str", "model_output")
_ARGUMENTS: dict[str, Callable[[Trajectory], Any]] = {
    "data_source": lambda trajectory: trajectory.task or trajectory.columns.get("data_source", ""),
    **dict.fromkeys(_SOLUTIONS, lambda trajectory: trajectory.response),
    "ground_truth": lambda trajectory: truth_as_text(trajectory),
    "extra_info": lambda trajectory: {**trajectory.columns, **trajectory.metadata},
}
_PLURALS = {f"{name}s": read for name, read in _ARGUMENTS.items()}


class VerlReward(ForeignReward):
    """A function of one solution."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        asked = parameters(self.foreign)
        returned = self.ask(**{name: read(trajectory) for name, read in _ARGUMENTS.items() if name in asked})
        return await_result(returned) if inspect.isawaitable(returned) else read_result(returned)


class VerlBatchReward(ForeignBatchReward):
    """A function of many solutions."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        asked = parameters(self.foreign)
        columns = {name: read for name, read in _PLURALS.items() if name in asked}
        return self.ask(**{name: [read(each) for each in trajectories] for name, read in columns.items()})

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return [read_result(each) for each in returned]


def _recognises(candidate: Any) -> bool:
    asked = parameters(candidate)
    has_solution = any(name in asked for name in _SOLUTIONS)
    return has_solution and "ground_truth" in asked and required_names(asked) <= set(_ARGUMENTS)


def _recognises_batch(candidate: Any) -> bool:
    asked = parameters(candidate)
    return {"solution_strs", "ground_truths"} <= set(asked) and required_names(asked) <= set(_PLURALS)


class VerlExport(SampleExport):
    """A reward for `custom_reward_function`, called in threads."""

    def __call__(
        self,
        data_source: Any = None,
        solution_str: str = "",
        ground_truth: Any = None,
        extra_info: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> dict[str, float]:
        """The score, with components and status under keys that every sample has."""
        rated = self.rate(_trajectory(data_source, solution_str, ground_truth, extra_info))
        return _result(self, rated)


class VerlAsyncExport(AsyncSampleExport):
    """The same as a coroutine, so that the samples of a group can wait for each other in one reward worker."""

    async def __call__(
        self,
        data_source: Any = None,
        solution_str: str = "",
        ground_truth: Any = None,
        extra_info: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> dict[str, float]:
        """The score, with components and status under keys that every sample has."""
        rated = await self.rate_async(_trajectory(data_source, solution_str, ground_truth, extra_info))
        return _result(self, rated)


class VerlBatchExport(ExportedReward):
    """A reward for the batch reward manager, called with all samples of a step."""

    def __call__(
        self,
        data_sources: Sequence[Any],
        solution_strs: Sequence[str],
        ground_truths: Sequence[Any],
        extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
        **_: Any,
    ) -> list[dict[str, float]]:
        """One dict per sample, each with the same keys."""
        extra = [None] * len(solution_strs) if extra_infos is None else extra_infos
        rows = zip(data_sources, solution_strs, ground_truths, extra, strict=True)
        trajectories = [_trajectory(*row) for row in rows]
        self.check_groups(trajectories, "let one process score whole batches")
        outputs = self.score(trajectories)
        values = self.numbers(trajectories, outputs)
        return [_result(self, Rated(output, value)) for output, value in zip(outputs, values, strict=True)]


def _result(exported: ExportedReward, rated: Rated) -> dict[str, float]:
    return {"score": rated.number, **exported.details(rated.output)}


_OF_ROLLOUT = ("num_turns", "rollout_reward_scores")
_PROMPTS = ("prompt", "question", "problem", "raw_prompt")


def _trajectory(data_source: Any, solution: str, truth: Any, extra_info: Mapping[str, Any] | None) -> Trajectory:
    """The sample of a call. verl does not pass the prompt: it is taken from the row, and a group is told by its row."""
    row = as_plain(dict(extra_info or {}))
    prompt = next((row[name] for name in _PROMPTS if isinstance(row.get(name), str | list)), "")
    shared = {name: value for name, value in row.items() if name not in _OF_ROLLOUT}
    return Trajectory(
        prompt,
        solution,
        ground_truth=as_plain(truth),
        task=None if data_source is None else str(data_source),
        group=f"{data_source} {shared.get('index', shared)} {truth}",
        columns={name: value for name, value in row.items() if name not in Trajectory.FIELDS},
    )


_HOME = frozenset({"verl"})
_POLICIES = (OnUnscored.MEAN, OnUnscored.RAISE)
_FLAGS = "reward.custom_reward_function.path={argument} reward.custom_reward_function.name=compute_score"
SYSTEM = System(
    name="verl",
    title="verl",
    distribution="verl",
    shape="`compute_score(data_source, solution_str, ground_truth, extra_info)`, or in the plural",
    dialects=(
        Dialect("verl", "verl function", _HOME, VerlReward, recognises=_recognises),
        Dialect("verl", "verl batch function", _HOME, VerlBatchReward, recognises=_recognises_batch),
    ),
    exports=(
        Export(
            VerlExport,
            _POLICIES,
            usage=f"python -m verl.trainer.main_ppo … {_FLAGS}",
            grouping=Grouping.NEVER,
            entry="compute_score",
        ),
        Export(
            VerlAsyncExport,
            _POLICIES,
            usage=f"python -m verl.trainer.main_ppo … {_FLAGS} reward.num_workers=1",
            grouping=Grouping.COLLECTED,
            form="async",
            entry="compute_score",
        ),
        Export(
            VerlBatchExport,
            _POLICIES,
            usage="python -m verl.trainer.main_ppo … custom_reward_function.path={argument} "
            "custom_reward_function.name=compute_score reward_model.reward_manager=batch",
            form="batch",
            entry="compute_score",
        ),
    ),
    stand_ins={"verl": {"verl": {}}},
)
