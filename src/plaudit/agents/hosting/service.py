"""Environments in worker processes: the template loads the agent, a worker plays one episode at a time."""

import asyncio
import importlib
import inspect
import pickle
import random
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.agents.hosting.session import EnvironmentSession
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.processes.worker import Service, UnitProgress

__all__ = ["EnvironmentService"]

LOADER = "plaudit.loading.agents:load_agent"


class EnvironmentService(Service):
    """The environment of an agent spec."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._environment: type = object

    def preload(self) -> None:
        module, _, function = LOADER.partition(":")
        try:
            self._environment = getattr(importlib.import_module(module), function)(self._spec).environment
        except BaseException as error:
            raise AgentError(f"{type(error).__name__}: {error}"[:4000]) from error

    def open(self) -> "EnvironmentHandler":
        return EnvironmentHandler(self._environment)


class EnvironmentHandler:
    """Answers calls of an environment's methods; a new instance is made for every episode."""

    in_order = False

    def __init__(self, environment: type) -> None:
        self._environment = environment
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._session = self._new_session()

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        method, argument = pickle.loads(body)
        if method == "create":
            self._session = self._new_session()
            call = attempt(f"{self._environment.__name__}.__init__", self._session.create)
        else:
            if isinstance(argument, EpisodeStart):
                _seed_everything(argument.seed)
            call = attempt(f"{self._environment.__name__}.{method}", partial(getattr(self._session, method), argument))
        return _pack(self._loop.run_until_complete(call) if self._session.is_async(method) else _run_at_once(call))

    def _new_session(self) -> EnvironmentSession:
        return EnvironmentSession(self._environment, self._call_here)

    async def _call_here(self, call: Callable[[], Any]) -> Any:
        returned = call()
        return self._loop.run_until_complete(_await(returned)) if inspect.isawaitable(returned) else returned


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _run_at_once(call: Coroutine[Any, Any, Any]) -> Any:
    """The result of a call that awaits nothing: an event loop would cost more than most steps."""
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
