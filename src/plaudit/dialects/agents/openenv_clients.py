"""OpenEnv clients: `reset()` and `step(action)` give results with `observation`, `reward` and `done`.

`base_url` of the class is the address of its server. A text field of the action (`message`, `text`, `action`, …) gets
the model's text, and a text field of the observation is the feedback.
"""

import dataclasses
import inspect
import sys
from typing import Any, get_type_hints

from plaudit.agents import Environment, EpisodeStart, StepResult
from plaudit.contract.calling import await_value
from plaudit.errors import AgentError

__all__ = ["adapt", "matches"]

FIELDS = ("message", "text", "action", "content", "prompt", "code", "command", "word")
OBSERVED = ("echoed_message", "message", "text", "prompt", "content", "output", "stdout", "result", "observation")


def matches(candidate: Any) -> bool:
    """A subclass of OpenEnv's client; its module has imported OpenEnv."""
    modules = [sys.modules.get(name) for name in ("openenv.core", "openenv.core.env_client", "openenv_core")]
    bases = [getattr(module, name, None) for module in modules for name in ("EnvClient", "HTTPEnvClient")]
    return isinstance(candidate, type) and any(isinstance(base, type) and issubclass(candidate, base) for base in bases)


def adapt(client: type) -> type[Environment]:
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
            return f"{start.prompt}{_text(result.observation)}"

        def step(self, action: str) -> StepResult:
            result = await_value(self.inner.step(build_action(action)))
            reward = None if result.reward is None else float(result.reward)
            if result.done and hasattr(self.inner, "close"):
                await_value(self.inner.close())
            return StepResult(_text(result.observation), bool(result.done), reward)

    OpenEnvEnvironment.__name__ = client.__name__
    return OpenEnvEnvironment


def _action_builder(client: type) -> Any:
    """A function from text to action: it fills the text field of the type that the client sends."""
    payload: Any = getattr(client, "_step_payload", None)
    hints = get_type_hints(payload) if payload is not None else {}
    names = [name for name in hints if name != "return"]
    kind = hints.get(names[0]) if names else None
    if not isinstance(kind, type):
        raise AgentError(f"{client.__name__}: annotate the action of `_step_payload`, so that one can be made")
    fields = getattr(kind, "model_fields", None) or {field.name: field for field in _dataclass_fields(kind)}
    texts = [name for name in fields if name in FIELDS] or list(inspect.signature(kind).parameters)[:1]
    return lambda text: kind(**{texts[0]: text})


def _dataclass_fields(kind: type) -> tuple[Any, ...]:
    return dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()


def _text(observation: Any) -> str:
    if isinstance(observation, str):
        return observation
    for name in OBSERVED:
        value = getattr(observation, name, None)
        if isinstance(value, str):
            return value
    raise AgentError(f"no text in an observation of {type(observation).__name__}; give it one of {', '.join(OBSERVED)}")
