"""The judge process: reads jobs, judges them one by one, and answers; it alone holds tests and expected values.

Started by exec with an environment of its own, so it is small whatever started it. Comparing values that a program made
up to be slow may take for ever, so the kernel ends this process after the job's CPU time (SIGPROF); the other end then
looks into a pipe of its own for whether the program had answered before, which wakes nobody when it had. It ends itself
when nobody is left to ask.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import msgspec

from plaudit.errors import PlauditError
from plaudit.frames import read_frame, write_frame
from plaudit.sandbox.cores import settle_on_core
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.judge import Judge
from plaudit.sandbox.judging.known_verdicts import check_known_verdicts
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.sandbox import Sandbox

__all__ = ["main"]

MEMORY = 2 << 30
PARENT_CHECK_S = 5.0


def main(incoming: int, outgoing: int, answered: int, flavour: str, allow_unsafe: bool) -> None:
    """Serve until the other end is closed."""
    parent = os.getppid()
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # tests may print; nobody reads it
    try:
        sandbox = Sandbox(flavour=flavour, allow_unsafe=allow_unsafe)
        judge = Judge(sandbox, on_first_value=partial(os.write, answered, b"a"))
        check_known_verdicts(Judge(sandbox))
    except (PlauditError, OSError) as error:
        write_frame(outgoing, str(error).encode(errors="backslashreplace"))
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    gc.freeze()
    write_frame(outgoing)
    decoder = msgspec.msgpack.Decoder(Job)
    with sandbox:
        while _has_more(incoming, parent):
            job = decoder.decode(read_frame(incoming))
            write_frame(outgoing, _pack(_judge_suite(judge, job)))


def _judge_suite(judge: Judge, job: Job) -> Verdict:
    signal.setitimer(signal.ITIMER_PROF, job.judge_cpu_s)
    try:
        return judge.judge(job)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _pack(verdict: Verdict) -> bytes:
    """A verdict as bytes; words of the program's that are no text (lone surrogates) are written with escapes."""
    try:
        return msgspec.msgpack.encode(verdict)
    except UnicodeEncodeError:
        plain = msgspec.json.decode(json.dumps(msgspec.to_builtins(verdict)).replace("\\ud", "?ud"))
        return msgspec.msgpack.encode(msgspec.convert(plain, Verdict))


def _has_more(incoming: int, parent: int) -> bool:
    """Wait for a job; False when the other end is closed, or dead while a relative of it keeps the pipe open."""
    poll = select.poll()
    poll.register(incoming, select.POLLIN)
    while not (events := poll.poll(PARENT_CHECK_S * 1000)):
        if os.getppid() != parent:
            return False
    return bool(events[0][1] & select.POLLIN)


def start(arguments: list[str]) -> None:
    """Run as `python -c`, with the search path of whoever started us."""
    incoming, outgoing, answered, flavour, unsafe, place = arguments
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt), _PLACES[place]():
        main(int(incoming), int(outgoing), int(answered), flavour, unsafe == "unsafe")


_PLACES: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "one core": settle_on_core,
    "any core": contextlib.nullcontext,
}
