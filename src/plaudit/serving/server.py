"""A server of rewards, from its start to its end.

The server's process runs no reward: workers load it, and tell what it is. Reloading starts workers with the reward as
it is now, and puts them in the place of the old ones once they are ready; stopping answers what is under way first.
"""

import asyncio
import contextlib
import logging
import os
import re
import signal
import ssl
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from plaudit.engine.backends.worker import settle_memory
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, PlauditError
from plaudit.sandbox import Tier, diagnose
from plaudit.serving.app.application import Application
from plaudit.serving.app.openapi import PAGES
from plaudit.serving.http.connection import Connection
from plaudit.serving.http.listening import load_certificate, open_socket, tls_context
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.settings import ServerSettings
from plaudit.serving.workers.pool import PoolSettings, WorkerPool
from plaudit.serving.workers.programs import SandboxSetup
from plaudit.serving.workers.replica_pool import ReplicaPool
from plaudit.serving.workers.service_pool import ServicePool
from plaudit.serving.workers.worker import RewardSetup, ServiceSetup
from plaudit.version import __version__

__all__ = ["RewardServer", "ServerThread", "serve_until_signalled"]

T = TypeVar("T")
logger = logging.getLogger("plaudit.serving")
SWEEP_S = 1.0
SIGNALS_S = 0.2
SANDBOX_DEADLINE_S = 300.0
PRIORITY = -5  # the niceness of the process that holds the connections
WEAK = (Tier.NONE, Tier.SECCOMP)
RESERVED = frozenset({*(path.strip("/") for path in PAGES), *PROTOCOLS, "run_code"})


