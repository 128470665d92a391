"""Programs whose outcome is known, run on every new server: right, wrong, cheating, and reaching out.

A sandbox that misjudges one of them must not be used, whatever the reason; it refuses to start.
"""

import sys
from collections.abc import Callable

from plaudit.errors import SandboxError
from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Program
from plaudit.sandbox.values import Opaque

__all__ = ["CANARY_LIMITS", "attempts", "check_canaries", "is_offered"]

CANARY_LIMITS = RunLimits(cpu_s=10.0, wall_s=60.0)

PLAIN = """
def right(x):
    return x + 1
def wrong(x):
    return x + 2
def cheating(x):
    class Equal(int):
        def __eq__(self, other):
            return True
        __hash__ = None
    return Equal()
def leaving(x):
    raise SystemExit(0)
"""
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
EXPECTED: dict[str, Callable[[Outcome], bool]] = {
    "right": lambda outcome: outcome.ending is Ending.RETURNED and outcome.value == 42,
    "wrong": lambda outcome: outcome.ending is Ending.RETURNED and outcome.value == 43,
    "cheating": lambda outcome: type(outcome.value) is Opaque,
    "leaving": lambda outcome: outcome.ending is Ending.EXITED,
}


def check_canaries(open_program: Callable[[], Program], *, walled: bool) -> None:
    """Run the canaries; SandboxError when one of them ends otherwise than it must."""
    with open_program() as program:
        program.load(PLAIN)
        for name, is_right in EXPECTED.items():
            outcome = program.call(name, [41])
            if not is_right(outcome):
                raise SandboxError(f"the sandbox misjudged its {name!r} canary: {outcome.reason}; it must not be used")
    possible = [deed for deed, succeeded in attempts(open_program) if succeeded] if walled else []
    if possible:
        raise SandboxError(f"programs in the sandbox could {', '.join(possible)}; it must not be used")


def is_offered(module: str, open_program: Callable[[], Program]) -> bool:
    """Whether programs can import a module of the standard library: a program of our own tries it."""
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return False
    with open_program() as program:
        return program.load(f"import {module}").ending is Ending.RETURNED


def attempts(open_program: Callable[[], Program]) -> list[tuple[str, bool]]:
    """What a program that reaches out tried, and whether it succeeded."""
    with open_program() as program:
        program.load(REACHING_OUT)
        outcome = program.call("reach_out")
    if outcome.ending is not Ending.RETURNED:
        raise SandboxError(f"the canary that reaches out did not come back: {outcome.reason}")
    return [(name, succeeded) for name, succeeded in outcome.value]
