"""Environments of other systems as ours, one file each."""

from collections.abc import Callable
from typing import Any

from plaudit.dialects.agents import gymnasium_texts, openenv_clients, trl_factories, verifiers_rollouts

__all__ = ["find_adapter"]

_ADAPTERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], type]], ...] = (
    (gymnasium_texts.matches, gymnasium_texts.adapt),
    (openenv_clients.matches, openenv_clients.adapt),
    (trl_factories.matches, trl_factories.adapt),
    (verifiers_rollouts.matches, verifiers_rollouts.adapt),
)


def find_adapter(candidate: Any) -> Callable[[Any], type] | None:
    """The function that adapts a class or function of another system to an environment; None if there is none."""
    return next((adapt for matches, adapt in _ADAPTERS if matches(candidate)), None)
