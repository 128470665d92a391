"""What the server does with a request: finds whom it is for, checks whether it may, queues it, and answers.

Transport-independent: connections and Ray Serve call the same `check` and `handle`. A refusal never holds a sample or a
traceback.
"""

import itertools
import math
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from plaudit.serving.app.access import Access
from plaudit.serving.app.admission import Admission
from plaudit.serving.app.metrics import TEXT, Metrics
from plaudit.serving.app.openapi import OPEN_PAGES, describe_api
from plaudit.serving.app.replays import LONGEST_KEY, Replays
from plaudit.serving.http.connection import Connection
from plaudit.serving.http.messages import JSON, MSGPACK, Request, Response, refuse
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.settings import ServerSettings
from plaudit.serving.workers.queueing import Job
from plaudit.serving.workers.service_pool import ServicePool
from plaudit.serving.workers.wire import Answer, WireJob
from plaudit.version import __version__

__all__ = ["Application", "Route", "Ticket"]

_MSGPACK_NAMES = (MSGPACK, b"application/x-msgpack", b"application/vnd.msgpack")
_GOOD_ID = re.compile(rb"[\w.:-]{1,128}")
_VERSION = f"x-plaudit-version: {__version__}\r\n".encode()
_CHALLENGE = b"www-authenticate: Bearer\r\n"


@dataclass(slots=True)
class Route:
    """Where a path leads: to a pool in some protocol, or to a page."""

    method: str
    pool: str = ""
    protocol: str = ""
    page: Callable[[], Response] | None = None
    head: bytes = b""
    packs: bool = False


@dataclass(slots=True)
class Ticket:
    """What the head of a request says, which may go on as long as `rules` hold."""

    route: Route
    client: str
    rules: object
    packed: bool = False
    id: bytes | None = None  # that the client chose
    key: bytes | None = None  # under which the answer is kept
    patience_s: float = math.inf


