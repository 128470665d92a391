"""A reward that is computed elsewhere: `load("http://host:8000/math")`, or several servers, separated by commas.

The samples of a batch are shared out over the servers. A request that fails is sent again, to another server where
there is one; a server that stays away is left alone for a while; one that takes unusually long is overtaken. What could
not be scored in the end says so in its status: a server that is down is never a score.
"""

import contextlib
import math
import os
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from tenacity import RetryError, Retrying, retry_if_exception, stop_after_attempt

from plaudit import jsonline
from plaudit.contract.boundary import Style
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.endpoint.channel import wait_strategy
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.endpoint.transient import fault_of, is_transient, status_of
from plaudit.errors import InvalidOutput, PlauditError, RewardNotLoaded, TransientError
from plaudit.remote.client_protocols import ClientProtocol, NativeClientProtocol, OpenRLHFClientProtocol
from plaudit.remote.server_link import Reply, ServerLink
from plaudit.remote.servers import Servers
from plaudit.remote.tokens import split_token
from plaudit.trajectory import Trajectory

__all__ = ["RemoteReward", "open_remote"]

T = TypeVar("T")
CHUNK, FIRST_CHUNK = 256, 16  # samples of a request at most, and before it is known how long they take
REQUEST_S = 2.0  # what a request may take, going by the samples before
LEARNING = 0.3
PATIENCE_STEP_S = 0.1
LOOK_S = 10.0
NOT_ALLOWED, NOT_NOW = 405, (429, 502, 503, 504)
OF_ONE_SAMPLE = (400, 413, 422)  # refusals that may be for one sample, or for their number
POLICY = EndpointPolicy(concurrency=16, tries=5, first_wait_s=0.2, attempt_s=180.0, breaker_after=3, breaker_rest_s=5.0)


def open_remote(spec: str, policy: EndpointPolicy = POLICY) -> "RemoteReward":
    """The reward at one URL, or at several with commas between them; the servers are asked what they serve.

    A URL of plaudit is `http://host:port/name`; any other is asked in OpenRLHF's protocol. A token stands in the URL as
    its password, or in the environment as PLAUDIT_TOKEN.
    """
    urls = [url.strip().rstrip("/") for url in spec.split(",") if url.strip()]
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise RewardNotLoaded(f"{_bare(url)!r} is no URL; a list of servers is http://a:8000/x,http://b:8000/x")
    return RemoteReward(urls, policy)


@dataclass(slots=True)
class _Tried:
    """The servers that a request was sent to, and those of them that refused it or answered nonsense."""

    asked: set[ServerLink] = field(default_factory=set)
    refused: set[ServerLink] = field(default_factory=set)


