"""What an agent file offers: the class of its environments, and the class of its executors where it has one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.agents.engine import Engine
from plaudit.agents.episode import EpisodeLimits
from plaudit.agents.executor import AgentExecutor
from plaudit.errors import AgentError

__all__ = ["Agent"]

GIVEN_TO_INIT = ("max_steps", "max_length", "llm_engine", "hf_tokenizer", "result_queue")
GIVEN_TO_EXECUTE = ("prompt", "label", "sampling_params", "max_length", "hf_tokenizer", "llm_engine", "images")


@dataclass(frozen=True, slots=True)
class Agent:
    """An environment class and how its episodes are executed: by `AgentExecutor`, or by a subclass of it."""

    environment: type
    executor: type[AgentExecutor] | None = None

    def __post_init__(self) -> None:
        if self.executor is not None:
            _check(self.executor, self.executor, GIVEN_TO_INIT)
            _check(self.executor, self.executor.execute, ("self", *GIVEN_TO_EXECUTE))

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


def _check(executor: type, method: Any, given: tuple[str, ...]) -> None:
    """Raise AgentError where a method must be given something that nobody has."""
    for name, parameter in inspect.signature(method).parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in given:
            what = "__init__" if method is executor else "execute"
            raise AgentError(f"{executor.__name__}.{what} asks for {name!r}; it is given {', '.join(given)}")