class Application:
    """Answers requests with the pools it has; `connections` are those that are open."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.pools: dict[str, ServicePool] = {}
        self.metrics = Metrics()
        self.admission = Admission(settings.queue_requests, settings.queue_bytes)
        self.release = self.admission.release
        self.connections: set[Connection] = set()
        self.draining, self.loading = False, True
        self.admit(settings.tokens)
        self._replays = Replays()
        self._heads: dict[str, bytes] = {}  # what every answer of a pool says of it
        self._routes: dict[str, Route] = self._pages()
        self._prefix, self._numbers = secrets.token_hex(4).encode(), itertools.count(1)

    def admit(self, tokens: tuple[str, ...]) -> None:
        """Take these tokens from now on, and no others."""
        self._access = Access(tokens, self.settings.host)
        self._rules = object()

    def set_pool(self, name: str, pool: ServicePool) -> None:
        """Serve a reward, or a new version of it, from now on."""
        self.pools[name] = pool
        self._routes, self._rules = self._pages(), object()
        for place, (each, served) in enumerate(self.pools.items()):
            about = served.description
            head = f"x-plaudit-reward: {each}\r\nx-plaudit-key: {about.get('key', '')}\r\n".encode()
            self._heads[each] = head
            for protocol in about.get("protocols", ()):
                packs = protocol in PROTOCOLS and PROTOCOLS[protocol].packs
                route = Route("POST", each, protocol, packs=packs)
                for prefix in (f"/{each}", *([""] if place == 0 or protocol == "run_code" else [])):
                    self._routes[f"{prefix}/{protocol}"] = route
            self._routes[f"/{each}"] = Route("GET", page=partial(self._show_reward, each), head=head)

    def _pages(self) -> dict[str, Route]:
        pages = {
            "/health": self._show_health,
            "/ready": self._show_readiness,
            "/metrics": self._show_metrics,
            "/openapi.json": self._show_api,
            "/": self._show_rewards,
        }
        return {path: Route("GET", page=page) for path, page in pages.items()}

    # What connections ask

    def check(
        self, method: str, path: str, headers: dict[bytes, bytes], peer: str, last: Ticket | Response | None = None
    ) -> Ticket | Response:
        """Whether a request may go on, before its body is read: a ticket, or what to answer instead."""
        found = last
        if not isinstance(found, Ticket) or found.rules is not self._rules:
            found = self._check(method, path, headers, peer)
        if isinstance(found, Ticket):
            full = None if found.route.page else self.admission.refusal_for(found.client)
            if full is None:
                return found
            full.head += self._heads[found.route.pool]
            found = full
        self.metrics.requests[path if path in self._routes else "other", found.status] += 1
        return self.refused(found, headers)

    def _check(self, method: str, path: str, headers: dict[bytes, bytes], peer: str) -> Ticket | Response:
        route = self._routes.get(path)
        if self._access.is_foreign_page(headers):
            return refuse(403, "this name is not how the server is called here; ask for localhost or its address")
        client = self._access.client_of(headers, peer)
        if client is None and path not in OPEN_PAGES:
            return refuse(401, "show a valid token: Authorization: Bearer …", _CHALLENGE)
        if self.loading and path not in OPEN_PAGES:
            return refuse(503, "the rewards are being loaded; try again in a moment", b"retry-after: 1\r\n")
        if route is None:
            hint = "; programs are run by a server with --sandbox" if path.endswith("/run_code") else ""
            return refuse(404, f"nothing here; there is {', '.join(sorted(self._routes))}{hint}")
        if method != route.method and not (method == "HEAD" and route.method == "GET"):
            of_reward = self._heads.get(route.pool, route.head)
            return refuse(405, f"{path} takes {route.method}", f"allow: {route.method}\r\n".encode() + of_reward)
        if route.page is not None:
            return Ticket(route, client or "", self._rules, id=_chosen_id(headers))
        content = headers.get(b"content-type", b"")
        if content != JSON:
            content = content.partition(b";")[0].strip().lower()
        if content != JSON and not (route.packs and content in _MSGPACK_NAMES):
            also = " or application/msgpack" if route.packs else ""
            return refuse(415, f"send content-type: application/json{also}", self._heads[route.pool])
        key, patience_s = headers.get(b"idempotency-key") or None, _patience_s(headers)
        if key is not None and len(key) > LONGEST_KEY:
            return refuse(422, f"an idempotency key has at most {LONGEST_KEY} bytes", self._heads[route.pool])
        if patience_s is None:
            return refuse(422, "x-deadline-s is a positive number of seconds", self._heads[route.pool])
        return Ticket(route, str(client), self._rules, content != JSON, _chosen_id(headers), key, patience_s)

    def reserve(self, size: int, ticket: Ticket, own: int = 0) -> Response | None:
        """Take bytes for a body, of which `own` are taken already."""
        refusal = self.admission.reserve(size, ticket.client, own)
        if refusal is None:
            return None
        self.metrics.requests["other", refusal.status] += 1
        return refusal

    def refused(self, response: Response, headers: dict[bytes, bytes], ticket: Any = None) -> Response:
        """A refusal with the headers that every answer has; those of a reward for whom it may know of."""
        of_reward = self._heads.get(ticket.route.pool, b"") if isinstance(ticket, Ticket) else b""
        own = _chosen_id(headers) or self._new_id()
        head = b"%bx-request-id: %b\r\n%b%b" % (_VERSION, own, of_reward, response.head)
        return Response(response.status, response.body, response.content_type, head, close=response.close)

    def handle(self, request: Request, ticket: Ticket) -> None:
        """Answer a request that `check` gave a ticket, now or when its samples are scored."""
        request.id = ticket.id or self._new_id()
        route = ticket.route
        if route.page is not None:
            response = route.page()
            response.head += route.head
            self._respond(request, route, response)
            return
        place = None if ticket.key is None else (ticket.client, request.path, ticket.key)
        if place is None or self._is_new(place, request, route):
            self._submit(request, ticket, place)

    def _is_new(self, place: tuple[str, str, bytes], request: Request, route: Route) -> bool:
        found = self._replays.join(place, request)
        if isinstance(found, Response):
            self.metrics.replays += 1
            self._respond(request, route, found)
        elif found is False:
            why = "this idempotency key belongs to another request"
            self._respond(request, route, refuse(422, why, self._heads[route.pool]))
        return found is None

    def _submit(self, request: Request, ticket: Ticket, place: tuple[str, str, bytes] | None) -> None:
        route, client = ticket.route, ticket.client
        head = self._heads[route.pool]  # of the pool that answers, which may be replaced meanwhile
        wire = WireJob(route.protocol, request.body, ticket.packed)
        told = partial(self._answer, request, route, head, place)
        job = Job(wire, client, told, request.received_at + ticket.patience_s)
        if place is None:
            request.on_abandon = job.abandon
        self.admission.begin(client)
        self.pools[route.pool].submit(job)

    def _answer(
        self,
        request: Request,
        route: Route,
        head: bytes,
        place: tuple[str, str, bytes] | None,
        job: Job,
        answered: Answer,
    ) -> None:
        self.admission.end(job.client)
        for status, count in answered.counts.items():
            self.metrics.samples[route.pool, status] += count
        response = Response(answered.status, answered.body, MSGPACK if answered.packed else JSON, head)
        others = self._replays.finish(place, response) if place is not None else ()
        self._respond(request, route, response)
        for other in others:
            self.metrics.replays += 1
            self._respond(other, route, response)

    def _respond(self, request: Request, route: Route, response: Response) -> None:
        self.metrics.requests[request.path, response.status] += 1
        if route.page is None:
            self.metrics.observe(request.path, time.monotonic() - request.received_at)
        request.on_abandon = None
        request.respond(response, b"%bx-request-id: %b\r\n" % (_VERSION, request.id))

    def _new_id(self) -> bytes:
        return b"%b-%x" % (self._prefix, next(self._numbers))

    # Pages

    def _show_health(self) -> Response:
        return _json({"status": "ok", "version": __version__})

    def _show_readiness(self) -> Response:
        waiting = {name: pool.failure for name, pool in self.pools.items() if not pool.ready}
        if self.draining or self.loading or waiting:
            status = "draining" if self.draining else "loading" if self.loading else "not ready"
            return _json({"status": status, "rewards": waiting}, 503)
        return _json({"status": "ready", "rewards": list(self.pools)})

    def _show_metrics(self) -> Response:
        self.metrics.gauges = {
            "connections": {"": len(self.connections)},
            "held_bytes": {"": self.admission.bytes},
            "requests_under_way": {"": self.admission.requests},
            "queued_requests": {name: len(pool.queue) for name, pool in self.pools.items()},
            "workers": {name: pool.size for name, pool in self.pools.items()},
            "workers_busy": {name: pool.busy for name, pool in self.pools.items()},
        }
        return Response(200, self.metrics.render(), TEXT)

    def _show_api(self) -> Response:
        described = {name: pool.description for name, pool in self.pools.items()}
        return _json(describe_api(described, needs_token=self._access.needs_token))

    def _show_rewards(self) -> Response:
        return _json({"version": __version__, "rewards": [pool.description for pool in self.pools.values()]})

    def _show_reward(self, name: str) -> Response:
        return _json(self.pools[name].description)


def _chosen_id(headers: dict[bytes, bytes]) -> bytes | None:
    """The id that a client chose for its request, where it may be one."""
    asked = headers.get(b"x-request-id")
    return asked if asked is not None and _GOOD_ID.fullmatch(asked) else None


def _patience_s(headers: dict[bytes, bytes]) -> float | None:
    """How long a client wants to wait, as it says in `x-deadline-s`; None where that is no time."""
    try:
        seconds = float(headers.get(b"x-deadline-s", b"inf"))
    except ValueError:
        return None
    return seconds if seconds > 0 else None


def _json(value: object, status: int = 200) -> Response:
    return Response(status, msgspec.json.encode(value))