class RemoteReward(RewardFunction):
    """A reward on servers; its name, scope and bounds are those of the reward that they serve."""

    def __init__(self, urls: Sequence[str], policy: EndpointPolicy = POLICY) -> None:
        self.urls, self.policy, self.style = list(urls), policy, Style.BATCH
        described = _describe(urls, policy)
        self.native = described is not None
        about = described or {}
        self.key = str(about.get("key", ""))
        self.name = str(about.get("reward") or split_token(urls[0])[0].rpartition("/")[2] or "remote")
        self.scope = about.get("scope", "sample")
        self.bounds = _read_bounds(about.get("bounds"))
        self.deterministic = False  # whatever it does now, its server may load another version at any time
        self._open()

    def _open(self) -> None:
        links = [ServerLink(url, self.policy) for url in self.urls]
        self._protocol: ClientProtocol = NativeClientProtocol() if self.native else OpenRLHFClientProtocol()
        self._servers = Servers(links, has_health=self.native)
        self._slots = threading.BoundedSemaphore(2 * self.policy.concurrency)
        self._sample_s = 0.0  # what a sample takes of late, waiting included; 0.0 before anything is known
        self._process = os.getpid()  # last: what is above is this process's own by then

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        if self._process != os.getpid():
            self._open()  # a forked process has its parent's sockets, and would read the answers that are for it
        if self.scope != "sample" or len(trajectories) <= self._chunk_size(len(trajectories)):
            return self._score_chunk(trajectories) if trajectories else []
        begun, start = [], 0
        while start < len(trajectories):
            end = start + self._chunk_size(len(trajectories))
            begun.append(self._begin_chunk(trajectories[start:end]))
            start = end
        return [output for chunk in begun for output in chunk.result()]

    def _chunk_size(self, count: int) -> int:
        """How many of so many samples are sent together: every server gets some, and none is asked for too long."""
        known = FIRST_CHUNK if not self._sample_s else int(REQUEST_S / self._sample_s)
        return max(1, min(CHUNK, known, -(-count // len(self.urls))))

    def _begin_chunk(self, trajectories: Sequence[Trajectory]) -> "Future[list[RewardOutput]]":
        """Score a chunk beside others, as soon as there is room for it."""
        slots = self._slots
        slots.acquire()

        def score() -> list[RewardOutput]:
            try:
                return self._score_chunk(trajectories)
            finally:
                slots.release()

        try:
            return _call_beside(score)
        except BaseException:  # no thread could be started
            slots.release()
            raise

    def _score_chunk(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs of some samples; the same for all of them where they could not be had."""
        count = len(trajectories)
        try:
            body, content = self._protocol.encode(trajectories)
        except jsonline.NotPlain as error:
            if count > 1 and self.scope == "sample":
                return [output for each in trajectories for output in self._score_chunk([each])]
            what = "the sample cannot" if count == 1 else "its samples are scored together, and one of them cannot"
            return [RewardOutput.unscored(Status.ERROR, f"{self.name}: {what} be sent: {error}")] * count
        headers = {"content-type": content, "idempotency-key": uuid.uuid4().hex}
        retrying = Retrying(
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
        )
        try:
            return retrying(self._ask, body, headers, count, _Tried())
        except RetryError as failed:
            return [self._given_up(failed.last_attempt.exception())] * count
        except (PlauditError, HttpRefusal) as error:
            if status_of(error) in OF_ONE_SAMPLE and count > 1 and self.scope == "sample":
                half = count // 2
                return self._score_chunk(trajectories[:half]) + self._score_chunk(trajectories[half:])
            return [RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}")] * count

    def _ask(self, body: bytes, headers: dict[str, str], count: int, tried: "_Tried") -> list[RewardOutput]:
        """One try: on one server that was not asked before, and on a second one where it takes unusually long."""
        first, began = self._servers.choose(tried.asked, tried.refused), time.monotonic()
        try:
            outputs = self._first_answer(first, lambda link: self._ask_one(link, body, headers, count, tried))
        except TimeoutError:
            self._sample_s = max(self._sample_s, (time.monotonic() - began) / count)
            raise
        except (HttpRefusal, InvalidOutput) as error:
            is_for_parts = status_of(error) in OF_ONE_SAMPLE and count > 1 and self.scope == "sample"
            if is_transient(error) or is_for_parts or len(tried.refused) == len(self._servers.links):
                raise
            raise TransientError(str(error)) from error  # of this server: another one may not refuse
        sample_s = (time.monotonic() - began) / count
        self._sample_s += (LEARNING if self._sample_s else 1.0) * (sample_s - self._sample_s)
        return outputs

    def _ask_one(
        self, link: ServerLink, body: bytes, headers: dict[str, str], count: int, tried: "_Tried"
    ) -> list[RewardOutput]:
        tried.asked.add(link)
        try:
            return self._read(self._servers.ask(link, body, headers, self._protocol.path), count)
        except (HttpRefusal, InvalidOutput) as error:
            if not is_transient(error):
                tried.refused.add(link)
            raise

    def _first_answer(self, first: ServerLink, ask: Callable[[ServerLink], T]) -> T:
        """What the first server says; where it takes unusually long, what a second one says before it."""
        if len(self.urls) == 1:
            return ask(first)
        asked, began = {_call_beside(lambda: ask(first))}, time.monotonic()
        done: set[Future[T]] = set()
        while not done and time.monotonic() - began < self._servers.patience_s(first):  # which others teach meanwhile
            done, _ = wait(asked, timeout=PATIENCE_STEP_S)
        if not done and (second := self._servers.choose_other(first)) is not None:
            asked.add(_call_beside(lambda: ask(second)))
        return _first_good(asked)

    def _read(self, reply: Reply, count: int) -> list[RewardOutput]:
        key = reply.headers.get("x-plaudit-key", self.key) if self.native else self.key
        if key != self.key:
            self._check_scope()
            warnings.warn(
                f"{self.name} is another version now than when it was last asked (key {key}, before {self.key}): "
                f"{', '.join(link.url for link in self._servers.links)} reloaded it, or do not all serve the same",
                stacklevel=2,
            )
            self.key = key
        return self._protocol.read(reply, count)

    def _check_scope(self) -> None:
        """Refuse another version that looks at other samples together than those that were sent so."""
        for url in self.urls:
            about = None
            with contextlib.suppress(OSError, PlauditError):  # one that is away now says it when it is asked next
                about = _ask_what(url, self.policy)
            if about is not None and about.get("scope", self.scope) != self.scope:
                raise InvalidOutput(
                    f"it was reloaded, and looks at each {about['scope']} now, not at each {self.scope}: load it again"
                )

    def _given_up(self, error: BaseException | None) -> RewardOutput:
        fault = fault_of(error)
        status = Status.TIMEOUT if fault is not None and fault.timeout else Status.ERROR
        words = str(error) if fault is None or isinstance(error, HttpRefusal) else fault.words
        return RewardOutput.unscored(status, f"{self.name}: gave up after {self.policy.tries} tries: {words}")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()

    def __repr__(self) -> str:
        return f"{self.name} at {', '.join(split_token(url)[0] for url in self.urls)}"


def _call_beside(call: Callable[[], T]) -> "Future[T]":
    """Call in a thread that the end of the program does not wait for, as it would for those of an executor."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
            future.set_exception(error)

    threading.Thread(target=run, name="plaudit-remote", daemon=True).start()
    return future


def _first_good(asked: "set[Future[T]]") -> T:
    """The first answer that is one; where there is none, the last error."""
    while True:
        done, asked = wait(asked, return_when=FIRST_COMPLETED)
        good = [each for each in done if each.exception() is None]
        if good or not asked:
            return (good or list(done))[0].result()


def _describe(urls: Sequence[str], policy: EndpointPolicy) -> dict[str, Any] | None:
    """What the servers say of their reward; None where they are not plaudit's. At least one must answer."""
    found: dict[str, dict[str, Any] | None] = {}
    silent: list[str] = []
    for url in urls:
        try:
            found[url] = _ask_what(url, policy)
        except (OSError, TransientError) as error:
            silent.append(str(error))
    if not found:
        raise RewardNotLoaded(
            f"no reward server answers: {'; '.join(silent)}; start one by `plaudit serve REWARD`, or check the URL"
        )
    keys = {None if about is None else about["key"] for about in found.values()}
    if len(keys) > 1:
        served = ", ".join(
            f"{split_token(url)[0]} ({about['key'] if about else 'not plaudit'})" for url, about in found.items()
        )
        raise RewardNotLoaded(f"these servers do not serve the same reward: {served}")
    return next(iter(found.values()))


def _ask_what(url: str, policy: EndpointPolicy) -> dict[str, Any] | None:
    link = ServerLink(url, policy)
    try:
        reply = link.ask(None, {}, timeout_s=LOOK_S)
        return _read_description(link.url, reply.body) if "x-plaudit-version" in reply.headers else None
    except HttpRefusal as refused:
        if refused.status in NOT_NOW:  # it is being started or stopped, or stands behind a proxy that cannot reach it
            raise TransientError(str(refused)) from None
        if "x-plaudit-version" not in refused.headers:
            return None
        if refused.status != NOT_ALLOWED:
            raise RewardNotLoaded(str(refused)) from None
        if url.endswith("/get_reward"):
            return None
        raise RewardNotLoaded(f"{link.url} is asked in one protocol; a reward is http://host:8000/name") from None
    finally:
        link.close()


def _read_description(url: str, body: bytes) -> dict[str, Any]:
    """What a page of plaudit says of a reward; the first page, of all of them, of the first."""
    with contextlib.suppress(msgspec.DecodeError):
        about = msgspec.json.decode(body)
        if isinstance(about, dict) and "rewards" in about and isinstance(about["rewards"], list):
            about = next(iter(about["rewards"]), None)
        if isinstance(about, dict) and "score" in about.get("protocols", ()):
            return about
    raise RewardNotLoaded(f"{url} is a page of plaudit, and no reward; a reward is http://host:8000/name")


def _bare(url: str) -> str:
    """What a message may show of a text that is no URL."""
    return url.rpartition("@")[2]


def _read_bounds(given: Any) -> Bounds | None:
    """The range of a reward; JSON has null for an end that is open."""
    if not given:
        return None
    low, high = given
    return (-math.inf if low is None else low, math.inf if high is None else high)
