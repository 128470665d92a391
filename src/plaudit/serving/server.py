"""A server of rewards on uvicorn: start, reload, drain and stop.

The server's process runs no reward: workers load and run it. A reload starts workers with the current version of the
reward and replaces the old ones when they are ready; a stop answers the requests under way first.
"""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import uvicorn
import uvloop

from plaudit.errors import InvalidSettings, PlauditError
from plaudit.serving.app.application import Application
from plaudit.serving.settings import ServerSettings

T = TypeVar("T")
logger = logging.getLogger("plaudit.serving")
FAREWELL_S = 0.2  # for the answers to requests that were ended


class _HttpServer(uvicorn.Server):
    """uvicorn's server without its signal handlers; `listening` is set when it accepts connections."""

    def __init__(self, app: Application, tls: ssl.SSLContext | None) -> None:
        settings = app.settings
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=settings.connections + 1,
            timeout_keep_alive=int(settings.idle_s),
        )
        config.load()
        config.ssl = tls
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def abort_connections(self) -> None:
        """Close every connection without waiting for its client."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class RewardServer:
    """Rewards behind a socket, within a running event loop: `await start()`, `await stop()`."""

    def __init__(self, settings: ServerSettings, read_tokens: Callable[[], tuple[str, ...]] | None = None) -> None:
        self.settings, self._read_tokens = settings, read_tokens
        self.app = Application(settings)
        self.address = ""
        self._tls: ssl.SSLContext | None = None
        self._http: _HttpServer | None = None
        self._serving: asyncio.Task[None] | None = None
        self._stop_asked, self._stop_asked_again = asyncio.Event(), asyncio.Event()

    async def start(self) -> None:
        """Listen, then load every reward; raises where one cannot be served."""
        self._tls, listening = tls_context(self.settings), open_socket(self.settings)
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"{'https' if self._tls else 'http'}://{shown}:{port}"
        self._http = _HttpServer(self.app, self._tls)
        self._serving = asyncio.get_running_loop().create_task(self._http.serve([listening]))
        try:
            await self._http.listening.wait()
            await self.app.start()
        except BaseException:
            await self.stop()
            raise

    async def reload(self) -> None:
        """Read the tokens and the certificate again and load the current rewards; if one fails, the old one stays."""
        self._reload_credentials()
        await self.app.pools.reload()

    def begin_reload(self) -> None:
        """Reload in the background."""
        self._reload_credentials()
        self.app.pools.begin_reload()

    def _reload_credentials(self) -> None:
        for what, reload in (("tokens", self._reload_tokens), ("the certificate", self._reload_certificate)):
            try:
                reload()
            except (PlauditError, OSError) as error:
                logger.error("%s could not be read again, the old ones stay valid: %s", what, error)

    def _reload_tokens(self) -> None:
        if self._read_tokens is not None:
            self.app.set_tokens(replace(self.settings, tokens=self._read_tokens()).tokens)

    def _reload_certificate(self) -> None:
        if self._tls is not None:
            tls_context(self.settings)  # raises where the files do not fit, before the context in use is changed
            load_certificate(self._tls, self.settings)

    def ask_to_stop(self) -> None:
        """Stop when the requests under way are answered; at once if called again."""
        (self._stop_asked_again if self._stop_asked.is_set() else self._stop_asked).set()

    async def until_asked_to_stop(self) -> None:
        """Return when `ask_to_stop` was called."""
        await self._stop_asked.wait()

    async def stop(self) -> None:
        """Accept no more connections, answer the requests under way, and end every process."""
        self.app.draining = True
        if self._http is not None and self._serving is not None:
            self._http.should_exit = True
            ending = asyncio.get_running_loop().create_task(self._end_requests(self._http))
            await asyncio.wait({self._serving})
            ending.cancel()
            await asyncio.wait({ending})
        await self.app.close()

    async def _end_requests(self, http: _HttpServer) -> None:
        """After `drain_s` seconds, or at a second request to stop: answer running requests with 503 and disconnect."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop_asked_again.wait(), self.settings.drain_s)
        await self.app.close()
        await asyncio.sleep(FAREWELL_S)
        http.abort_connections()


async def serve_until_signalled(
    settings: ServerSettings,
    on_ready: Callable[[RewardServer], None],
    read_tokens: Callable[[], tuple[str, ...]] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the requests under way. SIGHUP reloads."""
    server, loop = RewardServer(settings, read_tokens), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.ask_to_stop)
    loop.add_signal_handler(signal.SIGHUP, server.begin_reload)
    starting, stopped = loop.create_task(server.start()), loop.create_task(server.until_asked_to_stop())
    await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
        await asyncio.wait({starting})
        return
    starting.result()
    try:
        on_ready(server)
        await stopped
    finally:
        await server.stop()


class ServerThread:
    """A server in a thread: `with ServerThread(settings) as server: print(server.address)`."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="plaudit-server", daemon=True)
        self.server: RewardServer | None = None

    @property
    def address(self) -> str:
        """The URL of the server."""
        assert self.server is not None, "the server was not started"
        return self.server.address

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call(self, function: Callable[[], None]) -> None:
        """Call a function on the server's event loop, without waiting for it."""
        self._loop.call_soon_threadsafe(function)

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


BACKLOG = 1024


def open_socket(settings: ServerSettings) -> socket.socket:
    """A listening socket; InvalidSettings if the address cannot be used."""
    where = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InvalidSettings(f"cannot listen on {where}: {error.strerror}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InvalidSettings(
                f"{where} is in use: another server listens there; stop it, or give --port (0 takes a free one)"
            ) from None
        raise InvalidSettings(f"cannot listen on {where}: {os.strerror(error.errno or 0)}") from None
    return listening


def tls_context(settings: ServerSettings) -> ssl.SSLContext | None:
    """The TLS context of a server; None for plain HTTP."""
    if settings.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_certificate(context, settings)
    return context


def load_certificate(context: ssl.SSLContext, settings: ServerSettings) -> None:
    """Read the certificate into a context; InvalidSettings if it does not fit its key."""
    assert settings.tls_certificate is not None

    def refuse_password() -> str:
        raise InvalidSettings(
            f"{settings.tls_key} is encrypted, and a server cannot ask for its password; "
            f"store it without one: openssl pkey -in {settings.tls_key} -out key.pem"
        )

    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, refuse_password)
    except OSError as error:
        raise InvalidSettings(
            f"cannot use {settings.tls_certificate} and {settings.tls_key} for TLS: {error.strerror or error}; "
            "expected a certificate chain and the private key of its first certificate, both in PEM"
        ) from None
