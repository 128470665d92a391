"""One environment's instance, called in the way of its contract; the same code runs in threads and in processes."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from plaudit.agents.environment import Environment, EpisodeStart, StepResult
from plaudit.errors import AgentError

__all__ = ["ActionStates", "EnvironmentSession", "FirstObservation", "RunCall"]

RunCall = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a call that may block, and awaits what it returns."""


@dataclass(frozen=True, slots=True)
class FirstObservation:
    """What `reset` gave; `text` is None where the prompt stays as it is."""

    text: str | None
    images: Any = None


class ActionStates(msgspec.Struct, frozen=True):
    """What an environment gets to know of an action; a typed one is told no more than its text."""

    observation_text: str
    action_text: str
    label: Any = None
    sampling_params: Any = None
    images: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The dict of OpenRLHF's contract."""
        states = {name: getattr(self, name) for name in ("observation_text", "action_text", "label", "sampling_params")}
        return states if self.images is None else {**states, "images": self.images}


class EnvironmentSession:
    """An instance, made when the episode begins. `run_blocking` is given the methods that are not `async def`."""

    def __init__(self, environment: type, run_blocking: RunCall) -> None:
        self._class, self._run_blocking = environment, run_blocking
        self._is_typed = issubclass(environment, Environment)
        self._instance: Any = None
        self._step: Callable[[Any], Awaitable[Any]]

    async def create(self) -> None:
        """Make the instance, even where its `__init__` is async, which Python itself does not allow."""

        kind: Any = self._class

        def build() -> Any:
            self._instance = kind.__new__(kind)
            return kind.__init__(self._instance)

        if self.is_async("create"):
            await _await_if_needed(build())  # an environment that is all async minds the event loop itself
        else:
            await self._run_blocking(build)
        self._step = self._awaitable(self._instance.step)

    def is_async(self, method: str) -> bool:
        """Whether `create`, `reset` or `step` runs in the event loop, instead of being given to `run_blocking`."""
        if method != "create":
            return inspect.iscoroutinefunction(getattr(self._instance, method, None))
        kind: Any = self._class
        return inspect.iscoroutinefunction(kind.__init__) or all(
            map(inspect.iscoroutinefunction, (kind.reset, kind.step))
        )

    async def reset(self, start: EpisodeStart) -> FirstObservation:
        """The first observation."""
        if self._is_typed:
            text = await self._awaitable(self._instance.reset)(start)
            if text is not None and not isinstance(text, str):
                raise AgentError(f"reset must return text, or None for the prompt as it is; got {text!r:.80}")
            return FirstObservation(text, start.images)
        states = {"observation": start.prompt, "label": start.ground_truth}
        if start.images is not None:
            states["images"] = start.images
        returned = await self._awaitable(self._instance.reset)(states)
        if not isinstance(returned, Mapping) or not isinstance(returned.get("observation"), str):
            raise AgentError(f"reset must return {{'observation': text}}, got {returned!r:.80}")
        return FirstObservation(str(returned["observation"]), returned.get("images", start.images))

    async def step(self, states: ActionStates) -> StepResult:
        """What the action led to, checked."""
        if not self._is_typed:
            return StepResult.of(await self._step(states.as_dict()))
        result = await self._step(states.action_text)
        if not isinstance(result, StepResult):
            raise AgentError(f"step must return a StepResult, got {type(result).__name__}")
        return result

    def _awaitable(self, method: Callable[[Any], Any]) -> Callable[[Any], Awaitable[Any]]:
        """The method as one that is awaited; looking at it takes longer than most calls."""
        if inspect.iscoroutinefunction(method):
            return method

        async def call(argument: Any) -> Any:
            return await _await_if_needed(await self._run_blocking(partial(method, argument)))

        return call


async def _await_if_needed(returned: Any) -> Any:
    return await returned if inspect.isawaitable(returned) else returned
