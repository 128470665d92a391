"""The environment of an episode: it is reset once and then answers every action.

States and results are dicts with the keys of OpenRLHF's agents, so that its agent files run unchanged; what they
return is checked here. An environment that leaves `rewards` out gives no reward: then a reward function scores.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.output import as_number
from plaudit.errors import AgentError, did_you_mean
from plaudit.jsonline import as_plain

__all__ = ["AgentInstance", "StepResult", "create_environment", "read_number", "read_observation"]

KEYS = ("rewards", "scores", "environment_feedback", "done", "sampling_params", "extra_logs")


class AgentInstance(ABC):
    """One episode's environment; `__init__` may be `async def`."""

    async def reset(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The first observation, for `states` with `observation` (the prompt) and `label` (the ground truth)."""
        return {"observation": states["observation"]}

    @abstractmethod
    async def step(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """What an action leads to, for `states` with `observation_text`, `action_text`, `label`, `sampling_params`.

        The result has `environment_feedback` and `done`, and may have `rewards`, `scores`, `sampling_params` for the
        next action, and `extra_logs`.
        """


async def create_environment(environment: Any) -> Any:
    """An instance of the class, even where its `__init__` is async, which Python itself does not allow."""
    instance = environment.__new__(environment)
    returned = instance.__init__()
    if inspect.isawaitable(returned):
        await returned
    return instance


def read_observation(returned: Any) -> str:
    """The observation in what `reset` returned."""
    if not isinstance(returned, Mapping) or not isinstance(returned.get("observation"), str):
        raise AgentError(f"reset must return {{'observation': text}}, got {returned!r:.80}")
    return str(returned["observation"])


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step returned, checked: `reward` is None where the environment leaves scoring to a reward function."""

    feedback: str
    done: bool
    reward: float | None = None
    score: float | None = None
    sampling_params: Any = None
    logs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, returned: Any) -> "StepResult":
        """The result in the dict that `step` returned; numbers may be tensors with one element."""
        if not isinstance(returned, Mapping):
            raise AgentError(f"step must return a dict with {', '.join(KEYS)}; got {type(returned).__name__}")
        if "done" not in returned:
            hint = did_you_mean("done", map(str, returned))
            raise AgentError(f"step returned no 'done' but {', '.join(map(str, returned)) or 'nothing'}{hint}")
        done = bool(returned["done"])
        feedback = returned.get("environment_feedback", "" if done else None)
        if not isinstance(feedback, str):
            raise AgentError(f"step must return text as 'environment_feedback', got {feedback!r:.60}")
        return cls(
            feedback=feedback,
            done=done,
            reward=read_number("rewards", returned.get("rewards")),
            score=read_number("scores", returned.get("scores")),
            sampling_params=returned.get("sampling_params"),
            logs={str(name): as_plain(_unwrap(value)) for name, value in (returned.get("extra_logs") or {}).items()},
        )


def read_number(what: str, value: Any) -> float | None:
    """A finite number or None; it may come as a tensor or list with one element."""
    value = _unwrap(value)
    return None if value is None else as_number(what, value)


def _unwrap(value: Any) -> Any:
    """Tensors as numbers or lists; a list of one element as that element."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    while isinstance(plain, list | tuple) and len(plain) == 1:
        plain = plain[0]
    return plain
