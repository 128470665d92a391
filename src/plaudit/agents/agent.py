"""What an agent file offers: the class of its environments, and the class of its executors where it has one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.agents.episode import Episode, EpisodeLimits
from plaudit.agents.executor import AgentExecutor, episode_of
from plaudit.agents.generation import Engine
from plaudit.errors import AgentError

__all__ = ["Agent", "executed"]

GIVEN_TO_INIT = ("max_steps", "max_length", "llm_engine", "hf_tokenizer", "result_queue")
GIVEN_TO_EXECUTE = ("max_length", "hf_tokenizer", "llm_engine")


@dataclass(frozen=True, slots=True)
class Agent:
    """An environment class and how its episodes are executed: by `AgentExecutor`, or by a subclass of it."""

    environment: type
    executor: type[AgentExecutor] | None = None

    def __post_init__(self) -> None:
        if self.executor is not None:
            _check(f"{self.executor.__name__}.__init__", inspect.signature(self.executor), GIVEN_TO_INIT)
            _check(f"{self.executor.__name__}.execute", inspect.signature(self.executor.execute), GIVEN_TO_EXECUTE, 4)

    def executor_for(self, engine: Engine, tokenizer: Any, limits: EpisodeLimits) -> AgentExecutor:
        """An executor with everything it needs; what its own `__init__` sets is left as it is."""
        given: dict[str, Any] = {
            "max_steps": limits.max_steps,
            "max_length": limits.max_length,
            "llm_engine": engine,
            "hf_tokenizer": tokenizer,
        }
        if self.executor is None:
            executor = AgentExecutor(self.environment)
        else:
            asked = inspect.signature(self.executor).parameters
            build: Callable[..., AgentExecutor] = self.executor
            executor = build(**{name: given.get(name) for name in GIVEN_TO_INIT if name in asked})
        for name, value in {**given, "deadline_s": limits.deadline_s}.items():
            if getattr(executor, name, None) is None:
                setattr(executor, name, value)
        return executor


async def executed(executor: AgentExecutor, prompt: str, label: Any, sampling_params: Any) -> Episode:
    """One episode, by the executor's own `execute` with the arguments that it asks for."""
    asked = inspect.signature(executor.execute).parameters
    more = {name: getattr(executor, name) for name in GIVEN_TO_EXECUTE if name in asked}
    result = await executor.execute(prompt, label, sampling_params, **more)
    return episode_of(result, executor.hf_tokenizer)


def _check(method: str, signature: inspect.Signature, given: tuple[str, ...], first: int = 0) -> None:
    """Raise AgentError where a method must be given something that nobody has, from its `first` parameter on."""
    for name, parameter in list(signature.parameters.items())[first:]:
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in given:
            raise AgentError(f"{method} asks for {name!r}; it is given {', '.join(given)}")
