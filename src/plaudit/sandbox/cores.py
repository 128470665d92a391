"""How many cores this process may fill with judges.

A process that is one of many workers must not start as many judges as the machine has cores; whoever runs the workers
says so with `take_share`.
"""

import os

__all__ = ["cores", "take_share"]

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
