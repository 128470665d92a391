"""An agent file's content: the class of its environments, and the class of its executors where it has one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.agents.episode import Episode, EpisodeLimits
from plaudit.agents.executor import AgentExecutor, read_episode
from plaudit.agents.generation import ActionSampler
from plaudit.agents.hosting.host import EnvironmentHost, LocalHost
from plaudit.agents.hosting.process_host import ProcessHost
from plaudit.agents.player import STARTING
from plaudit.errors import AgentError

__all__ = ["Agent", "run_executor"]

INIT_ARGUMENTS = ("max_steps", "max_length", "llm_engine", "hf_tokenizer", "result_queue")
EXECUTE_ARGUMENTS = ("max_length", "hf_tokenizer", "llm_engine")


@dataclass(frozen=True, slots=True)
class Agent:
    """An environment class and how its episodes are executed: by `AgentExecutor`, or by a subclass of it."""

    environment: type
    executor: type[AgentExecutor] | None = None
    spec: str | None = None
    """What `load_agent` was given: another process can load it again."""

    def __post_init__(self) -> None:
        if self.executor is not None:
            _check_arguments(f"{self.executor.__name__}.__init__", inspect.signature(self.executor), INIT_ARGUMENTS)
            _check_arguments(
                f"{self.executor.__name__}.execute", inspect.signature(self.executor.execute), EXECUTE_ARGUMENTS, 4
            )

    def build_host(self, *, workers: int | None = None) -> EnvironmentHost:
        """What runs the environments: this process, or so many others."""
        if workers is None or getattr(self.environment, "in_threads", False):
            return LocalHost(self.environment)
        if self.spec is None:
            raise AgentError(
                f"{self.environment.__name__} was not loaded by `load_agent`: no other process can load it"
            )
        return ProcessHost(self.spec, self.environment, workers=workers)

    def build_executor(
        self, sampler: ActionSampler, tokenizer: Any, limits: EpisodeLimits, host: EnvironmentHost | None = None
    ) -> AgentExecutor:
        """An executor with sampler, tokenizer and limits; attributes that its own `__init__` sets are kept."""
        given: dict[str, Any] = {
            "max_steps": limits.max_steps,
            "max_length": limits.max_length,
            "llm_engine": sampler,
            "hf_tokenizer": tokenizer,
        }
        if self.executor is None:
            executor = AgentExecutor(self.environment)
        else:
            asked = inspect.signature(self.executor).parameters
            build: Callable[..., AgentExecutor] = self.executor
            executor = build(**{name: given.get(name) for name in INIT_ARGUMENTS if name in asked})
        for name, value in {**given, "deadline_s": limits.deadline_s, "host": host}.items():
            if getattr(executor, name, None) is None:
                setattr(executor, name, value)
        return executor


async def run_executor(
    executor: AgentExecutor, prompt: str, label: Any, sampling_params: Any, *, start: EpisodeStart | None = None
) -> Episode:
    """One episode, played by the executor's own `execute` with the arguments in its signature."""
    asked = inspect.signature(executor.execute).parameters
    arguments = {name: getattr(executor, name) for name in EXECUTE_ARGUMENTS if name in asked}
    STARTING.set(start)
    result = await executor.execute(prompt, label, sampling_params, **arguments)
    return read_episode(result, executor.hf_tokenizer)


def _check_arguments(method: str, signature: inspect.Signature, available: tuple[str, ...], first: int = 0) -> None:
    """Raise AgentError where a method requires an argument that is not available, from its `first` parameter on."""
    for name, parameter in list(signature.parameters.items())[first:]:
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in available:
            raise AgentError(f"{method} asks for {name!r}; available are {', '.join(available)}")
