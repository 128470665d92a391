"""TRL's `environment_factory` classes: public methods are tools, `reset(**row)` begins, `get_reward()` may judge.

TRL shows what `reset` returns after the last user message, and ends a rollout with the first action that calls no tool.
Without `get_reward` no reward is given here: a reward function scores the episode.
"""

import inspect
from collections.abc import Callable
from typing import Any

from plaudit.agents import Environment, EpisodeStart, StepResult, ToolEnvironment
from plaudit.contract.calling import await_value

__all__ = ["adapt", "matches"]


def matches(found: Any) -> bool:
    """A class with `reset` and public methods beside it, but without `step`."""
    if not isinstance(found, type) or issubclass(found, Environment) or not callable(getattr(found, "reset", None)):
        return False
    return not hasattr(found, "step") and bool(_tools(found))


def adapt(found: type) -> type[Environment]:
    """The class as an environment of ours."""

    class TRLEnvironment(ToolEnvironment):
        tools = tuple(_tools(found))

        def reset(self, start: EpisodeStart) -> str | None:
            self.inner = found()
            for tool in self.tools:  # so that calls reach this episode's instance
                setattr(self, tool.__name__, getattr(self.inner, tool.__name__))
            row = {**start.metadata, "prompt": list(start.messages) or start.prompt, "ground_truth": start.ground_truth}
            observation = await_value(self.inner.reset(**row))
            if observation is None:
                return None
            return f"{start.prompt}{observation}"

        def finish(self, action: str) -> StepResult:
            judge = getattr(self.inner, "get_reward", None)
            reward = None if judge is None else float(await_value(judge()))
            return StepResult("", True, reward)

    TRLEnvironment.__name__ = found.__name__
    return TRLEnvironment


def _tools(found: type) -> list[Callable[..., Any]]:
    return [
        method
        for name, method in inspect.getmembers(found, predicate=inspect.isfunction)
        if not name.startswith("_") and name not in ("reset", "get_reward")
    ]
