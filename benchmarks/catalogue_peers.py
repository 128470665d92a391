"""Verifiers of other packages, called on the same lines as ours; a package that is absent is named and left out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.verify.verifier import Response

__all__ = ["PEERS", "Judge", "Peer"]

Judge = Callable[[Mapping[str, Any], Response], float | None]
"""A function of (row, response) that gives the score in [0, 1], or None where the peer declines."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A verifier of another package; `load` imports it, and raises ImportError where it is absent."""

    name: str
    load: Callable[[], Judge]


PEERS: dict[str, tuple[Peer, ...]] = {}
"""The peers of each kind."""
