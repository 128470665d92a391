"""The worker process: reads units of work, scores them, answers sample by sample.

Started by exec, so it shares no memory with the process that uses it. Each output is written as soon as it is there: a
worker that must be killed has lost nothing but the sample it was at. It dies with its parent.

What a reward does to its process stays here: standard output is that of errors, so that nothing is written between the
caller's lines; every sample begins in the caller's working folder; the parent that a reward sees is a guard process of
the worker, not the caller; and a worker whose reward keeps more and more memory asks to be replaced.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from plaudit.contract.boundary import score_each, score_samples
from plaudit.contract.contents import warm_up
from plaudit.contract.function import RewardFunction, scores_one_by_one
from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.messages import OUTGROWN, encode_answer, encode_value, read_value
from plaudit.engine.shipping import Shipment
from plaudit.errors import PlauditError
from plaudit.frames import write_all
from plaudit.sandbox.cores import take_share
from plaudit.trajectory import Trajectory

__all__ = ["MEBIBYTE", "MemoryAllowance", "PR_SET_PDEATHSIG", "become_worker", "die_with", "main", "settle_memory"]

PR_SET_PDEATHSIG = 1
MEBIBYTE = 1 << 20


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Serve until the parent closes its end."""
    die_with(parent)
    become_worker((incoming, outgoing))
    shipment: Shipment
    shipment, memory_mb = read_value(incoming)
    try:
        reward = shipment.open()
        warm_up(reward)
    except (PlauditError, MemoryError) as error:
        write_all(outgoing, encode_value(str(error)))
        return
    memory = None if memory_mb is None else MemoryAllowance(memory_mb * MEBIBYTE)
    settle_memory()
    write_all(outgoing, encode_value(None))
    _serve(reward, incoming, outgoing, memory)


def become_worker(pipes: Sequence[int]) -> None:
    """Go on as a worker behind a guard process, with its output and its share of the cores in place."""
    _stand_behind_guard(pipes)
    _redirect_output()
    warnings.formatwarning = _format_warning
    take_share(1)  # there is a worker per core already


def settle_memory() -> None:
    """What is loaded stays: there is no use in looking through it again and again."""
    gc.freeze()
    gc.set_threshold(10_000)


def _format_warning(message: Warning | str, *_: object, **__: object) -> str:
    """A line for whoever reads the terminal; where in plaudit it was raised helps nobody."""
    return f"warning: {message}\n"


def _serve(reward: RewardFunction, incoming: int, outgoing: int, memory: "MemoryAllowance | None") -> None:
    us, folder = os.getpid(), os.open(".", os.O_RDONLY)
    outputs_of = _choose_scoring(reward, memory)
    while True:
        try:
            unit: Sequence[Trajectory] = read_value(incoming)
        except EOFError:
            return
        for output in outputs_of(unit):
            if os.getpid() != us:
                os._exit(0)  # a child that the reward forked and forgot: only its parent answers
            os.fchdir(folder)  # the reward may have gone elsewhere
            write_all(outgoing, encode_answer(output))


def _choose_scoring(
    reward: RewardFunction, memory: "MemoryAllowance | None"
) -> Callable[[Sequence[Trajectory]], Iterable[RewardOutput]]:
    """How to score a unit: sample by sample where the reward allows, so that each is answered at once."""
    if not scores_one_by_one(reward):
        return partial(score_samples, reward) if memory is None else partial(memory.score_unit, reward)
    return partial(score_each if memory is None else memory.score_each, reward)


class MemoryAllowance:
    """So much address space for every sample, beyond what the process holds when the sample begins.

    What samples leave behind adds up: once that is more than one sample may take, the process ends to be replaced,
    before a sample could fail for what others left. What the first one loads is not counted.
    """

    def __init__(self, allowance: int) -> None:
        self._allowance = allowance
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self._begun = 0
        self._base = 0

    def score_each(self, reward: RewardFunction, unit: Iterable[Trajectory]) -> Iterator[RewardOutput]:
        return score_each(reward, self._granted(unit))

    def score_unit(self, reward: RewardFunction, unit: Sequence[Trajectory]) -> list[RewardOutput]:
        self._grant()
        return score_samples(reward, unit)

    def _granted(self, unit: Iterable[Trajectory]) -> Iterator[Trajectory]:
        for trajectory in unit:
            self._grant()
            yield trajectory

    def _grant(self) -> None:
        held = self._count_bytes()
        if self._begun < 2:
            self._base, self._begun = held, self._begun + 1
        elif held - self._base > self._allowance:
            os._exit(OUTGROWN)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (held + self._allowance, hard))

    def _count_bytes(self) -> int:
        return int(os.pread(self._statm, 64, 0).split()[0]) * resource.getpagesize()


def _stand_behind_guard(pipes: Sequence[int]) -> None:
    """Go on in a child; the process that was started is its guard, which waits for it and ends as it ends.

    A reward that signals its parent process hits the guard, and is itself ended with it.
    """
    guard = os.getpid()
    worker = os.fork()
    if worker == 0:
        die_with(guard)
        return
    for pipe in pipes:
        os.close(pipe)
    _, status = os.waitpid(worker, 0)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(guard, -code)


def _redirect_output() -> None:
    """Send standard output where errors go, also for what the reward starts or writes without Python."""
    try:
        os.dup2(2, 1)
    except OSError:  # no place for errors either
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr


def die_with(parent: int) -> None:
    """End when the parent process ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could ask
        os._exit(0)
