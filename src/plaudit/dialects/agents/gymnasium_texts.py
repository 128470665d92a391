"""Gymnasium environments with texts as observations and as actions.

An observation may also be a dict with one text. A discrete action is the first integer in the model's text; an
invalid action costs a step and its feedback lists the choices. Rewards are summed, `info` goes to the logs.
"""

import re
import sys
from typing import Any

from plaudit.agents import Environment, EpisodeStart, StepResult
from plaudit.errors import AgentError

__all__ = ["adapt", "matches"]

_NUMBER = re.compile(r"-?\d{1,9}")


def matches(candidate: Any) -> bool:
    """A subclass of gymnasium's Env; its module has imported gymnasium."""
    gymnasium = sys.modules.get("gymnasium")
    return gymnasium is not None and isinstance(candidate, type) and issubclass(candidate, gymnasium.Env)


def adapt(foreign: type) -> type[Environment]:
    """Wrap the class as a plaudit environment."""

    class GymnasiumEnvironment(Environment):
        def reset(self, start: EpisodeStart) -> str:
            self.inner = foreign()
            options = {"prompt": start.prompt, "ground_truth": start.ground_truth}
            observation, _ = self.inner.reset(seed=start.seed % 2**32, options=options)
            return f"{start.prompt}{_text(foreign, observation)}"

        def step(self, action: str) -> StepResult:
            chosen = self._choose(action)
            if chosen is None:
                space = self.inner.action_space
                first = int(space.start)
                return StepResult(f"\nSay a number from {first} to {first + int(space.n) - 1}.\n", False, 0.0)
            observation, reward, terminated, truncated, info = self.inner.step(chosen)
            feedback = _text(foreign, observation)
            return StepResult(feedback, bool(terminated or truncated), float(reward), logs=info)

        def _choose(self, action: str) -> Any:
            space = self.inner.action_space
            if not hasattr(space, "n"):
                return action
            number = _NUMBER.search(action)
            return int(number.group()) if number and space.contains(int(number.group())) else None

    GymnasiumEnvironment.__name__ = foreign.__name__
    return GymnasiumEnvironment


def _text(foreign: type, observation: Any) -> str:
    if isinstance(observation, dict):
        texts = [value for value in observation.values() if isinstance(value, str)]
        observation = texts[0] if len(texts) == 1 else observation
    if not isinstance(observation, str):
        raise AgentError(
            f"{foreign.__name__} gives {type(observation).__name__} as observations, and only text is supported"
        )
    return observation
