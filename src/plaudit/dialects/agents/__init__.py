"""Environments of other systems as ours, one file each."""

from collections.abc import Callable
from typing import Any

from plaudit.dialects.agents import gymnasium_texts, openenv_clients, trl_factories

__all__ = ["find_adapter"]

_ADAPTERS: tuple[tuple[Callable[[type], bool], Callable[[type], type]], ...] = (
    (gymnasium_texts.recognises, gymnasium_texts.adapt),
    (openenv_clients.recognises, openenv_clients.adapt),
    (trl_factories.recognises, trl_factories.adapt),
)


def find_adapter(found: Any) -> Callable[[type], type] | None:
    """What makes an environment of a class that was written for another system; None for any other class."""
    if not isinstance(found, type):
        return None
    return next((adapt for recognises, adapt in _ADAPTERS if recognises(found)), None)
