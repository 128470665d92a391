"""TRL rewards: functions and objects of `(prompts, completions, **columns)` that return a number or None per sample.

An exported reward is such an object. TRL leaves out a sample whose reward is None. A batch there is the slice of one
process, so a reward of groups needs to know their size, and a group that was cut is an error.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from plaudit.dialects.completions import (
    CompletionsReward,
    is_completions_class,
    is_completions_function,
    trajectories_of,
)
from plaudit.dialects.dialect import Dialect, System, method_parameters, parameters, required_names
from plaudit.dialects.export import Export, ExportedReward, OnUnscored, logs_of

__all__ = ["SYSTEM", "TRLExport"]


class TRLExport(ExportedReward):
    """A reward for `GRPOTrainer(reward_funcs=…)`; what it found goes to TRL's own log, reasons beside completions."""

    takes_nan = True

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One number per sample, None where there is none."""
        trajectories = trajectories_of(prompts, completions, columns, completion_ids)
        self.check_groups(trajectories, "make the batch of a process a multiple of num_generations")
        outputs = self.score(trajectories)
        if callable(log_metric := columns.get("log_metric")):
            for name, value in logs_of(outputs).items():
                log_metric(f"{self.__name__}/{name}", value)
        if callable(log_extra := columns.get("log_extra")) and any(not output.ok for output in outputs):
            log_extra(f"{self.__name__}/unscored", [output.reason if not output.ok else "" for output in outputs])
        return self.values(trajectories, outputs)


def _resembles(candidate: Any) -> bool:
    """Whether a function or object takes whatever it is given, as `**kwargs` that hold the completions."""
    is_class = isinstance(candidate, type)
    asked = method_parameters(candidate, "__call__") if is_class else parameters(candidate)
    return any(each.kind is each.VAR_KEYWORD for each in asked.values()) and not required_names(asked)


def _recognises(candidate: Any) -> bool:
    areal = {"prompt_ids", "completion_ids"} <= set(parameters(candidate))
    is_function = inspect.isroutine(candidate)
    return not areal and (is_completions_function(candidate) if is_function else is_completions_class(candidate))


_HOME = frozenset({"trl", "open_r1"})
SYSTEM = System(
    name="trl",
    title="TRL",
    distribution="trl",
    shape="function or object of `(prompts, completions, **columns)`; text or messages, whichever it takes",
    dialects=(Dialect("trl", "TRL function", _HOME, CompletionsReward, _recognises, _resembles),),
    exports=(
        Export(
            TRLExport,
            (OnUnscored.NONE, OnUnscored.NAN, OnUnscored.MEAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\ntrainer = GRPOTrainer(model=…, reward_funcs=[reward], …)",
        ),
    ),
    stand_ins={"trl": {"trl": {}}},
)
