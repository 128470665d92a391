"""Find the agent in a file: its environment class, and its executor class where it has one of ours.

An executor of an installed OpenRLHF wants that package's engines; its environments run with our executor all the same.
"""

from pathlib import Path
from types import ModuleType

from plaudit.agents import Agent, AgentExecutor
from plaudit.errors import AgentError
from plaudit.loading.importing import module_from_file

__all__ = ["load_agent"]


def load_agent(path: str | Path) -> Agent:
    """The agent in a file: the class `AgentInstance`, or the only one with `reset` and `step`; and `AgentExecutor`."""
    module = module_from_file(Path(path))
    environment = _choose(path, "AgentInstance", [each for each in _own_classes(module) if _is_environment(each)])
    executors = [each for each in _own_classes(module) if issubclass(each, AgentExecutor)]
    if environment is None:
        raise AgentError(
            f"{path} has no environment: write a class AgentInstance with `async def reset(self, states)` "
            "and `async def step(self, states)`"
        )
    return Agent(environment, _choose(path, "AgentExecutor", executors))


def _own_classes(module: ModuleType) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def _is_environment(candidate: type) -> bool:
    return all(callable(getattr(candidate, method, None)) for method in ("reset", "step"))


def _choose(path: str | Path, name: str, candidates: list[type]) -> type | None:
    """The one of that name, or the only one."""
    named = [each for each in candidates if each.__name__ == name]
    possible = named or candidates
    if len(possible) > 1:
        raise AgentError(
            f"{path} has {', '.join(each.__name__ for each in possible)}; call the one that is meant {name}"
        )
    return possible[0] if possible else None
