"""Functions and objects of `(prompts, completions, **columns)`, the shape that TRL, ms-swift and Tunix share.

Every argument is a list with one value per sample; `**columns` get all columns and metadata of the data, and the ground
truth under its usual names. A completion is text where the prompt is text, and a list of messages where the prompt is a
chat, unless the user names a form.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import MISSING, Convention, Lookup, PerCall, row_of
from plaudit.dialects.dialect import ForeignReward, call_parameters, parameters, read_columns
from plaudit.trajectory import Trajectory

__all__ = [
    "completions_reward", "is_completions_class", "is_completions_function", "text_completions_reward",
    "trainer_state",
]  # fmt: skip

_ASKED = {"completions", "completion_ids"}
_NOTE = (
    "completions are text where the prompt is text, and messages where it is a chat; dialect='trl:text' or "
    "'trl:messages' (--dialect) gives the function one form"
)


def trainer_state(trajectories: Sequence[Trajectory]) -> SimpleNamespace:
    """The state of the trainer, as far as the samples tell it."""
    return SimpleNamespace(global_step=trajectories[0].training_step or 0)


def _no_log(trajectories: Sequence[Trajectory]) -> Callable[..., None]:
    """The trainer's log function, where there is no trainer."""
    return lambda *_: None


OF_TRL: dict[str, PerCall] = {"trainer_state": trainer_state, "log_extra": _no_log, "log_metric": _no_log}
"""What TRL itself passes to every function."""


def completions_reward(foreign: Any, *, form: str = "", per_call: Mapping[str, PerCall] = OF_TRL) -> ForeignReward:
    """A reward of prompts, completions and columns; `form` is "text" or "messages", and by default the data's.

    `per_call` are what the trainer passes besides the columns.
    """
    arguments: dict[str, Lookup] = {"prompts": partial(_prompt, form), "completions": partial(_completion, form)}
    convention = Convention(
        names={"messages": attrgetter("messages")},
        plurals={**arguments, "completion_ids": _completion_ids},
        per_call=per_call,
        rest=lambda trajectory: {
            **row_of(trajectory),
            **{name: lookup(trajectory) for name, lookup in arguments.items()},
        },
        batched=True,
    )
    return ForeignReward(foreign, convention, read_batch=read_columns, note="" if form else _NOTE)


def text_completions_reward(foreign: Any) -> ForeignReward:
    """The same for systems whose prompts and completions are always text."""
    return completions_reward(foreign, form="text", per_call={})


def _is_chat(form: str, trajectory: Trajectory) -> bool:
    return form == "messages" or (not form and not isinstance(trajectory.prompt, str))


def _prompt(form: str, trajectory: Trajectory) -> Any:
    return trajectory.messages[:-1] if _is_chat(form, trajectory) else trajectory.prompt_text


def _completion(form: str, trajectory: Trajectory) -> Any:
    return trajectory.messages[-1:] if _is_chat(form, trajectory) else trajectory.response


def _completion_ids(trajectory: Trajectory) -> Any:
    return MISSING if trajectory.tokens is None else trajectory.tokens.ids


def is_completions_function(candidate: Any) -> bool:
    """Whether a function asks for completions, as text or as tokens."""
    return not isinstance(candidate, type) and bool(_ASKED & set(parameters(candidate)))


def is_completions_class(candidate: Any) -> bool:
    """Whether the objects of a class, or an object, are called with completions."""
    return bool(_ASKED & set(call_parameters(candidate)))
