"""Async rewards and exceptions of every kind (rules 5 and 6 of scoring). No test here depends on how fast a call is."""

import asyncio
import contextlib
import os
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import plaudit
from plaudit import RewardFunction, Trajectory, reward
from plaudit.engine import Scorer

BACKENDS = ("inline", "processes")


def samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response) for response in responses]


CLOSE = "close the connection"


class Echo(socketserver.StreamRequestHandler):
    """Answers every line with the same line; the connection stays open."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            for line in self.rfile:
                self.wfile.write(line)


@pytest.fixture
def echo_port() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class AsksServer(RewardFunction):
    """Keeps one connection and one lock for all batches, as a client of an endpoint does."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connection = None

    async def compute_reward(self, trajectory):
        if self.connection is None:
            self.connection = asyncio.ensure_future(asyncio.open_connection("127.0.0.1", self.port))
            self.lock = asyncio.Lock()
        reader, writer = await self.connection
        if trajectory.response == CLOSE:
            writer.close()
            await writer.wait_closed()
            return 0.0
        async with self.lock:
            writer.write(f"{len(trajectory.response)}\n".encode())
            return float(await reader.readline())


@pytest.mark.parametrize("backend", BACKENDS)
def test_async_client_survives_three_batches(backend, echo_port):
    with Scorer(AsksServer(echo_port), backend=backend, workers=1 if backend == "processes" else None) as scorer:
        for _ in range(3):
            outputs = scorer.score(samples("a", "bb", "ccc"))
            assert [(output.reward, output.reason or "") for output in outputs] == [(1.0, ""), (2.0, ""), (3.0, "")]
        scorer.score(samples(CLOSE))


