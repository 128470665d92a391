"""What protects programs on this machine, found by trial: a program tries what must be refused.

A protection is active, absent, or, where no server could be started at all, untested.
"""

from dataclasses import dataclass

from plaudit.errors import SandboxError
from plaudit.sandbox.confined_process import Protection, Protections, RunLimits, Tier
from plaudit.sandbox.outcome import CallStatus
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer

ATTEMPT_LIMITS = RunLimits(cpu_s=10.0, wall_s=60.0)
KNOWN = (
    "seccomp", "Landlock", "namespaces", "new user", "no capabilities", "no new privileges",
    "memory not readable by others", "limits",
)  # fmt: skip
REACHING_OUT = """
import os, socket
def write():
    name = "/tmp/plaudit-canary-" + os.urandom(8).hex()
    open(name, "x").close()
    os.unlink(name)
DEEDS = {
    "read a file": lambda: open("/etc/hosts"),
    "list a folder": lambda: os.listdir("/"),
    "write a file": write,
    "open a connection": lambda: socket.socket(),
    "start a process": lambda: os.fork() or os._exit(0),
    "start a program": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "send a signal to others": lambda: os.kill(os.getppid(), 0),
    "see the environment": lambda: next(iter(os.environ)),
}
def succeeded(name):
    try:
        DEEDS[name]()
    except Exception:
        return False
    return True
def reach_out():
    return [[name, succeeded(name)] for name in DEEDS]
"""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tier, each protection (None: untested), what a program that reached out could do, and what went wrong."""

    tier: Tier
    confinement: tuple[tuple[str, bool | None, str], ...]
    attempts: tuple[tuple[str, bool], ...] = ()
    trouble: str = ""

    @property
    def healthy(self) -> bool:
        """Whether programs can be run safely."""
        return self.tier > Tier.NONE and not self.trouble and not any(succeeded for _, succeeded in self.attempts)


def attempts(server: ForkServer, limits: RunLimits = ATTEMPT_LIMITS) -> list[tuple[str, bool]]:
    """The forbidden actions that a program tried, and whether each succeeded."""
    with Program(server, server.take(limits), limits) as program:
        program.load(REACHING_OUT)
        outcome = program.call("reach_out")
    if outcome.status is not CallStatus.RETURNED:
        raise SandboxError(f"the program that tries what must be refused did not return: {outcome.reason}")
    return [(name, succeeded) for name, succeeded in outcome.value]


def diagnose(at_most: Tier = Tier.NAMESPACES) -> Diagnosis:
    """Start a server, see which protections are active, and let a program try to get past them."""
    try:
        server = ForkServer(at_most=at_most)
    except SandboxError as error:
        return Diagnosis(Tier.NONE, tuple((name, None, "") for name in KNOWN), trouble=str(error))
    try:
        tried = attempts(server)
        return Diagnosis(server.protections.tier, _sort_protections(server.protections), tuple(tried))
    except SandboxError as error:
        return Diagnosis(server.protections.tier, _sort_protections(server.protections), trouble=str(error))
    finally:
        server.close()


def _sort_protections(protections: Protections) -> tuple[tuple[str, bool | None, str], ...]:
    by_name = {one.name: one for one in protections.confinement}
    sorted_ones = [by_name.get(name, Protection(name, False, "not tried")) for name in KNOWN]
    return tuple((one.name, one.active, one.detail) for one in sorted_ones)
