"""The ASGI application of a server of rewards: routes, tokens, limits, pages; the workers do everything else.

It runs behind any ASGI server: `plaudit serve` uses uvicorn, `plaudit serve --backend ray` uses Ray Serve. Workers read
the bodies, score them and write the answers, so this process touches no sample.
"""

import asyncio
import contextlib
import itertools
import math
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import msgspec

from plaudit.errors import PlauditError
from plaudit.serving.app.access import Access
from plaudit.serving.app.metrics import METRICS_TYPE, Metrics
from plaudit.serving.app.openapi import OPEN_PAGES, describe_api
from plaudit.serving.app.reward_pools import RewardPools
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.protocol import RequestRefused, refusal_body
from plaudit.serving.settings import ServerSettings
from plaudit.version import __version__

Headers: TypeAlias = list[tuple[bytes, bytes]]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

JSON, MSGPACK = b"application/json", b"application/msgpack"
_MSGPACK_NAMES = (MSGPACK, b"application/x-msgpack", b"application/vnd.msgpack")
_VALID_ID = re.compile(rb"[\w.:-]{1,128}")
_VERSION = (b"x-plaudit-version", __version__.encode())


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a request."""

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: Headers = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Route:
    """The target of a path: a page, or a reward in some protocol."""

    method: str
    page: Callable[[], Response] | None = None
    reward: str = ""
    protocol: str = ""
    packs: bool = False


class Application:
    """The ASGI application; `start()` and `close()` may be called directly or by the lifespan protocol."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.limits = LoadLimits(settings.queue_requests, settings.queue_bytes)
        self.pools = RewardPools(settings, self.metrics, self._set_routes)
        self.draining = False
        self._ids, self._id_prefix = itertools.count(1), secrets.token_hex(4).encode()
        self.set_tokens(settings.tokens)
        self._set_routes()

    def set_tokens(self, tokens: tuple[str, ...]) -> None:
        """Accept these tokens from now on, and no others."""
        self._access = Access(tokens, self.settings.host)

    async def start(self) -> None:
        """Load the rewards; raises where one cannot be served."""
        await self.pools.start()

    async def close(self) -> None:
        """End the workers; requests under way are answered with 503."""
        self.draining = True
        await self.pools.close()

    def _set_routes(self) -> None:
        pages = {
            "/health": self._show_health,
            "/ready": self._show_readiness,
            "/metrics": self._show_metrics,
            "/openapi.json": self._show_api,
            "/": self._show_rewards,
        }
        self._routes = {path: Route("GET", page) for path, page in pages.items()}
        self._reward_headers: dict[str, Headers] = {"": []}
        for index, (name, pool) in enumerate(self.pools.current.items()):
            key = str(pool.description["key"]).encode()
            self._reward_headers[name] = [(b"x-plaudit-reward", name.encode()), (b"x-plaudit-key", key)]
            self._routes[f"/{name}"] = Route("GET", partial(self._show_reward, name), name)
            for protocol in pool.description["protocols"]:
                packs = protocol in PROTOCOLS and PROTOCOLS[protocol].packs
                for prefix in (f"/{name}", *([""] if index == 0 or protocol == "run_code" else [])):
                    self._routes[f"{prefix}/{protocol}"] = Route("POST", None, name, protocol, packs)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the lifespan of the ASGI server."""
        if scope["type"] == "lifespan":
            await self._follow_lifespan(receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)

    async def _follow_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.start()
        except (PlauditError, OSError) as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _handle(self, scope: Message, receive: Receive, send: Send) -> None:
        began, path, headers = time.monotonic(), scope["path"], dict(scope["headers"])
        route = self._routes.get(path)
        try:
            checked = self._check(route, scope["method"], path, headers)
            if checked.page is not None:
                response = checked.page()
            else:
                response = await self._score(checked, headers, receive, began)
                self.metrics.observe(path, time.monotonic() - began)
        except RequestRefused as refused:
            known = route if route is not None and refused.status not in (401, 403) else None
            response = self._refusal(refused, known)
        self.metrics.requests[path if route is not None else "other", response.status] += 1
        chosen = headers.get(b"x-request-id", b"")
        request_id = chosen if _VALID_ID.fullmatch(chosen) else b"%b-%x" % (self._id_prefix, next(self._ids))
        start = [
            (b"content-type", response.content_type),
            (b"content-length", b"%d" % len(response.body)),
            _VERSION,
            (b"x-request-id", request_id),
            *response.headers,
        ]
        await send({"type": "http.response.start", "status": response.status, "headers": start})
        await send({"type": "http.response.body", "body": response.body})

    def _check(self, route: Route | None, method: str, path: str, headers: dict[bytes, bytes]) -> Route:
        """The route of a request whose token and method fit; RequestRefused otherwise."""
        if self._access.is_foreign_page(headers):
            raise RequestRefused(403, "the Host header is not a name of this server; use localhost or its address")
        if path not in OPEN_PAGES:
            if not self._access.is_allowed(headers):
                raise RequestRefused(401, "show a valid token: Authorization: Bearer …")
            if self.pools.loading:
                raise RequestRefused(503, "the rewards are being loaded; try again in a moment", retry_after_s=1)
        if route is None:
            hint = "; programs are run by a server with --sandbox" if path.endswith("/run_code") else ""
            raise RequestRefused(404, f"no such path; there are {', '.join(sorted(self._routes))}{hint}")
        if method != route.method and (method, route.method) != ("HEAD", "GET"):
            raise RequestRefused(405, f"{path} takes {route.method}")
        return route

    def _refusal(self, refused: RequestRefused, route: Route | None) -> Response:
        more = list(self._reward_headers.get(route.reward, []) if route is not None else [])
        if refused.retry_after_s is not None:
            more.append((b"retry-after", b"%d" % refused.retry_after_s))
        if refused.status == 401:
            more.append((b"www-authenticate", b"Bearer"))
        if refused.status == 405 and route is not None:
            more.append((b"allow", route.method.encode()))
        if refused.status in (408, 413):
            more.append((b"connection", b"close"))  # the rest of the body is not read
        return Response(refused.status, refusal_body(str(refused)), headers=more)

    async def _score(self, route: Route, headers: dict[bytes, bytes], receive: Receive, began: float) -> Response:
        packed, wait_s = _is_packed(route, headers), _wait_s(headers)
        with self.limits.admit() as reserve:
            body = await self._read_body(receive, headers, reserve)
            return await self._ask_pool(route, body, packed, began + wait_s)

    async def _read_body(self, receive: Receive, headers: dict[bytes, bytes], reserve: Callable[[int], None]) -> bytes:
        most, announced = self.settings.body_bytes, int(headers.get(b"content-length", b"0"))
        if announced > most:
            raise RequestRefused(413, f"the body is larger than {most} bytes")
        reserve(announced)
        parts: list[bytes] = []
        size, more = 0, True
        try:
            async with asyncio.timeout(self.settings.body_s):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RequestRefused(400, "the client closed the connection")
                    parts.append(message.get("body", b""))
                    size, more = size + len(parts[-1]), message.get("more_body", False)
                    if size > most:
                        raise RequestRefused(413, f"the body is larger than {most} bytes")
                    if size > announced:  # chunked
                        reserve(len(parts[-1]))
        except TimeoutError:
            raise RequestRefused(408, f"the body did not arrive within {self.settings.body_s:g} s") from None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _ask_pool(self, route: Route, body: bytes, packed: bool, expires_at: float) -> Response:
        pool, headers = self.pools.current[route.reward], self._reward_headers[route.reward]
        answer = await pool.score(route.protocol, body, packed=packed, expires_at=expires_at)
        for status, count in answer.counts.items():
            self.metrics.samples[route.reward, status] += count
        return Response(answer.status, answer.body, MSGPACK if answer.packed else JSON, headers)

    # Pages

    def _show_health(self) -> Response:
        return _json({"status": "ok", "version": __version__})

    def _show_readiness(self) -> Response:
        failed = {name: pool.failure for name, pool in self.pools.current.items() if pool.failure}
        if self.draining or self.pools.loading or failed:
            status = "draining" if self.draining else "loading" if self.pools.loading else "not ready"
            return _json({"status": status, "rewards": failed}, 503)
        return _json({"status": "ready", "rewards": list(self.pools.current)})

    def _show_metrics(self) -> Response:
        pools = self.pools.current
        self.metrics.gauges = {
            "held_bytes": {"": self.limits.bytes},
            "requests_under_way": {"": self.limits.requests},
            "queued_requests": {name: pool.queued for name, pool in pools.items()},
            "workers": {name: pool.size for name, pool in pools.items()},
            "workers_busy": {name: pool.busy for name, pool in pools.items()},
        }
        return Response(200, self.metrics.render(), METRICS_TYPE)

    def _show_api(self) -> Response:
        return _json(describe_api(self.pools.descriptions, needs_token=self._access.needs_token))

    def _show_rewards(self) -> Response:
        return _json({"version": __version__, "rewards": list(self.pools.descriptions.values())})

    def _show_reward(self, name: str) -> Response:
        described = msgspec.json.encode(self.pools.descriptions[name])
        return Response(200, described, headers=self._reward_headers[name])


def _is_packed(route: Route, headers: dict[bytes, bytes]) -> bool:
    """Whether the body is msgpack; RequestRefused if the route does not take its content type."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != JSON and not (route.packs and kind in _MSGPACK_NAMES):
        also = " or application/msgpack" if route.packs else ""
        raise RequestRefused(415, f"send content-type: application/json{also}")
    if b"upgrade" in headers:  # HTTP servers stop reading the request there
        raise RequestRefused(400, "the client offers another protocol by an Upgrade header: make it use HTTP/1.1 only")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise RequestRefused(415, "send the body without content-encoding")
    return kind != JSON


