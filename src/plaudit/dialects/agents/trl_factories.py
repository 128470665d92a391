"""TRL's `environment_factory` classes: public methods are tools, `reset(**row)` starts, `get_reward()` is optional.

TRL shows what `reset` returns after the last user message, and ends a rollout with the first action that calls no tool.
Without `get_reward` the environment gives no reward: a reward function scores the episode.
"""

import inspect
from collections.abc import Callable
from typing import Any

from plaudit.agents import Environment, EpisodeStart, StepResult, ToolEnvironment
from plaudit.contract.calling import await_value

__all__ = ["adapt", "matches"]


def matches(candidate: Any) -> bool:
    """A class with `reset` and other public methods, but without `step`."""
    if (
        not isinstance(candidate, type)
        or issubclass(candidate, Environment)
        or not callable(getattr(candidate, "reset", None))
    ):
        return False
    return not hasattr(candidate, "step") and bool(_tools(candidate))


def adapt(factory: type) -> type[Environment]:
    """Wrap the class as a plaudit environment."""

    class TRLEnvironment(ToolEnvironment):
        tools = tuple(_tools(factory))

        def reset(self, start: EpisodeStart) -> str | None:
            self.inner = factory()
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

    TRLEnvironment.__name__ = factory.__name__
    return TRLEnvironment


def _tools(factory: type) -> list[Callable[..., Any]]:
    return [
        method
        for name, method in inspect.getmembers(factory, predicate=inspect.isfunction)
        if not name.startswith("_") and name not in ("reset", "get_reward")
    ]
