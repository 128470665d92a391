"""rLLM: rewards of `(task_info, action)`, the row and the response; evaluators, `evaluate(task, episode)`.

The episode of a sample has one trajectory with one step, whose output is the response; the response is also the
artifact `answer`. The task has the row as its metadata and answers `task["key"]` and `task.get("key")` as well, since
rLLM passes a Task in evaluations and the row itself in training.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from plaudit.contract.binding import Convention, row_of
from plaudit.contract.output import RewardOutput, as_number
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.results import read_object
from plaudit.dialects.signatures import asks_for, method_parameters, parameters
from plaudit.trajectory import Trajectory

_EVALUATOR = ["task", "episode"]


@dataclass
class RLLMOutput:
    """The result of rLLM's rewards."""

    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None


@dataclass
class Signal:
    """A named part of an evaluation."""

    name: str
    value: float
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class EvalOutput:
    """The result of rLLM's evaluators."""

    reward: float
    is_correct: bool
    signals: list[Signal] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Task:
    """rLLM's task, which can be read as the row that it has as metadata."""

    id: str = ""
    instruction: Any = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    dataset_dir: Path = field(default_factory=Path)
    sub_dir: Path | None = None

    @property
    def task_dir(self) -> Path:
        """The folder of the task's files."""
        return self.dataset_dir / self.sub_dir if self.sub_dir else self.dataset_dir

    def get(self, key: str, default: Any = None) -> Any:
        """A value of the row."""
        return self.metadata.get(key, default)

    def __getitem__(self, key: str) -> Any:
        return self.metadata[key]

    def __contains__(self, key: object) -> bool:
        return key in self.metadata


@dataclass
class Step:
    """One call of the model."""

    input: Any = None
    output: Any = None
    action: Any = None
    observation: Any = None
    model_response: str = ""
    thought: str = ""
    chat_completions: list[dict[str, Any]] = field(default_factory=list)
    reward: float = 0.0
    done: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Rollout:
    """rLLM's Trajectory: the steps of one agent."""

    name: str = "default_traj_name"
    task: Any = None
    steps: list[Step] = field(default_factory=list)
    reward: float | None = None
    output: Any = None
    signals: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Episode:
    """The actions of an agent for a task."""

    id: str = "0:0"
    task: Any = None
    is_correct: bool = False
    trajectories: list[Rollout] = field(default_factory=list)
    artifacts: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    termination_reason: Any = None


def evaluator(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    """rLLM's decorator; here an evaluator is found by its own name."""
    return function if function is not None else evaluator


def _row(trajectory: Trajectory) -> dict[str, Any]:
    texts = dict.fromkeys(("question", "problem", "prompt"), trajectory.prompt_text)
    task = {"data_source": trajectory.task} if trajectory.task else {}
    return {**texts, **task, **row_of(trajectory)}


def _task(trajectory: Trajectory) -> Task:
    return Task(str(trajectory.id or 0), trajectory.prompt_text, _row(trajectory))


def _episode(trajectory: Trajectory) -> Episode:
    response, task = trajectory.response, _task(trajectory)
    step = Step(trajectory.prompt_text, response, response, None, response, chat_completions=list(trajectory.messages))
    rollout = Rollout(task=task, steps=[step], output=response)
    return Episode(task=task, trajectories=[rollout], artifacts={"answer": response})


_FUNCTION = Convention({"task_info": _row, "action": attrgetter("response")}, fills_columns=False)
_EVALUATION = Convention({"task": _task, "episode": _episode}, by_place=("task", "episode"), fills_columns=False)


def _read(output: Any) -> RewardOutput:
    """The reward of an evaluation, and its signals as components."""
    value = output.get("reward") if isinstance(output, Mapping) else getattr(output, "reward", output)
    number = as_number("the evaluator's reward", value)
    metadata = dict(getattr(output, "metadata", None) or {})
    correct = getattr(output, "is_correct", None)
    if correct is not None:
        metadata["is_correct"] = bool(correct)
    signals = {signal.name: RewardOutput(signal.value) for signal in getattr(output, "signals", None) or ()}
    return RewardOutput(number, score=number if 0.0 <= number <= 1.0 else None, metadata=metadata, components=signals)


def evaluator_reward(foreign: Any) -> ForeignReward:
    """A reward of an evaluator: a function, or an object with `evaluate`."""
    method = getattr(foreign, "evaluate", None)
    return ForeignReward(foreign, _EVALUATION, _read, call=method if callable(method) else None)


def _is_evaluator(candidate: Any) -> bool:
    return list(method_parameters(candidate, "evaluate"))[:2] == _EVALUATOR or (
        not isinstance(candidate, type) and list(parameters(candidate))[:2] == _EVALUATOR
    )


SYSTEM = System(
    "rllm",
    "rLLM",
    (
        Dialect(
            "rLLM function",
            partial(ForeignReward, convention=_FUNCTION, read=read_object),
            asks_for(_FUNCTION, {"task_info", "action"}),
        ),
        Dialect("rLLM evaluator", evaluator_reward, _is_evaluator),
    ),
    stubs={
        "rllm": {
            "rllm": {"evaluator": evaluator},
            "rllm.rewards.reward_types": {"RewardOutput": RLLMOutput},
            "rllm.eval.types": {"EvalOutput": EvalOutput, "Signal": Signal},
            "rllm.types": {"Episode": Episode, "Step": Step, "Task": Task, "Trajectory": Rollout},
        }
    },
)
