"""Models as rewards: how much faster a judge is with many calls under way than one by one.

Run from the repository: `python benchmarks/models.py judges [SAMPLES]`. The judge stands behind a server of its own
process that takes 50 ms for an answer; the peer is the same judge with one call at a time.
"""

import asyncio
import json
import multiprocessing
import re
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from plaudit import Trajectory, score
from plaudit.judges import ChatEndpoint, LLMJudge

LATENCY_S = 0.05
IN_FLIGHT = 32
ROUNDS = 3
CODE = re.compile(rb"tags that end in -(\w+)")


def measure_judges(samples: int) -> None:
    """Calls a second of one judge, with 32 calls under way and with one."""
    with _Server() as url:
        rates = {at_once: [_rate(url, at_once, samples) for _ in range(ROUNDS)] for at_once in (1, IN_FLIGHT)}
    for at_once, found in rates.items():
        print(f"{at_once:>3} under way: {statistics.median(found):7.1f} verdicts a second")
    ratio = statistics.median(rates[IN_FLIGHT]) / statistics.median(rates[1])
    print(f"ratio: {ratio:.1f} (at {LATENCY_S * 1000:.0f} ms an answer)")


def _rate(url: str, at_once: int, samples: int) -> float:
    judge = LLMJudge(ChatEndpoint(url, "judge", form="schema", policy={"concurrency": at_once}))
    count = samples if at_once > 1 else max(8, samples // IN_FLIGHT)
    trajectories = [Trajectory("What is 2 + 2?", f"It is {number}.") for number in range(count)]
    began = time.perf_counter()
    outputs = score(judge, trajectories)
    seconds = time.perf_counter() - began
    assert all(output.ok for output in outputs), outputs[0].reason
    return count / seconds


class _Server:
    """A chat server in a process of its own."""

    def __enter__(self) -> str:
        here, there = multiprocessing.get_context("spawn").Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
        self._process.start()
        return f"http://127.0.0.1:{here.recv()}/v1"

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.join()


def _serve(parent: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(_converse, "127.0.0.1", 0, backlog=256)
        parent.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, each after the latency."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            asked = await reader.readexactly(int(length[1]) if length else 0)
            await asyncio.sleep(LATENCY_S)
            code = CODE.search(asked)
            verdict = json.dumps({"code": code[1].decode() if code else "", "reasoning": "so", "score": 7})
            message = {"role": "assistant", "content": verdict}
            body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


MEASUREMENTS: dict[str, Callable[[int], None]] = {"judges": measure_judges}


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "judges"
    MEASUREMENTS[wanted](int(sys.argv[2]) if len(sys.argv) > 2 else 1024)
