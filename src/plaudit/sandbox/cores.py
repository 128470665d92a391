"""How many cores this process may fill with judges, and which of them a judge has to itself.

A process that is one of many workers must not start as many judges as the machine has cores; whoever runs the workers
says so with `take_share`. Where there is a judge for every core, each stays on one with the programs it runs: what they
hand to each other is then in that core's caches, and no process has to be woken on another core.
"""

import os
import random
import socket

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


class CoreClaim:
    """A core that no other `CoreClaim` has, until it is closed; `core` is None if all are taken.

    A claim is a name that the kernel keeps for as long as the socket that it is bound to.
    """

    def __init__(self, claims: str = "plaudit-judge") -> None:
        self.core: int | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        cores_here = sorted(getattr(os, "sched_getaffinity", lambda _: ())(0))
        random.shuffle(cores_here)  # machines within a machine do not see each other's claims
        for core in cores_here:
            try:
                self._socket.bind(f"\0{claims}-{core}")
            except OSError:
                continue
            self.core = core
            return

    def close(self) -> None:
        """Give the core up."""
        self._socket.close()
