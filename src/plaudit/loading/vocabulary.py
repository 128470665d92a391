"""The names of the composition language: what expressions and YAML files may call, and which parameters are rewards."""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.errors import RewardNotLoaded, did_you_mean

__all__ = ["FUNCTIONS", "METHODS", "Composer", "find_composer"]

Shape: TypeAlias = Literal["one", "many", "pairs", "tasks"]
"""A reward, a list of rewards, a list of (reward, weight), or a mapping of rewards."""

_NORMALIZERS = ("ZScore", "MinMax", "Group", "Rank", "Quantile", "Running")
METHODS: dict[str, dict[str, Shape]] = {
    "clip": {}, "floor": {}, "scale": {}, "smooth": {}, "sigmoid": {}, "gate": {"self": "one", "on": "one"},
    "normalized": {}, "named": {},
}  # fmt: skip
FUNCTIONS: dict[str, tuple[str, dict[str, Shape]]] = {
    "product": ("compose:product", {"rewards": "many"}),
    "minimum": ("compose:minimum", {"rewards": "many"}),
    "maximum": ("compose:maximum", {"rewards": "many"}),
    "median": ("compose:median", {"rewards": "many"}),
    "cautious": ("compose:cautious", {"rewards": "many"}),
    "lexicographic": ("compose:lexicographic", {"rewards": "many"}),
    "bonus": ("compose:bonus", {"reward": "one", "extras": "pairs"}),
    "gdpo": ("compose:gdpo", {"parts": "pairs"}),
    "panel": ("judges:JudgePanel", {"judges": "many"}),
    "TaskReward": ("compose:TaskReward", {"rewards": "tasks", "default": "one"}),
    "CompositeReward": ("contract.combination:CompositeReward", {"parts": "pairs"}),
    "GroupLength": ("shaping:GroupLength", {"correct": "one"}),
    "ChatTemplateReward": ("loading.chat_template:ChatTemplateReward", {"reward": "one"}),
    **{f"{name}Schedule": (f"schedules:{name}Schedule", {}) for name in ("Linear", "Cosine", "Piecewise")},
    **{f"{name}Normalizer": (f"normalize:{name}Normalizer", {}) for name in _NORMALIZERS},
}
"""Each function with its location and its parameters that are rewards."""


@dataclass(frozen=True, slots=True)
class Composer:
    """A function of the composition language."""

    name: str
    function: Callable[..., Any]
    rewards: Mapping[str, Shape]

    def call(self, positional: Sequence[Any], named: Mapping[str, Any], as_reward: Callable[[Any], Any]) -> Any:
        """The result of a call; `as_reward` converts specs and mappings into rewards."""
        signature = inspect.signature(self.function)
        variadic = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        for name in named:
            if name not in signature.parameters:
                hint = did_you_mean(name, signature.parameters)
                raise RewardNotLoaded(f"{self.name} has no parameter {name!r}{hint} (it takes {signature})")
        if variadic is not None and variadic in named:
            positional, named = named[variadic], {name: value for name, value in named.items() if name != variadic}
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise RewardNotLoaded(f"{self.name} needs other arguments: {error} (it takes {signature})") from None
        for name, shape in self.rewards.items():
            if bound.arguments.get(name) is not None:
                bound.arguments[name] = _read_rewards(bound.arguments[name], shape, as_reward)
        return self.function(*bound.args, **bound.kwargs)


def find_composer(name: str) -> Composer | None:
    """The function or method of that name; a method has the reward as its first parameter."""
    if name in METHODS:
        return Composer(name, getattr(RewardFunction, name), METHODS[name])
    if name not in FUNCTIONS:
        return None
    location, rewards = FUNCTIONS[name]
    module, _, attribute = location.partition(":")
    return Composer(name, getattr(importlib.import_module(f"plaudit.{module}"), attribute), rewards)


def _read_rewards(value: Any, shape: Shape, as_reward: Callable[[Any], Any]) -> Any:
    if shape == "one":
        return as_reward(value)
    if shape == "tasks":
        if not isinstance(value, Mapping):
            raise RewardNotLoaded(f"the rewards of tasks are a mapping of names to rewards, got {value!r:.60}")
        return {str(task): as_reward(each) for task, each in value.items()}
    if not isinstance(value, list | tuple):
        raise RewardNotLoaded(f"rewards are given as a list, got {value!r:.60}")
    if shape == "many":
        return [as_reward(each) for each in value]
    if not all(isinstance(each, list | tuple) and len(each) == 2 for each in value):
        raise RewardNotLoaded(f"weighted rewards are (reward, weight) pairs, got {value!r:.60}")
    return [(as_reward(each), weight) for each, weight in value]
