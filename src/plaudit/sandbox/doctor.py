"""What protects programs on this machine, found by trial.

A protection is active, absent, or, where no server could be started at all, untested.
"""

from dataclasses import dataclass

from plaudit.errors import SandboxError
from plaudit.sandbox.canaries import CANARY_LIMITS, attempts
from plaudit.sandbox.confined_process import Protection, Protections, Tier
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer

__all__ = ["Diagnosis", "diagnose"]

KNOWN = (
    "seccomp", "Landlock", "namespaces", "new user", "no capabilities", "no new privileges",
    "memory not readable by others", "limits",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tier, each protection (None: untested), what a program that reached out could do, and what went wrong."""

    tier: Tier
    walls: tuple[tuple[str, bool | None, str], ...]
    attempts: tuple[tuple[str, bool], ...] = ()
    trouble: str = ""

    @property
    def healthy(self) -> bool:
        """Whether programs can be run safely."""
        return self.tier > Tier.NONE and not self.trouble and not any(succeeded for _, succeeded in self.attempts)


def diagnose(at_most: Tier = Tier.NAMESPACES) -> Diagnosis:
    """Start a server, see which protections are active, and let a program try to get past them."""
    try:
        server = ForkServer(at_most=at_most)
    except SandboxError as error:
        return Diagnosis(Tier.NONE, tuple((name, None, "") for name in KNOWN), trouble=str(error))
    try:
        tried = attempts(lambda: Program(server, server.take(CANARY_LIMITS), CANARY_LIMITS))
        return Diagnosis(server.protections.tier, _sort_protections(server.protections), tuple(tried))
    except SandboxError as error:
        return Diagnosis(server.protections.tier, _sort_protections(server.protections), trouble=str(error))
    finally:
        server.close()


def _sort_protections(protections: Protections) -> tuple[tuple[str, bool | None, str], ...]:
    found = {wall.name: wall for wall in protections.walls}
    walls = [found.get(name, Protection(name, False, "not tried")) for name in KNOWN]
    return tuple((wall.name, wall.active, wall.detail) for wall in walls)