def test_async_client_survives_direct_calls_and_other_threads(echo_port):
    asks = AsksServer(echo_port)
    results = [asks(samples("a")[0]).reward, *asks(samples("bb", "ccc"))]
    thread = threading.Thread(target=lambda: results.extend(asks(samples("dddd"))))
    thread.start()
    thread.join()

    async def inside_a_loop() -> list[float | None]:
        return asks(samples("eeeee"))

    results += asyncio.run(inside_a_loop())
    results += [output.reward for output in plaudit.score(asks.clip(0, 3), samples("ffffff"))]
    asks(samples(CLOSE))
    assert results == [1.0, 2.0, 3.0, 4.0, 5.0, 3.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_async_parts_overlap(backend):
    """Each part waits until the other one runs."""

    class Meets(RewardFunction):
        arrived: dict = {}  # noqa: RUF012 - shared by both parts of one process

        def __init__(self, own: str, other: str) -> None:
            self.own, self.other, self.name = own, other, own

        async def compute_reward(self, trajectory):
            events = type(self).arrived
            for name in (self.own, self.other):
                events.setdefault((name, trajectory.response), asyncio.Event())
            events[self.own, trajectory.response].set()
            await asyncio.wait_for(events[self.other, trajectory.response].wait(), 5)
            return 1.0

    outputs = plaudit.score(Meets("left", "right") + Meets("right", "left"), samples("a"), backend=backend)
    assert [(output.reward, output.reason or "") for output in outputs] == [(2.0, "")]


class CountsCalls(RewardFunction):
    """Gives the highest number of calls that were under way at once, as far as it knows."""

    concurrency = 3
    running = 0
    most = 0

    async def compute_reward(self, trajectory):
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(20):
            await asyncio.sleep(0)
        self.running -= 1
        return float(self.most)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("wrap", [lambda part: part, lambda part: part.clip(0, 100)], ids=["plain", "clip"])
def test_calls_of_an_async_reward_overlap_up_to_its_concurrency(backend, wrap):
    workers = None if backend == "inline" else 1
    outputs = plaudit.score(wrap(CountsCalls()), samples(*"abcdefghijkl"), backend=backend, workers=workers)
    assert max(output.reward or 0.0 for output in outputs) == 3.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_sync_function_never_runs_on_the_event_loop(backend):
    @reward
    def is_outside_of_loops(response):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return 1.0
        return 0.0

    @reward
    async def is_inside(response):
        return float(asyncio.get_running_loop().is_running())

    outputs = plaudit.score(is_outside_of_loops + is_inside, samples("a", "b"), backend=backend)
    assert [output.reward for output in outputs] == [2.0, 2.0]


def test_overrunning_async_call_is_cancelled_and_its_worker_continues(tmp_path):
    cleaned = str(tmp_path / "cleaned")

    @reward
    async def hangs(response):
        try:
            await asyncio.sleep(600 if response == "hang" else 0)
        finally:
            if response == "hang":
                open(cleaned, "w").close()
        return float(os.getpid())

    with Scorer(hangs, workers=1, deadline_s=0.5) as scorer:
        [before] = scorer.score(samples("x"))
        outputs = scorer.score(samples("a", "hang", "b"))
        [after] = scorer.score(samples("x"))
    assert [output.status for output in outputs] == ["ok", "timeout", "ok"]
    assert {before.reward} == {outputs[0].reward, outputs[2].reward, after.reward}
    assert os.path.exists(cleaned)


@pytest.mark.parametrize("block_s", [0.6, 0.75, 600.0], ids="{:g}".format)
def test_other_async_calls_are_scored_when_one_blocks_the_loop(block_s):
    @reward
    async def blocks(response):
        await asyncio.sleep(0)
        time.sleep(block_s if response == "hang" else 0)
        await asyncio.sleep(0.01)
        return 1.0

    with Scorer(blocks, workers=1, deadline_s=0.5) as scorer:
        scorer.score(samples("w"))  # the worker is running
        began = time.monotonic()
        outputs = scorer.score(samples("a", "b", "hang", "c", "d"))
        elapsed = time.monotonic() - began
    statuses = [output.status for output in outputs]
    assert statuses.pop(2) == "timeout" or block_s < 1  # a call that blocks the loop may take as long as it is late
    assert statuses == ["ok"] * 4
    assert elapsed < 0.5 + 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_sync_reward_may_call_an_async_reward(backend):
    @reward
    async def inner(response):
        await asyncio.sleep(0)
        return 1.0

    class Outer(RewardFunction):
        def __init__(self, part):
            self.part = part

        def compute_reward(self, trajectory):
            return self.part(trajectory).reward

    assert [output.reward for output in plaudit.score(Outer(inner), samples("a", "b"), backend=backend)] == [1.0, 1.0]


def test_async_reward_that_calls_a_reward_directly_does_not_hang():
    @reward
    async def inner(response):
        await asyncio.sleep(0)
        return 1.0

    class Outer(RewardFunction):
        def __init__(self, part):
            self.part = part

        async def compute_reward(self, trajectory):
            return self.part(trajectory).reward

    with Scorer(Outer(inner), workers=1, deadline_s=1.0) as scorer:
        began = time.monotonic()
        [output] = scorer.score(samples("a"))
        elapsed = time.monotonic() - began
    assert elapsed < 1.0 + 3 + 2  # with the start of a worker
    assert output.reward == 1.0 or output.reason


# Rule 6: an exception of any kind is a status of its call; only KeyboardInterrupt is passed on, and only inline.


async def _raise_keyboard_interrupt(response):
    raise KeyboardInterrupt


def _raise_keyboard_interrupt_at_once(response):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "function", [_raise_keyboard_interrupt_at_once, _raise_keyboard_interrupt], ids=["sync", "async"]
)
def test_keyboard_interrupt_is_passed_on_inline(function):
    with pytest.raises(KeyboardInterrupt):
        plaudit.score(function, samples("a"))

    @reward
    async def works(response):
        return 1.0

    assert plaudit.score(works, samples("a"))[0].reward == 1.0  # the event loop is as good as before


@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, BaseException])
def test_base_exception_of_one_async_sample_fails_that_sample_only(error):
    @reward
    async def fails(response):
        await asyncio.sleep(0)
        if response == "bad":
            raise error
        return 1.0

    backend = "processes" if error is KeyboardInterrupt else "inline"
    outputs = plaudit.score(fails, samples("a", "bad", "b"), backend=backend)
    assert [output.status for output in outputs] == ["ok", "error", "ok"]
    assert error.__name__ in outputs[1].reason


SCRIPT = """
import asyncio
from plaudit import Trajectory, reward, score

async def fail(response):
    if response == "bad":
        raise {error}
    return 1.0

@reward
{function}

for _ in range(2):
    outputs = score(scored, [Trajectory("p", response) for response in ("a", "bad", "b")])
    print(*(output.status for output in outputs))
"""
FUNCTIONS = {
    "returned": "def scored(response):\n    return fail(response)",
    "task": "async def scored(response):\n    return await asyncio.create_task(fail(response))",
    "gathered": "async def scored(response):\n    return (await asyncio.gather(fail(response), fail('good')))[0]",
}


@pytest.mark.parametrize("error", ["SystemExit(0)", "asyncio.CancelledError", "GeneratorExit"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_task_of_a_reward_may_raise_anything(function, error):
    """In a process of its own: an event loop that was ended would hang all tests after this one."""
    script = SCRIPT.replace("{error}", error).replace("{function}", FUNCTIONS[function])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert done.stdout.splitlines() == ["ok error ok"] * 2, done.stderr
