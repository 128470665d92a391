"""TRL rewards: functions and objects of `(prompts, completions, **columns)` that return a number or None per sample.

An exported reward is such an object. TRL leaves out a sample whose reward is None. A batch there is the slice of one
process, so a reward of groups needs to know their size, and a group that was cut is an error.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from plaudit.columns import our_name
from plaudit.contract.output import RewardOutput
from plaudit.dialects.completions import CompletionsReward, is_completions_class, is_completions_function
from plaudit.dialects.dialect import Dialect, method_parameters, parameters, required_names
from plaudit.dialects.export import ExportedReward, OnUnscored
from plaudit.dialects.standins import Packages
from plaudit.errors import ScoringFailed
from plaudit.trajectory import Tokens, Trajectory, message_text

__all__ = ["DIALECTS", "STAND_INS", "TRLExport"]

_OF_TRAINER = {"trainer_state", "log_extra", "log_metric", "environments"}


class TRLExport(ExportedReward):
    """A reward for `GRPOTrainer(reward_funcs=…)`; components and the share not scored go to TRL's own log."""

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One number per sample, None where there is none."""
        step = getattr(columns.get("trainer_state"), "global_step", None)
        rows = {name: values for name, values in columns.items() if name not in _OF_TRAINER and _is_column(values)}
        trajectories = [
            _trajectory(
                prompts[place],
                completions[place],
                None if completion_ids is None else completion_ids[place],
                {name: values[place] for name, values in rows.items() if place < len(values)},
                step,
            )
            for place in range(len(completions))
        ]
        self._check_groups(trajectories)
        outputs = self.score(trajectories)
        if callable(columns.get("log_metric")):
            _log(self.__name__, outputs, columns["log_metric"])
        return self.values(trajectories, outputs)

    def _check_groups(self, trajectories: Sequence[Trajectory]) -> None:
        if self.group_size is None:
            return
        counts = Counter(trajectory.group_key for trajectory in trajectories)
        cut = next((key for key, count in counts.items() if count % self.group_size), None)
        if cut is not None:
            raise ScoringFailed(
                f"{self.__name__} needs whole groups of {self.group_size}, and TRL gave {counts[cut]} samples of the "
                f"prompt {str(cut)!r:.60}: make the batch of a process a multiple of num_generations"
            )


def _is_column(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str)


def _trajectory(prompt: Any, completion: Any, ids: Any, row: dict[str, Any], step: int | None) -> Trajectory:
    """The sample of one row; the ground truth under whatever usual name it has."""
    text = completion if isinstance(completion, str) else "".join(message_text(message) for message in completion)
    fields = {ours: row[name] for name in row if (ours := our_name(name)) in ("ground_truth", "task")}
    return Trajectory(
        prompt,
        text,
        ground_truth=row.get("ground_truth", fields.get("ground_truth")),
        task=fields.get("task"),
        tokens=None if ids is None else Tokens(ids=[int(each) for each in ids]),
        training_step=step,
        columns={name: value for name, value in row.items() if name not in Trajectory.FIELDS},
    )


def _log(name: str, outputs: Sequence[RewardOutput], log_metric: Callable[[str, float], None]) -> None:
    """The mean of every component, and the share of samples that were not scored."""
    log_metric(f"{name}/unscored", sum(not output.ok for output in outputs) / len(outputs))
    components: dict[str, list[float]] = {}
    for output in outputs:
        for key, part in output.flat_components().items():
            if part.reward is not None:
                components.setdefault(key, []).append(part.reward)
    for key, values in components.items():
        log_metric(f"{name}/{key}", sum(values) / len(values))


def _resembles(candidate: Any) -> bool:
    """Whether a function or object takes whatever it is given, as `**kwargs` that hold the completions."""
    is_class = isinstance(candidate, type)
    asked = method_parameters(candidate, "__call__") if is_class else parameters(candidate)
    return any(each.kind is each.VAR_KEYWORD for each in asked.values()) and not required_names(asked)


def _recognises(candidate: Any) -> bool:
    areal = {"prompt_ids", "completion_ids"} <= set(parameters(candidate))
    is_function = inspect.isroutine(candidate)
    return not areal and (is_completions_function(candidate) if is_function else is_completions_class(candidate))


DIALECTS = (
    Dialect(
        "trl",
        "TRL function",
        frozenset({"trl", "open_r1"}),
        CompletionsReward,
        _recognises,
        _resembles,
        export=TRLExport,
        on_unscored=OnUnscored.NONE,
    ),
)
STAND_INS: Packages = {"trl": {"trl": {}}}
