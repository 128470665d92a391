"""A reward on HTTP servers: `load("http://host:8000/math")`, or several servers, separated by commas.

The samples of a batch are divided over the servers. A request that fails is sent again, to another server if there is
one; a server that fails repeatedly is left out for a while. A sample that could not be scored gets a status with the
reason: a server that is down never becomes a score.
"""

import contextlib
import math
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec
from tenacity import RetryError, Retrying, retry_if_exception, stop_after_attempt

from plaudit import jsonline
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.contract.scoring import Style
from plaudit.endpoint.channel import EndpointPolicy, wait_strategy
from plaudit.endpoint.transient import HttpRefusal, fault_of, is_transient, status_of
from plaudit.errors import InvalidOutput, PlauditError, RewardNotLoaded, TransientError
from plaudit.remote.client_protocols import ClientProtocol, NativeClientProtocol, OpenRLHFClientProtocol
from plaudit.remote.servers import Reply, ServerLink, Servers
from plaudit.remote.tokens import split_token
from plaudit.trajectory import Trajectory

T = TypeVar("T")
CHUNK = 16  # samples of a request: with a deadline of 10 s each, it ends within `attempt_s` below
DESCRIBE_S = 10.0
NOT_ALLOWED, NOT_READY = 405, (429, 502, 503, 504)
SPLIT_STATUSES = (400, 413, 422)  # refusals that one sample, or the number of samples, may have caused
POLICY = EndpointPolicy(concurrency=16, tries=5, first_wait_s=0.2, attempt_s=180.0, breaker_after=3, breaker_rest_s=5.0)


def open_remote(spec: str, policy: EndpointPolicy = POLICY) -> "RemoteReward":
    """The reward at one URL, or at several with commas between them; the servers are asked what they serve.

    A URL of plaudit is `http://host:port/name`; any other is asked in OpenRLHF's protocol. The token is the password of
    the URL, or the environment variable PLAUDIT_TOKEN.
    """
    urls = [url.strip().rstrip("/") for url in spec.split(",") if url.strip()]
    for url in urls:
        if not url.startswith(("http://", "https://")):
            shown = url.rpartition("@")[2]  # without a token
            raise RewardNotLoaded(f"{shown!r} is not a URL; a list of servers is http://a:8000/x,http://b:8000/x")
    return RemoteReward(urls, policy)


