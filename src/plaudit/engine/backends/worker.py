"""The worker process: reads units of work, scores them, answers sample by sample.

Started by exec, so it shares no memory with the process that uses it. Each output is written as soon as it is there: a
worker that must be killed has lost nothing but the sample it was at. It dies with its parent.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from plaudit.contract.boundary import Style, score_sample, score_samples
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.wire import packed, packed_output, read_exactly
from plaudit.engine.shipping import Shipment
from plaudit.errors import PlauditError
from plaudit.frames import write_all
from plaudit.sandbox.cores import take_share
from plaudit.trajectory import Trajectory

__all__ = ["main"]

PR_SET_PDEATHSIG = 1
MEBIBYTE = 1 << 20


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Serve until the parent closes its end."""
    _die_with(parent)
    take_share(1)  # there is a worker per core already
    sys.stdout = sys.stderr  # a reward that prints must not write between our frames
    shipment: Shipment
    shipment, memory_mb = read_exactly(incoming)
    try:
        reward = shipment.opened()
    except PlauditError as error:
        write_all(outgoing, packed(str(error)))
        return
    if memory_mb is not None:
        _limit_memory(memory_mb)
    gc.freeze()  # what is loaded stays: there is no use in looking through it again and again
    gc.set_threshold(10_000)
    write_all(outgoing, packed(None))
    us = os.getpid()
    outputs_of = _scoring(reward)
    while True:
        try:
            unit: Sequence[Trajectory] = read_exactly(incoming)
        except EOFError:
            return
        for output in outputs_of(unit):
            if os.getpid() != us:
                os._exit(0)  # a child that the reward forked and forgot: only its parent answers
            write_all(outgoing, packed_output(output))


def _scoring(reward: RewardFunction) -> Callable[[Sequence[Trajectory]], Iterable[RewardOutput]]:
    """How to score a unit: sample by sample where the reward allows, so that each is answered at once."""
    if reward.style is Style.SAMPLE and not reward.is_async:
        return lambda unit: map(partial(score_sample, reward), unit)
    return partial(score_samples, reward)


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could ask
        os._exit(0)


def _limit_memory(megabytes: int) -> None:
    """Allow that much address space beyond what the loaded reward has already."""
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    limit = held + megabytes * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
