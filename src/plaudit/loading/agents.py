"""Find the agent in a file: its environment class, and its executor class where it has one of ours.

An executor of an installed OpenRLHF wants that package's engines; its environments run with our executor all the same.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit.agents import Agent, AgentExecutor, AgentInstance
from plaudit.errors import AgentError
from plaudit.loading.importing import module_from_file

__all__ = ["load_agent"]


def load_agent(path: str | Path) -> Agent:
    """The agent in a file: `AgentInstance`, or the only class with `reset` and `step`, or a function `step`."""
    module = module_from_file(Path(path))
    environment = _choose(path, "AgentInstance", [each for each in _own_classes(module) if _is_environment(each)])
    if environment is None and inspect.iscoroutinefunction(getattr(module, "step", None)):
        environment = _environment_of(module.step)
    executors = [each for each in _own_classes(module) if issubclass(each, AgentExecutor)]
    if environment is None:
        raise AgentError(
            f"{path} has no environment: write a class AgentInstance with `async def reset(self, states)` "
            "and `async def step(self, states)`"
        )
    return Agent(environment, _choose(path, "AgentExecutor", executors), str(Path(path).absolute()))


def _environment_of(step: Callable[..., Any]) -> type:
    """The environment that an older agent file has as a mere `async def step(observation, action, label, **kwargs)`.

    It answers with the whole next observation, of which what follows observation and action is the feedback.
    """

    class StepFunction(AgentInstance):
        async def step(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
            observation, action = states["observation_text"], states["action_text"]
            result = await step(observation, action, states["label"], sampling_params=states["sampling_params"])
            following = str(result.get("next_observation", ""))
            if not following.startswith(observation + action) and not result.get("done"):
                raise AgentError("step rewrote the conversation: next_observation must begin with observation + action")
            feedback = following.removeprefix(observation + action) if not result.get("done") else ""
            return {**result, "environment_feedback": feedback}

    return StepFunction


def _own_classes(module: ModuleType) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def _is_environment(candidate: type) -> bool:
    return all(callable(getattr(candidate, method, None)) for method in ("reset", "step"))


def _choose(path: str | Path, name: str, candidates: list[type]) -> type | None:
    """The one of that name, or the only one."""
    named = [each for each in candidates if each.__name__ == name]
    possible = named or candidates
    if len(possible) > 1:
        raise AgentError(
            f"{path} has {', '.join(each.__name__ for each in possible)}; call the one that is meant {name}"
        )
    return possible[0] if possible else None