def _wait_s(headers: dict[bytes, bytes]) -> float:
    """The seconds that a client is ready to wait, from `x-deadline-s`."""
    try:
        seconds = float(headers.get(b"x-deadline-s", b"inf"))
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise RequestRefused(422, "x-deadline-s must be a positive number of seconds")
    return seconds


def _json(value: object, status: int = 200) -> Response:
    return Response(status, msgspec.json.encode(value))


class LoadLimits:
    """Counts requests and bytes under way."""

    def __init__(self, most_requests: int, most_bytes: int) -> None:
        self.most_requests, self.most_bytes = most_requests, most_bytes
        self.requests = self.bytes = 0

    @contextlib.contextmanager
    def admit(self) -> Iterator[Callable[[int], None]]:
        """Take in one more request; the function reserves bytes for its body. RequestRefused (503) without room."""
        if self.requests >= self.most_requests:
            raise RequestRefused(503, f"{self.requests} requests are under way; try again later", retry_after_s=1)
        reserved = 0

        def reserve(size: int) -> None:
            nonlocal reserved
            if self.bytes + size > self.most_bytes:
                raise RequestRefused(503, "the server holds as many bytes of requests as it may; try again later", 1)
            self.bytes += size
            reserved += size

        self.requests += 1
        try:
            yield reserve
        finally:
            self.requests -= 1
            self.bytes -= reserved