class RewardServer:
    """Rewards behind a socket, within a running event loop: `await start()`, `await stop()`."""

    def __init__(self, settings: ServerSettings, read_tokens: Callable[[], tuple[str, ...]] | None = None) -> None:
        self.settings, self._read_tokens = settings, read_tokens
        self.app = Application(settings)
        self.address = ""
        self._setups = _setups(settings)
        self._tls: ssl.SSLContext | None = None
        self._listener: asyncio.Server | None = None
        self._starting: list[ServicePool] = []
        self._replaced: dict[asyncio.Task[None], ServicePool] = {}  # old pools that still answer, by who ends them
        self._sweeper: asyncio.TimerHandle | None = None
        self._reloading: asyncio.Task[None] | None = None
        self._reload_turn = asyncio.Lock()
        self._told_to_stop, self._told_again = asyncio.Event(), asyncio.Event()

    async def start(self) -> None:
        """Listen, and load everything; raises where something cannot be served."""
        tls, listening = tls_context(self.settings), open_socket(self.settings)
        self._tls, loop = tls, asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: Connection(self.app, self.settings.http),
            sock=listening,
            ssl=tls,
            ssl_handshake_timeout=self.settings.http.head_s if tls else None,
        )
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"{'https' if tls else 'http'}://{shown}:{port}"
        self._sweep()
        try:
            await self._check_tier()
            pools = {name: self._pool(name, setup) for name, setup in self._setups.items()}
            self._starting = list(pools.values())
            await asyncio.gather(*(pool.start() for pool in pools.values()))
        except BaseException:
            await self.stop()
            raise
        for name, pool in pools.items():
            self.app.set_pool(name, pool)
        self.app.loading = False

    async def _check_tier(self) -> None:
        """Refuse to serve other machines where programs would run behind weak walls."""
        if self.settings.on_loopback or self.settings.allow_weak_sandbox:
            return
        found = await asyncio.get_running_loop().run_in_executor(None, diagnose)
        if found.tier in WEAK or not found.healthy:
            trouble = f" ({found.trouble})" if found.trouble else ""
            raise InvalidSettings(
                f"the sandbox tier here is {found.tier.label!r}{trouble}, and other machines could send programs; "
                "`plaudit doctor` says what is missing, --allow-weak-sandbox serves all the same"
            )

    async def reload(self) -> None:
        """Serve the rewards as they are now, to the tokens of now; what cannot be loaded stays as it was."""
        self._renew_credentials()
        for name in list(self.app.pools):
            await self._reload_one(name)

    def tell_to_stop(self) -> None:
        """Stop soon, once what is under way is answered; at once where that was said before."""
        (self._told_again if self._told_to_stop.is_set() else self._told_to_stop).set()

    async def until_told_to_stop(self) -> None:
        """Return when somebody said so."""
        await self._told_to_stop.wait()

    async def stop(self) -> None:
        """Take no more requests, answer those under way, and leave nothing behind."""
        self.app.draining = True
        if self._listener is not None:
            self._listener.close()
        for connection in list(self.app.connections):
            connection.close_if_idle()
        await self._drain()
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self._end_reloading()
        await asyncio.gather(*(pool.close() for pool in {*self._starting, *self.app.pools.values()}))
        for connection in list(self.app.connections):
            connection.abort()
        await asyncio.sleep(0.01)  # transports close in the next turns of the loop

    async def _drain(self) -> None:
        """Answer what is under way, as long as there is time for it."""
        loop = asyncio.get_running_loop()
        draining = {loop.create_task(self._answer_all()), loop.create_task(self._told_again.wait())}
        await asyncio.wait(draining, timeout=self.settings.drain_s, return_when=asyncio.FIRST_COMPLETED)
        for task in draining:
            task.cancel()
        await asyncio.wait(draining)

    async def _answer_all(self) -> None:
        await asyncio.gather(*(pool.drain() for pool in [*self.app.pools.values(), *self._replaced.values()]))
        while self.app.connections:
            await asyncio.sleep(0.01)

    def _renew_credentials(self) -> None:
        for what, renew in (("the tokens", self._renew_tokens), ("the certificate", self._renew_certificate)):
            try:
                renew()
            except (PlauditError, OSError) as error:
                logger.error("%s could not be read again, and what was read before holds: %s", what, error)

    def _renew_tokens(self) -> None:
        if self._read_tokens is not None:
            self.app.admit(replace(self.settings, tokens=self._read_tokens()).tokens)

    def _renew_certificate(self) -> None:
        if self._tls is not None:
            tls_context(self.settings)  # a certificate that does not go with its key would spoil the one in use
            load_certificate(self._tls, self.settings)

    async def _reload_one(self, name: str) -> None:
        async with self._reload_turn:
            try:
                pool = self._pool(name, self._setups[name])
                await pool.start()
            except (PlauditError, OSError) as error:
                logger.error("%s was not reloaded, and goes on as it was: %s", name, error)
                self.app.metrics.reloads[name, "failed"] += 1
                return
            old = self.app.pools[name]
            self.app.set_pool(name, pool)
            self.app.metrics.reloads[name, "done"] += 1
        ending = asyncio.get_running_loop().create_task(self._end_replaced(old))
        self._replaced[ending] = old
        ending.add_done_callback(self._replaced.pop)

    async def _end_replaced(self, old: ServicePool) -> None:
        """End a pool when it has answered what it was asked before, under its own key."""
        await old.drain()
        await old.close()

    async def _end_reloading(self) -> None:
        """Give up what is being loaded, and end what was replaced."""
        if self._reloading is not None:
            self._reloading.cancel()
            await asyncio.wait({self._reloading})
        if ending := dict(self._replaced):
            await asyncio.gather(*(pool.close() for pool in ending.values()))
            await asyncio.wait(ending)

    def _pool(self, name: str, setup: ServiceSetup) -> ServicePool:
        is_sandbox = isinstance(setup, SandboxSetup)  # which ends its programs itself
        deadline_s = SANDBOX_DEADLINE_S if is_sandbox else self.settings.deadline_s
        settings = PoolSettings(self.settings.workers, deadline_s, stand_ins=0 if is_sandbox else self.settings.workers)

        def count_loss(how: str) -> None:
            self.app.metrics.losses[name, how] += 1

        if self.settings.replicas is not None and not is_sandbox:
            return ReplicaPool(setup, settings, self.settings.replicas, count_loss, self._follow_change)
        return WorkerPool(setup, settings, count_loss, self._follow_change)

    def begin_reload(self) -> None:
        """Reload beside what goes on; what is being loaded meanwhile may be out of date already, and is given up."""
        if self._reloading is not None:
            self._reloading.cancel()
        if not self.app.draining:
            self._reloading = asyncio.get_running_loop().create_task(self.reload())

    def _follow_change(self) -> None:
        """A worker has found a reward that differs from the one that is served: reload, unless that is under way."""
        if self._reloading is None or self._reloading.done():
            self.begin_reload()

    def _sweep(self) -> None:
        now = time.monotonic()
        for connection in list(self.app.connections):
            connection.end_if_late(now)
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)


