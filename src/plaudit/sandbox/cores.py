"""How many cores this process may fill with judges, and which of them a judge has to itself.

A process that is one of many workers must not start as many judges as the machine has cores; whoever runs the workers
says so with `take_share`. Where there is a judge for every core, each stays on one with the programs it runs: what they
hand to each other is then in that core's caches, and nobody has to be woken on another.
"""

import contextlib
import os
import random
import socket
from collections.abc import Iterator

__all__ = ["cores", "settle_on_core", "take_share"]

_share: list[int] = []


def take_share(count: int) -> None:
    """From now on this process counts on `count` cores only."""
    _share[:] = [max(1, count)]


def cores() -> int:
    """The cores to use: the share that was taken, else those this process may run on."""
    if _share:
        return _share[0]
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextlib.contextmanager
def settle_on_core(claims: str = "plaudit-judge") -> Iterator[int | None]:
    """Stay on a core that nobody else with such `claims` has settled on, if there is one; which it is.

    A claim is a name that the kernel keeps for as long as this process lives.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    free = sorted(os.sched_getaffinity(0))
    random.shuffle(free)  # machines within a machine do not see each other's claims
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        yield next((core for core in free if _claim_core(claim, f"\0{claims}-{core}", core)), None)


def _claim_core(claim: socket.socket, name: str, core: int) -> bool:
    try:
        claim.bind(name)
        os.sched_setaffinity(0, {core})
    except OSError:
        return False
    return True
