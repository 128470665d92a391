"""A judge behind a real HTTP server on this machine, rewards to guard, and a clock that only waiting moves."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from plaudit import RewardFunction, RewardOutput, Trajectory
from plaudit.engine import EndpointPolicy, guarded

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.25}


@dataclass
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    drop: bool = False


class Endpoint:
    """A judge behind HTTP. `answers` decides by the number of the request; what came in is kept."""

    def __init__(self) -> None:
        self.answers: Callable[[int], Answer] = lambda number: Answer()
        self.arrivals: list[float] = []
        self.most_under_way = self._under_way = 0
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def answer(self) -> Answer:
        with self._lock:
            self.arrivals.append(time.monotonic())
            number = len(self.arrivals)
            self._under_way += 1
            self.most_under_way = max(self.most_under_way, self._under_way)
        try:
            return self.answers(number)
        finally:
            with self._lock:
                self._under_way -= 1

    @property
    def requests(self) -> int:
        return len(self.arrivals)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                answer = endpoint.answer()
                if answer.hang:
                    endpoint.ended.wait(60)
                if answer.hang or answer.drop:
                    self.close_connection = True
                    return
                body = json.dumps({"score": 0.5, "usage": USAGE}).encode()
                self.send_response(answer.status)
                for name, value in {**answer.headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        return Handler


class Server(ThreadingHTTPServer):
    request_queue_size = 64


@dataclass(eq=False)
class Judge(RewardFunction):
    url: str
    bounds = (0.0, 1.0)
    deterministic = False

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            answer = await client.post(self.url, json={"response": trajectory.response})
        answer.raise_for_status()
        told = answer.json()
        return RewardOutput(told["score"], metadata={"usage": told["usage"], "model": "judge-1"})


GONE = ConnectionRefusedError("gone")


class Scripted(RewardFunction):
    """Gives or raises what the script says, the last of it for ever."""

    def __init__(self, script: list[float | Exception]) -> None:
        self.script = script
        self.calls = 0

    async def compute_reward(self, trajectory: Trajectory) -> float:
        said = self.script[min(self.calls, len(self.script) - 1)]
        self.calls += 1
        await asyncio.sleep(0)
        if isinstance(said, Exception):
            raise said
        return said


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0.001)  # lets the others begin their waits at the same moment
        self.now = max(self.now, until)


def guard(endpoint: Endpoint, quick: Time, **policy: Any) -> RewardFunction:
    return guarded(Judge(endpoint.url), EndpointPolicy(**policy), clock=quick.clock, sleep=quick.sleep)


def samples(count: int) -> list[Trajectory]:
    return [Trajectory(prompt="Is it good?", response=f"answer {number}") for number in range(count)]


def failing(times: int, status: int = 503, **headers: str) -> Callable[[int], Answer]:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda number: Answer(status, told) if number <= times else Answer()


def slow(number: int) -> Answer:
    time.sleep(0.05)
    return Answer()
