"""Find the agent that a spec names: a built-in environment, a class in a module, or a file with one.

An executor of an installed OpenRLHF needs that package's engines; its environments also run with our executor.
"""

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit.agents import ENVIRONMENTS, Agent, AgentExecutor, AgentInstance, build_environment
from plaudit.dialects.agents import find_adapter
from plaudit.errors import AgentError, RewardNotLoaded, did_you_mean
from plaudit.loading.execution.statements import check_complete, failures_of, refuse
from plaudit.loading.expressions import parse_call
from plaudit.loading.importing import module_from_file
from plaudit.worlds import WORLDS, find_world

_ENVIRONMENT = re.compile(r"\bdef (?:reset|step)\b|[Ee]nvironment\b|World\b|\bEnv\b")
"""A file without any of these has no environment."""


def load_agent(spec: str | Path) -> Agent:
    """The agent that a spec names.

    `agent.py` is `AgentInstance` in a file, or its only class with `reset` and `step`, or its function `step`;
    `agent.py:Class` and `package.module:Class` name a class, `treasure_hunt(hints=False)` a built-in environment,
    `retail_desk` a ready-made world, `mcp:COMMAND …` or `mcp:URL` the tools of an MCP server, `ors:URL` an ORS server.
    Classes of TRL, Gymnasium and OpenEnv are accepted, and so are environments from `load_environment` of verifiers.
    """
    text = str(spec)
    built_in = _build(text) if text.partition("(")[0] in ENVIRONMENTS else find_world(text)
    if built_in is not None:
        return Agent(built_in, spec=text)
    location, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and (location.endswith(".py") or not Path(text).exists()):
        is_file = location.endswith(".py")
        module = module_from_file(Path(location)) if is_file else _import_module(text, location)
        value = _find(text, module, name)
        check_complete(module, name, value, f"loading {text}")
        return Agent(
            _as_environment(text, value),
            spec=f"{Path(location).absolute()}:{name}" if is_file else text,
        )
    if not text.endswith(".py") and not Path(text).exists():
        known = ", ".join([*ENVIRONMENTS, *WORLDS])
        raise AgentError(
            f"no environment {text!r}{did_you_mean(text, [*ENVIRONMENTS, *WORLDS])} (there is {known}; or name a file, "
            "agent.py, or a class, module:Class)"
        )
    return _agent_in_file(text)


def _build(spec: str) -> type:
    """A built-in environment, with its settings in brackets if there are some."""
    try:
        name, arguments = parse_call(spec)
    except RewardNotLoaded as error:
        raise AgentError(f"{spec}: write settings as name(setting=value): {error}") from None
    if arguments is not None and arguments.positional:
        raise AgentError(f"{spec}: write settings as name(setting=value)")
    return build_environment(name, None if arguments is None else arguments.keywords)


def find_agent(spec: str) -> Agent | None:
    """The agent that a spec names, or None if it names something else, such as a reward."""
    location, _, name = spec.rpartition(":")
    file = Path(location if name.isidentifier() and location.endswith(".py") else spec)
    if file.suffix == ".py" and file.is_file() and not _ENVIRONMENT.search(file.read_text("utf-8", "replace")):
        return None
    try:
        return load_agent(spec)
    except AgentError:
        return None


def _agent_in_file(path: str) -> Agent:
    module = module_from_file(Path(path))
    environment = _choose(path, "AgentInstance", [each for each in _own_classes(module) if _is_environment(each)])
    if environment is None:
        foreign = [each for each in _own_classes(module) if find_adapter(each) is not None]
        builder = getattr(module, "load_environment", None)
        environment = builder if find_adapter(builder) is not None else _choose(path, "AgentInstance", foreign)
    if environment is not None:
        environment = _as_environment(path, environment)
    if environment is None and inspect.iscoroutinefunction(getattr(module, "step", None)):
        environment = _environment_of(module.step)
    for failure in failures_of(module) if environment is None else ():
        raise refuse(failure, f"loading {path}")
    executors = [each for each in _own_classes(module) if issubclass(each, AgentExecutor)]
    if environment is None:
        raise AgentError(
            f"{path} has no environment: write a class AgentInstance with `async def reset(self, states)` "
            "and `async def step(self, states)`"
        )
    executor = _choose(path, "AgentExecutor", executors)
    check_complete(module, "AgentInstance", (environment, executor), f"loading {path}")
    return Agent(environment, executor, str(Path(path).absolute()))


def _environment_of(step: Callable[..., Any]) -> type:
    """The environment that an older agent file has as a mere `async def step(observation, action, label, **kwargs)`.

    It answers with the whole next observation, of which what follows observation and action is the feedback.
    """

    class StepFunction(AgentInstance):
        async def step(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
            observation, action = states["observation_text"], states["action_text"]
            result = await step(observation, action, states["label"], sampling_params=states["sampling_params"])
            following = str(result.get("next_observation", ""))
            if not following.startswith(observation + action) and not result.get("done"):
                raise AgentError("step rewrote the conversation: next_observation must begin with observation + action")
            feedback = following.removeprefix(observation + action) if not result.get("done") else ""
            return {**result, "environment_feedback": feedback}

    return StepFunction


def _import_module(spec: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise AgentError(f"{spec}: {error}") from error


def _find(spec: str, module: ModuleType, name: str) -> Any:
    value = getattr(module, name, None)
    if not isinstance(value, type) and find_adapter(value) is None:
        classes = [each.__name__ for each in _own_classes(module)]
        raise AgentError(f"{spec}: no class {name!r}{did_you_mean(name, classes)}")
    return value


def _as_environment(spec: str, value: Any) -> type:
    """The class itself if it follows one of our contracts, else an environment that wraps the value."""
    adapter = find_adapter(value)
    if adapter is not None:
        try:
            return adapter(value)
        except AgentError as error:
            raise AgentError(f"{spec}: {error}") from error
    if not isinstance(value, type) or not _is_environment(value):
        raise AgentError(f"{spec}: {value.__name__} has no `reset` and `step`")
    return value


def _own_classes(module: ModuleType) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def _is_environment(candidate: type) -> bool:
    return all(callable(getattr(candidate, method, None)) for method in ("reset", "step"))


def _choose(path: str | Path, name: str, candidates: list[type]) -> type | None:
    """The one of that name, or the only one."""
    named = [each for each in candidates if each.__name__ == name]
    possible = named or candidates
    if len(possible) > 1:
        raise AgentError(f"{path} has {', '.join(each.__name__ for each in possible)}; name the intended one {name}")
    return possible[0] if possible else None
