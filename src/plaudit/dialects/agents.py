"""Environments of other systems as ours: Gymnasium, OpenEnv, TRL; those of verifiers are in `verifiers_rollouts`.

- Gymnasium: texts as observations and as actions. An observation may also be a dict with one text. A discrete action is
  the first integer in the model's text; an invalid action costs a step and its feedback lists the choices. Rewards are
  summed, `info` goes to the logs.
- OpenEnv clients: `reset()` and `step(action)` give results with `observation`, `reward` and `done`. `base_url` of the
  class is the address of its server. A text field of the action (`message`, `text`, `action`, …) gets the model's text,
  and a text field of the observation is the feedback.
- TRL's `environment_factory` classes: public methods are tools, `reset(**row)` starts, `get_reward()` is optional. TRL
  shows what `reset` returns after the last user message, and ends a rollout with the first action that calls no tool.
  Without `get_reward` the environment gives no reward: a reward function scores the episode.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

from plaudit.agents import Environment, EpisodeStart, StepResult, ToolEnvironment
from plaudit.contract.calling import await_value
from plaudit.dialects import verifiers_rollouts
from plaudit.errors import AgentError

_NUMBER = re.compile(r"-?\d{1,9}")
_TEXT_FIELDS = ("message", "text", "action", "content", "prompt", "code", "command", "word")
_OBSERVED = ("echoed_message", "message", "text", "prompt", "content", "output", "stdout", "result", "observation")


def find_adapter(candidate: Any) -> Callable[[Any], type] | None:
    """The function that adapts a class or function of another system to an environment; None if there is none."""
    return next((adapt for matches, adapt in _ADAPTERS if matches(candidate)), None)


def _is_gymnasium(candidate: Any) -> bool:
    """A subclass of gymnasium's Env; its module has imported gymnasium."""
    gymnasium = sys.modules.get("gymnasium")
    return gymnasium is not None and isinstance(candidate, type) and issubclass(candidate, gymnasium.Env)


def _adapt_gymnasium(foreign: type) -> type[Environment]:
    """Wrap the class as a plaudit environment."""

    class GymnasiumEnvironment(Environment):
        def reset(self, start: EpisodeStart) -> str:
            self.inner = foreign()
            options = {"prompt": start.prompt, "ground_truth": start.ground_truth}
            observation, _ = self.inner.reset(seed=start.seed % 2**32, options=options)
            return f"{start.prompt}{_gymnasium_text(foreign, observation)}"

        def step(self, action: str) -> StepResult:
            chosen = self._choose(action)
            if chosen is None:
                space = self.inner.action_space
                first = int(space.start)
                return StepResult(f"\nSay a number from {first} to {first + int(space.n) - 1}.\n", False, 0.0)
            observation, reward, terminated, truncated, info = self.inner.step(chosen)
            feedback = _gymnasium_text(foreign, observation)
            return StepResult(feedback, bool(terminated or truncated), float(reward), logs=info)

        def _choose(self, action: str) -> Any:
            space = self.inner.action_space
            if not hasattr(space, "n"):
                return action
            number = _NUMBER.search(action)
            return int(number.group()) if number and space.contains(int(number.group())) else None

    GymnasiumEnvironment.__name__ = foreign.__name__
    return GymnasiumEnvironment


def _gymnasium_text(foreign: type, observation: Any) -> str:
    if isinstance(observation, dict):
        texts = [value for value in observation.values() if isinstance(value, str)]
        observation = texts[0] if len(texts) == 1 else observation
    if not isinstance(observation, str):
        raise AgentError(
            f"{foreign.__name__} gives {type(observation).__name__} as observations, and only text is supported"
        )
    return observation


def _is_openenv(candidate: Any) -> bool:
    """A subclass of OpenEnv's client; its module has imported OpenEnv."""
    modules = [sys.modules.get(name) for name in ("openenv.core", "openenv.core.env_client", "openenv_core")]
    bases = [getattr(module, name, None) for module in modules for name in ("EnvClient", "HTTPEnvClient")]
    return isinstance(candidate, type) and any(isinstance(base, type) and issubclass(candidate, base) for base in bases)


def _adapt_openenv(client: type) -> type[Environment]:
    """Wrap the class as a plaudit environment."""
    build_action = _action_builder(client)

    class OpenEnvEnvironment(Environment):
        def reset(self, start: EpisodeStart) -> str:
            url = getattr(client, "base_url", None)
            if not url:
                raise AgentError(f"{client.__name__}: set `base_url` on the class to its server's address")
            self.inner = client(base_url=url)
            self.inner = self.inner.sync() if hasattr(self.inner, "sync") else self.inner
            result = await_value(self.inner.reset())
            return f"{start.prompt}{_openenv_text(result.observation)}"

        def step(self, action: str) -> StepResult:
            result = await_value(self.inner.step(build_action(action)))
            reward = None if result.reward is None else float(result.reward)
            if result.done and hasattr(self.inner, "close"):
                await_value(self.inner.close())
            return StepResult(_openenv_text(result.observation), bool(result.done), reward)

    OpenEnvEnvironment.__name__ = client.__name__
    return OpenEnvEnvironment


def _action_builder(client: type) -> Any:
    """A function from text to action: it fills the text field of the type that the client sends."""
    payload: Any = getattr(client, "_step_payload", None)
    hints = get_type_hints(payload) if payload is not None else {}
    names = [name for name in hints if name != "return"]
    kind = hints.get(names[0]) if names else None
    if not isinstance(kind, type):
        raise AgentError(f"{client.__name__}: annotate the action of `_step_payload`, which is built from text")
    fields = getattr(kind, "model_fields", None) or {field.name: field for field in _dataclass_fields(kind)}
    texts = [name for name in fields if name in _TEXT_FIELDS] or list(inspect.signature(kind).parameters)[:1]
    return lambda text: kind(**{texts[0]: text})


def _dataclass_fields(kind: type) -> tuple[Any, ...]:
    return dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()


def _openenv_text(observation: Any) -> str:
    if isinstance(observation, str):
        return observation
    for name in _OBSERVED:
        value = getattr(observation, name, None)
        if isinstance(value, str):
            return value
    raise AgentError(
        f"no text in an observation of {type(observation).__name__}; give it one of {', '.join(_OBSERVED)}"
    )


def _is_trl(candidate: Any) -> bool:
    """A class with `reset` and other public methods, but without `step`."""
    if (
        not isinstance(candidate, type)
        or issubclass(candidate, Environment)
        or not callable(getattr(candidate, "reset", None))
    ):
        return False
    return not hasattr(candidate, "step") and bool(_tools(candidate))


def _adapt_trl(factory: type) -> type[Environment]:
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


_ADAPTERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], type]], ...] = (
    (_is_gymnasium, _adapt_gymnasium),
    (_is_openenv, _adapt_openenv),
    (_is_trl, _adapt_trl),
    (verifiers_rollouts.matches, verifiers_rollouts.adapt),
)
