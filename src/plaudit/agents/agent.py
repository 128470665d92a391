"""An agent: the class of its environments, and the class of its executor if the agent file defines one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from plaudit.agents.environment import Environment, EpisodeStart
from plaudit.agents.episode import Episode, EpisodeLimits
from plaudit.agents.executor import EPISODE_START, AgentExecutor, read_episode
from plaudit.agents.generation import ActionSampler
from plaudit.agents.hosts import EnvironmentHost, LocalHost
from plaudit.agents.player import Player
from plaudit.agents.process_host import ProcessHost
from plaudit.errors import AgentError

__all__ = ["Agent", "play_episode"]

INIT_ARGUMENTS = ("max_steps", "max_length", "llm_engine", "hf_tokenizer", "result_queue")
EXECUTE_ARGUMENTS = ("max_length", "hf_tokenizer", "llm_engine")


@dataclass(frozen=True, slots=True)
class Agent:
    """An environment class, and the subclass of `AgentExecutor` that plays its episodes, if there is one."""

    environment: type
    executor: type[AgentExecutor] | None = None
    spec: str | None = None
    """The argument of `load_agent`, with which another process loads it again."""

    def __post_init__(self) -> None:
        if self.executor is not None:
            _check_arguments(f"{self.executor.__name__}.__init__", inspect.signature(self.executor), INIT_ARGUMENTS)
            _check_arguments(
                f"{self.executor.__name__}.execute", inspect.signature(self.executor.execute), EXECUTE_ARGUMENTS, 4
            )

    def build_host(self, *, workers: int | None = None) -> EnvironmentHost:
        """The host of the environments: this process, or `workers` others."""
        if workers is None or getattr(self.environment, "in_threads", False):
            return LocalHost(self.environment)
        if self.spec is None:
            raise AgentError(
                f"{self.environment.__name__} was not loaded by `load_agent`: no other process can load it"
            )
        return ProcessHost(self.spec, self.environment, workers=workers)

    def build_player(
        self, sampler: ActionSampler, tokenizer: Any, limits: EpisodeLimits, host: EnvironmentHost | None = None
    ) -> "Player | AgentExecutor":
        """The player of the episodes; the executor of an agent file keeps the attributes that its `__init__` sets."""
        if self.executor is None:
            return Player(host or self.environment, sampler, tokenizer, limits)
        arguments: dict[str, Any] = {
            "max_steps": limits.max_steps,
            "max_length": limits.max_length,
            "llm_engine": sampler,
            "hf_tokenizer": tokenizer,
        }
        accepted = inspect.signature(self.executor).parameters
        build: Callable[..., AgentExecutor] = self.executor
        executor = build(**{name: arguments.get(name) for name in INIT_ARGUMENTS if name in accepted})
        for name, value in {**arguments, "deadline_s": limits.deadline_s, "host": host}.items():
            if getattr(executor, name, None) is None:
                setattr(executor, name, value)
        return executor


async def play_episode(
    player: Player | AgentExecutor, prompt: str, start: EpisodeStart, sampling_params: Any
) -> Episode:
    """One episode; `prompt` is the text of `start` as the model sees it, for contracts without chat messages."""
    if isinstance(player, Player):
        if not issubclass(player.host.environment, Environment):
            start = replace(start, prompt=prompt)
        return await player.play(start, sampling_params)
    accepted = inspect.signature(player.execute).parameters
    arguments = {name: getattr(player, name) for name in EXECUTE_ARGUMENTS if name in accepted}
    EPISODE_START.set(start)
    result = await player.execute(prompt, start.ground_truth, sampling_params, **arguments)
    return read_episode(result, player.hf_tokenizer)


def _check_arguments(method: str, signature: inspect.Signature, available: tuple[str, ...], first: int = 0) -> None:
    """Raise AgentError if a method requires an argument that is not available, from its `first` parameter on."""
    for name, parameter in list(signature.parameters.items())[first:]:
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in available:
            raise AgentError(f"{method} needs {name!r}; available are {', '.join(available)}")
