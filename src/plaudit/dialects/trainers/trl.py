"""TRL rewards: functions and objects of `(prompts, completions, **columns)` that return a number or None per sample."""

import inspect
from functools import partial
from typing import Any

from plaudit.dialects.completions import (
    completions_reward,
    is_completions_class,
    is_completions_function,
)
from plaudit.dialects.dialect import Dialect, System, call_parameters, parameters, required_names

__all__ = ["SYSTEM"]


def _matches_if_imported(candidate: Any) -> bool:
    """Whether a function or object takes whatever it is given, as `**kwargs` that hold the completions."""
    asked = call_parameters(candidate)
    return any(each.kind is each.VAR_KEYWORD for each in asked.values()) and not required_names(asked)


def _matches(candidate: Any) -> bool:
    areal = {"prompt_ids", "completion_ids"} <= set(parameters(candidate))
    is_function = inspect.isroutine(candidate)
    return not areal and (is_completions_function(candidate) if is_function else is_completions_class(candidate))


SYSTEM = System(
    name="trl",
    title="TRL",
    distribution="trl",
    shape="function or object of `(prompts, completions, **columns)`; text, or messages where the prompt is a chat",
    dialects=tuple(
        Dialect("TRL function", partial(completions_reward, form=form), _matches, _matches_if_imported, form=form)
        for form in ("", "text", "messages")
    ),
    packages=frozenset({"open_r1"}),
    stand_ins={"trl": {"trl": {}}},
)