class RemoteReward(RewardFunction):
    """A reward on servers; its name, scope and bounds are those of the reward that they serve."""

    pure = True

    def __init__(self, urls: Sequence[str], policy: EndpointPolicy = POLICY) -> None:
        self.urls, self.policy, self.call_style = list(urls), policy, Style.BATCH
        described = _describe_servers(urls, policy)
        self.native = described is not None
        about = described or {}
        self.key = str(about.get("key", ""))
        self.name = str(about.get("reward") or split_token(urls[0])[0].rpartition("/")[2] or "remote")
        self.scope = about.get("scope", "sample")
        self.chunk = about.get("max_batch") or CHUNK
        self.bounds = _read_bounds(about.get("bounds"))
        self.deterministic = False  # the server may load another version at any time
        self._open()

    def _open(self) -> None:
        links = [ServerLink(url, self.policy) for url in self.urls]
        self._protocol: ClientProtocol = NativeClientProtocol() if self.native else OpenRLHFClientProtocol()
        self._servers = Servers(links, has_health=self.native)
        self._retrying = Retrying(
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
        )
        self._process = os.getpid()  # set last: from here on everything above belongs to this process

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        if self._process != os.getpid():
            self._open()  # a forked process must not share connections with its parent
        if not trajectories:
            return []
        size = len(trajectories)
        if self.scope == "sample":
            size = min(self.chunk, -(-size // len(self.urls)))
        chunks = [trajectories[first : first + size] for first in range(0, len(trajectories), size)]
        if len(chunks) == 1:
            return self._score_chunk(chunks[0])
        outputs: dict[int, list[RewardOutput]] = {}
        waiting = deque(enumerate(chunks))

        def score_waiting() -> None:
            with contextlib.suppress(IndexError):  # none is left
                while True:
                    index, chunk = waiting.popleft()
                    outputs[index] = self._score_chunk(chunk)

        for thread in [_call_in_thread(score_waiting) for _ in range(min(self.policy.concurrency, len(chunks)))]:
            thread.result()
        return [output for index in range(len(chunks)) for output in outputs[index]]

    def _score_chunk(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs of some samples in one request; in several where the server refuses a part of them."""
        count = len(trajectories)
        try:
            body, content_type = self._protocol.encode(trajectories)
        except jsonline.NotPlain as error:
            if self._may_split(count):
                return [output for each in trajectories for output in self._score_chunk([each])]
            what = "the sample cannot" if count == 1 else "its samples are scored together, and one of them cannot"
            return [RewardOutput.unscored(Status.ERROR, f"{self.name}: {what} be sent: {error}")] * count
        headers = {"content-type": content_type}
        try:
            return self._retrying(self._ask, body, headers, count, [], [])
        except RetryError as failed:
            return [self._give_up(failed.last_attempt.exception())] * count
        except (PlauditError, HttpRefusal) as error:
            if status_of(error) in SPLIT_STATUSES and self._may_split(count):
                half = count // 2
                return self._score_chunk(trajectories[:half]) + self._score_chunk(trajectories[half:])
            return [RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}")] * count

    def _may_split(self, count: int) -> bool:
        return count > 1 and self.scope == "sample"

    def _ask(
        self, body: bytes, headers: dict[str, str], count: int, tried: list[ServerLink], refused: list[ServerLink]
    ) -> list[RewardOutput]:
        """Send the request once, if possible to a server that was not tried for these samples before."""
        link = self._servers.choose(tried, refused)
        tried.append(link)
        try:
            return self._read(self._servers.ask(link, body, headers, self._protocol.path), link, count)
        except (HttpRefusal, InvalidOutput) as error:
            if is_transient(error):
                raise
            refused.append(link)
            splits = status_of(error) in SPLIT_STATUSES and self._may_split(count)
            if splits or {*refused} >= {*self._servers.links}:
                raise
            raise TransientError(str(error)) from error  # another server may accept it

    def _read(self, reply: Reply, link: ServerLink, count: int) -> list[RewardOutput]:
        key = reply.headers.get("x-plaudit-key", self.key) if self.native else self.key
        if key != self.key:
            about = _ask_description(link) or {}
            if about.get("scope", self.scope) != self.scope:
                raise InvalidOutput(
                    f"it was reloaded and its scope is {about['scope']!r} now, not {self.scope!r}: load it again"
                )
            warnings.warn(
                f"{self.name} has another version than at the last request (key {key}, before {self.key}): "
                f"{', '.join(link.url for link in self._servers.links)} reloaded it, or do not all serve the same",
                stacklevel=2,
            )
            self.key = key
        return self._protocol.read(reply, count)

    def _give_up(self, error: BaseException | None) -> RewardOutput:
        fault = fault_of(error)
        status = Status.TIMEOUT if fault is not None and fault.timeout else Status.ERROR
        words = str(error) if fault is None or isinstance(error, HttpRefusal) else fault.message
        return RewardOutput.unscored(status, f"{self.name}: gave up after {self.policy.tries} tries: {words}")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()

    def __repr__(self) -> str:
        return f"{self.name} at {', '.join(split_token(url)[0] for url in self.urls)}"


def _describe_servers(urls: Sequence[str], policy: EndpointPolicy) -> dict[str, Any] | None:
    """The description of the reward; None if the servers are not plaudit's. At least one server must answer."""
    descriptions: dict[str, dict[str, Any] | None] = {}
    silent: list[str] = []
    for url in urls:
        link = ServerLink(url, policy)
        try:
            descriptions[url] = _ask_description(link)
        except (OSError, TransientError) as error:
            silent.append(str(error))
        finally:
            link.close()
    if not descriptions:
        raise RewardNotLoaded(
            f"no reward server answers: {'; '.join(silent)}; start one by `plaudit serve REWARD`, or check the URL"
        )
    if len({about and about["key"] for about in descriptions.values()}) > 1:
        served = ", ".join(
            f"{split_token(url)[0]} ({about['key'] if about else 'not plaudit'})" for url, about in descriptions.items()
        )
        raise RewardNotLoaded(f"these servers do not serve the same reward: {served}")
    return next(iter(descriptions.values()))


def _ask_description(link: ServerLink) -> dict[str, Any] | None:
    """The description of the reward at one URL; None if the server is not plaudit's."""
    try:
        reply = link.ask(None, {}, timeout_s=DESCRIBE_S)
        return _read_description(link.url, reply.body) if "x-plaudit-version" in reply.headers else None
    except HttpRefusal as refused:
        if refused.status in NOT_READY:  # it starts or stops, or a proxy cannot reach it
            raise TransientError(str(refused)) from None
        if "x-plaudit-version" not in refused.headers:
            return None
        if refused.status != NOT_ALLOWED:
            raise RewardNotLoaded(str(refused)) from None
        if link.url.endswith("/get_reward"):
            return None
        raise RewardNotLoaded(f"{link.url} is the path of a protocol; a reward is http://host:8000/name") from None


def _read_description(url: str, body: bytes) -> dict[str, Any]:
    """The reward of a page of plaudit; the page `/` lists all of them, the first counts."""
    with contextlib.suppress(msgspec.DecodeError):
        about = msgspec.json.decode(body)
        if isinstance(about, dict) and isinstance(about.get("rewards"), list):
            about = next(iter(about["rewards"]), None)
        if isinstance(about, dict) and "score" in about.get("protocols", ()):
            return about
    raise RewardNotLoaded(f"{url} is a page of plaudit, not a reward; a reward is http://host:8000/name")


def _call_in_thread(call: Callable[[], T]) -> "Future[T]":
    """Call in a daemon thread: Ctrl-C ends the program at once, without waiting for the servers."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by `result()`
            future.set_exception(error)

    threading.Thread(target=run, name="plaudit-remote", daemon=True).start()
    return future


def _read_bounds(bounds: Any) -> Bounds | None:
    """The range of a reward; JSON has null for an open end."""
    if not bounds:
        return None
    low, high = bounds
    return (-math.inf if low is None else low, math.inf if high is None else high)
