"""TRL, ms-swift, Tunix and Agent-Tunix: functions and objects of `(prompts, completions, **columns)`.

Every argument is a list with one value per sample; `**columns` get all columns and metadata of the data, and the ground
truth under its usual names. For TRL a completion is text where the prompt is text, and a list of messages where the
prompt is a chat, unless the user names a form; for the others it is text. ms-swift calls objects of ORM classes.
Agent-Tunix also documents functions of `(response, prompt, metadata)`, whose metadata hold the expected answer.
"""

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import MISSING, Convention, Lookup, PerCall, own_values, row_of
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.results import read_columns
from plaudit.dialects.signatures import call_parameters, parameters, required_names
from plaudit.dialects.stub_packages import LazyStub
from plaudit.trajectory import Trajectory

_ASKED = {"completions", "completion_ids"}
_NOTE = (
    "completions are text where the prompt is text, and messages where it is a chat; dialect='trl:text' or "
    "'trl:messages' (--dialect) gives the function one form"
)


def _trainer_state(trajectories: Sequence[Trajectory]) -> SimpleNamespace:
    """The state of the trainer, as far as the samples contain it."""
    return SimpleNamespace(global_step=trajectories[0].training_step or 0)


def _no_log(trajectories: Sequence[Trajectory]) -> Callable[..., None]:
    """The trainer's log function, where there is no trainer."""
    return lambda *_: None


_OF_TRL: dict[str, PerCall] = {"trainer_state": _trainer_state, "log_extra": _no_log, "log_metric": _no_log}
"""The arguments that TRL itself passes to every function."""


def completions_reward(foreign: Any, *, form: str = "", per_call: Mapping[str, PerCall] = _OF_TRL) -> ForeignReward:
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


def _is_chat(form: str, trajectory: Trajectory) -> bool:
    return form == "messages" or (not form and not isinstance(trajectory.prompt, str))


def _prompt(form: str, trajectory: Trajectory) -> Any:
    return trajectory.messages[:-1] if _is_chat(form, trajectory) else trajectory.prompt_text


def _completion(form: str, trajectory: Trajectory) -> Any:
    return trajectory.messages[-1:] if _is_chat(form, trajectory) else trajectory.response


def _completion_ids(trajectory: Trajectory) -> Any:
    return MISSING if trajectory.tokens is None else trajectory.tokens.ids


def _is_completions_function(candidate: Any) -> bool:
    """Whether a function takes completions, as text or as tokens."""
    return not isinstance(candidate, type) and bool(_ASKED & set(parameters(candidate)))


def _is_completions_class(candidate: Any) -> bool:
    """Whether the objects of a class, or an object, are called with completions."""
    return bool(_ASKED & set(call_parameters(candidate)))


def _matches_trl(candidate: Any) -> bool:
    if {"prompt_ids", "completion_ids"} <= set(parameters(candidate)):  # AReaL's
        return False
    is_function = inspect.isroutine(candidate)
    return _is_completions_function(candidate) if is_function else _is_completions_class(candidate)


def _matches_trl_if_imported(candidate: Any) -> bool:
    """Whether a function or object takes only `**kwargs`, which then hold the completions."""
    accepted = call_parameters(candidate)
    return any(each.kind is each.VAR_KEYWORD for each in accepted.values()) and not required_names(accepted)


class ORM:
    """The base of outcome rewards in ms-swift: define `__call__(completions, **columns)`, sync or async."""

    def __init__(self, args: Any = None, **keywords: Any) -> None:
        self.args = args

    def __call__(self, **keywords: Any) -> list[float]:
        raise NotImplementedError


def _register(name: str) -> Callable[[Any], Any]:
    """Tunix's decorator that registers a function; plaudit finds it by its own name."""
    return lambda function: function


def _agent_tunix_metadata(trajectory: Trajectory) -> dict[str, Any]:
    """Metadata and columns, and the ground truth as `answer` where they have none."""
    truth = {} if trajectory.ground_truth is None else {"answer": trajectory.ground_truth}
    return {**truth, **own_values(trajectory)}


_AGENT_TUNIX = Convention(
    names={
        "response": attrgetter("response"),
        "prompt": attrgetter("prompt_text"),
        "metadata": _agent_tunix_metadata,
    },
    fills_columns=False,
)


def _matches_agent_tunix(candidate: Any) -> bool:
    return {"response", "metadata"} <= set(parameters(candidate)) <= set(_AGENT_TUNIX.names)


_OF_SWIFT: dict[str, PerCall] = {
    "trainer_state": _trainer_state,
    "messages": lambda trajectories: [trajectory.messages for trajectory in trajectories],
}
_SWIFT_REWARDS: dict[str, object] = {"ORM": ORM, "AsyncORM": ORM, "orms": {}, "rm_plugins": {}, "prms": {}}
_to_agent_tunix = partial(ForeignReward, convention=_AGENT_TUNIX)
_to_swift = partial(completions_reward, form="text", per_call=_OF_SWIFT)
_to_text = partial(completions_reward, form="text", per_call={})

SYSTEMS = (
    System(
        "agent_tunix",
        "Agent-Tunix",
        (
            Dialect("Agent-Tunix function", _to_agent_tunix, _matches_agent_tunix),
            Dialect("Agent-Tunix function", _to_text, matches_if_imported=_is_completions_function),
        ),
        stubs={"agent_tunix": LazyStub("plaudit.dialects.packages.agent_tunix_rewards", "STUBS")},
    ),
    System(
        "swift",
        "ms-swift",
        (Dialect("ms-swift ORM", _to_swift, matches_if_imported=_is_completions_class),),
        stubs={
            "swift": {
                "swift.rewards": _SWIFT_REWARDS,
                "swift.rewards.orm": _SWIFT_REWARDS,
                "swift.plugin": _SWIFT_REWARDS,
                "swift.plugin.orm": _SWIFT_REWARDS,
                "swift.plugin.multi_turn": {"multi_turns": {}},
                "swift.rollout.multi_turn": {"multi_turns": {}},
                "swift.rollout.gym_env": {"envs": {}, "context_managers": {}},
                "swift.utils": {"get_logger": logging.getLogger},
            }
        },
    ),
    System(
        "trl",
        "TRL",
        tuple(
            Dialect(
                "TRL function",
                partial(completions_reward, form=form),
                _matches_trl,
                _matches_trl_if_imported,
                form=form,
            )
            for form in ("", "text", "messages")
        ),
        packages=frozenset({"open_r1"}),
        stubs={"trl": {"trl": {}}},
    ),
    System(
        "tunix",
        "Tunix",
        (Dialect("Tunix function", _to_text, matches_if_imported=_is_completions_function),),
        stubs={
            "tunix": {
                "tunix": {},
                "tunix.rl.agentic.rewards.reward": {"register": _register},
                "tunix.rl.agentic.rewards.reward_types": {"RewardOutput": RewardOutput},
            },
        },
    ),
)
