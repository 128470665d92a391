"""TRL rewards: functions and objects of `(prompts, completions, **columns)` that return a number or None per sample."""

import inspect
from typing import Any

from plaudit.dialects.completions import CompletionsReward, is_completions_class, is_completions_function
from plaudit.dialects.dialect import Dialect, method_parameters, parameters, required

__all__ = ["DIALECTS", "STAND_INS"]


def _resembles(candidate: Any) -> bool:
    """Whether a function or object takes whatever it is given, as `**kwargs` that hold the completions."""
    is_class = isinstance(candidate, type)
    asked = method_parameters(candidate, "__call__") if is_class else parameters(candidate)
    return any(each.kind is each.VAR_KEYWORD for each in asked.values()) and not required(asked)


def _recognises(candidate: Any) -> bool:
    areal = {"prompt_ids", "completion_ids"} <= set(parameters(candidate))
    is_function = inspect.isroutine(candidate)
    return not areal and (is_completions_function(candidate) if is_function else is_completions_class(candidate))


DIALECTS = (Dialect("trl", "TRL function", frozenset({"trl", "open_r1"}), CompletionsReward, _recognises, _resembles),)
STAND_INS: dict[str, dict[str, object]] = {"trl": {}}