def _setups(settings: ServerSettings) -> dict[str, ServiceSetup]:
    setups: dict[str, ServiceSetup] = {}
    for given in settings.rewards:
        name, spec = _named(given)
        if name in setups:
            raise InvalidSettings(f"two rewards are called {name!r}; name one of them: other={spec}")
        if name in RESERVED:
            raise InvalidSettings(f"/{name} is a path of the server itself; give the reward another name: other={spec}")
        setups[name] = RewardSetup(
            name,
            Shipment.of(spec),
            settings.memory_mb,
            settings.most_samples,
            str(settings.on_unscored),
            __version__,
        )
    if settings.sandbox:
        if "sandbox" in setups:
            raise InvalidSettings("with --sandbox no reward may be called 'sandbox'; name it: other=SPEC")
        setups["sandbox"] = SandboxSetup()
    return setups


def _named(given: str) -> tuple[str, str]:
    """`name=spec` as both; the name of a bare spec is that of its reward or file."""
    if (both := _BOTH.fullmatch(given)) is not None:
        return both[1], both[2]
    spec = given.strip()
    if (found := _REWARD.search(spec)) is not None:
        return found[1], spec
    stem = Path(spec).stem if spec.endswith((".py", ".yaml", ".yml")) else ""
    return (stem if re.fullmatch(r"[\w-]+", stem) else "reward"), spec


_BOTH = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*(.+)", re.DOTALL)
_REWARD = re.compile(r"(?:^|:)([A-Za-z_]\w*)\s*(?:\(.*\))?\Z", re.DOTALL)


async def serve_until_signalled(
    settings: ServerSettings,
    on_ready: Callable[[RewardServer], None],
    read_tokens: Callable[[], tuple[str, ...]] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, a second of which ends at once what is under way.

    SIGHUP reloads the rewards, and the tokens where there is a way to read them.
    """
    _go_first()
    server = RewardServer(settings, read_tokens)
    if not await _start_unless_stopped(server):
        return
    settle_memory()
    try:
        on_ready(server)
        await server.until_told_to_stop()
    finally:
        await server.stop()


def _go_first() -> None:
    """Run before workers and others of this machine, where we may: all wait for this process, which needs little.

    A user who chose a priority keeps it; processes that we start have the usual one.
    """
    if not hasattr(os, "SCHED_RESET_ON_FORK"):
        return
    with contextlib.suppress(OSError):
        policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, os.sched_getparam(0))
        if policy == os.SCHED_OTHER and os.getpriority(os.PRIO_PROCESS, 0) == 0:
            os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)


async def _start_unless_stopped(server: RewardServer) -> bool:
    """Start; False where it was told to stop meanwhile, and is."""
    loop = asyncio.get_running_loop()
    starting, stopped = loop.create_task(server.start()), loop.create_task(server.until_told_to_stop())
    while not starting.done() and not stopped.done():
        _listen_to_signals(server)
        await asyncio.wait({starting, stopped}, timeout=SIGNALS_S, return_when=asyncio.FIRST_COMPLETED)
    _listen_to_signals(server)
    stopped.cancel()
    if not starting.done():
        starting.cancel()
        await asyncio.wait({starting})
        return False
    starting.result()
    return True


def _listen_to_signals(server: RewardServer) -> None:
    """SIGTERM and SIGINT stop, SIGHUP reloads; said again while starting, as Ray puts handlers of its own there."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.tell_to_stop)
    loop.add_signal_handler(signal.SIGHUP, server.begin_reload)  # while nothing is served yet, that does nothing


class ServerThread:
    """A server beside other work: `with ServerThread(settings) as server: print(server.address)`."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="plaudit-server", daemon=True)
        self.server: RewardServer | None = None

    @property
    def address(self) -> str:
        """Where it listens, as a URL."""
        assert self.server is not None, "the server was not started"
        return self.server.address

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the server's event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def __enter__(self) -> "ServerThread":
        self._thread.start()
        try:
            self.run(self._start())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self.server is not None
        self.run(self.server.stop())
        self._end()

    async def _start(self) -> None:
        self.server = RewardServer(self._settings)
        await self.server.start()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
