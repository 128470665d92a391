"""How strong the walls around a program are, from real attempts.

A tier says which kinds of walls stand; nothing here is conclude from a kernel's version. The system-call filter alone
already denies every path, socket and process; Landlock and namespaces are second and third walls behind it.
"""

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Protection", "Protections", "Tier"]


class Tier(IntEnum):
    """Kinds of walls, weakest first; a higher tier has those below it as well."""

    NONE = 0
    SECCOMP = 1
    LANDLOCK = 2
    NAMESPACES = 3

    @property
    def label(self) -> str:
        """The tier in words."""
        return _LABELS[self]


_LABELS = {
    Tier.NONE: "none",
    Tier.SECCOMP: "seccomp",
    Tier.LANDLOCK: "Landlock + seccomp",
    Tier.NAMESPACES: "namespaces + Landlock + seccomp",
}


@dataclass(frozen=True, slots=True)
class Protection:
    """One wall: active or not, and what was seen when it was tried."""

    name: str
    active: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Protections:
    """Every wall around the programs of one server."""

    walls: tuple[Protection, ...]

    def active(self, name: str) -> bool:
        """Whether the wall of that name stands."""
        return any(wall.name == name and wall.active for wall in self.walls)

    @property
    def tier(self) -> Tier:
        """The highest tier whose walls, and all below, stand."""
        tier = Tier.NONE
        for next_tier, name in (
            (Tier.SECCOMP, "seccomp"),
            (Tier.LANDLOCK, "Landlock"),
            (Tier.NAMESPACES, "namespaces"),
        ):
            if not self.active(name):
                break
            tier = next_tier
        return tier
