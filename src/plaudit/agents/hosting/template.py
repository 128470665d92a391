"""The process that environments' processes are forked from: it has loaded the agent, and does nothing else.

It starts workers, kills them with everything they started, and ends with the process that asked for it.
"""

import asyncio
import contextlib
import ctypes
import importlib
import inspect
import json
import os
import pickle
import random
import selectors
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.agents.hosting.session import EnvironmentSession
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.frames import frame_reader, frame_writer

__all__ = ["main"]

PR_SET_PDEATHSIG = 1


def main(control: int) -> None:
    """Load the agent that the command line names, and obey until the other end is closed."""
    what = json.loads(sys.argv[1])
    sys.path[:] = what["path"]
    os.dup2(2, 1)  # what environments print is not the output of a command
    module, _, function = what["loader"].partition(":")
    try:
        environment = getattr(importlib.import_module(module), function)(what["spec"]).environment
    except BaseException as error:  # noqa: BLE001 - whatever a file raises, who asked must know
        os.write(control, f"{type(error).__name__}: {error}"[:4000].encode())
        sys.exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: who asked for us decides
    _serve(socket.socket(fileno=control), environment)


def _serve(control: socket.socket, environment: type) -> None:
    living: dict[int, int] = {}  # number → process
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if woken in ready:
                woken.recv(4096)
                _bury(living)
            if control not in ready:
                continue
            message, descriptors, _, _ = socket.recv_fds(control, 64, 1)
            if not message:
                break
            verb, _, number = message.decode().partition(" ")
            if verb == "kill":
                _kill(living.get(int(number)))
                continue
            child = os.fork()
            if child == 0:
                selector.close()
                for own in (control, waking, woken):
                    own.close()
                _become_worker(descriptors[0], environment)
            living[int(number)] = child
            os.close(descriptors[0])
    for child in living.values():
        _kill(child)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _kill(process: int | None) -> None:
    if process is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # it may not have become a group yet
            os.kill(process, signal.SIGKILL)


def _bury(living: dict[int, int]) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            for number in [number for number, process in living.items() if process == ended]:
                del living[number]


def _become_worker(descriptor: int, environment: type) -> None:
    code = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        _answer_calls(descriptor, environment)
        code = 0
    finally:
        os._exit(code)


def _answer_calls(descriptor: int, environment: type) -> None:
    """Answer calls until the other end is closed; a new instance is made for every episode."""
    read, write = frame_reader(descriptor), frame_writer(descriptor)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def call_here(call: Callable[[], Any]) -> Any:
        returned = call()
        return loop.run_until_complete(_await(returned)) if inspect.isawaitable(returned) else returned

    session = EnvironmentSession(environment, call_here)
    write(pickle.dumps("ready"))
    while (body := read()) is not None:
        method, argument = pickle.loads(body)
        if method == "create":
            session = EnvironmentSession(environment, call_here)
            call = attempt(f"{environment.__name__}.__init__", session.create)
        else:
            if isinstance(argument, EpisodeStart):
                _seed_everything(argument.seed)
            call = attempt(f"{environment.__name__}.{method}", partial(getattr(session, method), argument))
        write(_pack(loop.run_until_complete(call) if session.is_async(method) else _run_at_once(call)))


async def _await(given: Awaitable[Any]) -> Any:
    return await given


def _run_at_once(call: Coroutine[Any, Any, Any]) -> Any:
    """What a call gives that awaits nothing: an event loop would cost more than most steps."""
    try:
        call.send(None)
    except StopIteration as end:
        return end.value
    call.close()
    raise RuntimeError("a method that is not async awaited something outside its event loop")


def _pack(answer: Any) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001 - objects may refuse in any way
        reason = f"what the environment returned cannot be sent to another process: {type(error).__name__}: {error}"
        return pickle.dumps(RewardOutput.unscored(Status.ERROR, reason))


def _seed_everything(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
