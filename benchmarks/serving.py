"""A reward behind plaudit, and behind the plain FastAPI server that OpenRLHF's example shows: samples a second and p99.

The same trivial reward on both, 32 clients, 16 samples a request, in turns; the medians of several rounds. Then: the
processor time that HTTP adds to a sample, beside uvicorn and urllib3 without plaudit, and the sandbox endpoint against
`python file.py` for each request.
`python benchmarks/serving.py [--rounds 20] [--seconds 1]`
"""

import argparse
import contextlib
import http.client
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import urllib3

from plaudit import Trajectory, load

CLIENTS, SAMPLES = 32, 16
REWARD = "def trivial(response):\n    return float(len(response))\n"
PEER = """
import logging, sys
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

logging.basicConfig(level=logging.INFO)
logger = logging.getLogger("rm")
app = FastAPI()

@app.post("/get_reward")
async def get_reward(request: Request):
    data = await request.json()
    rewards = [float(len(query)) for query in data.get("query")]
    result = {"rewards": rewards, "scores": rewards, "extra_logs": {"length": rewards}}
    logger.info(f"Sent JSON: {result}")
    return JSONResponse(result)

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="info")
"""
BARE = """
import sys
import uvicorn

BODY = b'{"outputs":[' + b",".join([b'{"reward":68.0,"status":"ok"}'] * 16) + b"]}"
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", lifespan="off")
"""
PROMPT = "What is 2 + 3? Think about it carefully and answer. " * 2
BODY = json.dumps(
    {"query": [PROMPT + "The answer is 5. " * 4] * SAMPLES, "prompts": [PROMPT] * SAMPLES, "labels": ["5"] * SAMPLES}
).encode()
PROGRAM = "print(sum(range(1000)))\n"
LENGTH = re.compile(rb"\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Server:
    """A server that runs: where it listens, and its first process."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """The processor time of it and all processes below it."""
        return sum(map(_cpu_s, _tree(self.pid)))


def _tree(process: int) -> Iterator[int]:
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _tree(int(child))


def _cpu_s(process: int) -> float:
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trivial.py").write_text(REWARD)
        (folder / "peer.py").write_text(PEER)
        (folder / "bare.py").write_text(BARE)
        with peer(folder / "peer.py") as theirs, peer(folder / "bare.py") as bare, ours(folder) as own:
            compare_servers(own, theirs, bare, asked.rounds, asked.seconds)
            compare_with_local(own, bare, folder, asked.rounds)
            compare_sandbox(own, folder, asked.rounds)


def compare_servers(own: Server, theirs: Server, bare: Server, rounds: int, seconds: float) -> None:
    """Samples a second, p99 and processor time of the servers, in turns.

    `uvicorn alone` answers without reading the request: no ASGI application on uvicorn can be faster.
    """
    servers = {"plaudit": own, "FastAPI": theirs, "uvicorn alone": bare}
    runs: dict[str, list[Load]] = {name: [] for name in servers}
    for _ in range(rounds):
        for name, server in servers.items():
            runs[name].append(put_load_on(server, seconds))
    middle = {name: median_of(loads) for name, loads in runs.items()}
    for name, load_ in middle.items():
        print(f"{name}: {load_.rate:,.0f} samples/s, p99 {load_.p99_s * 1e3:.1f} ms, {load_.cpu_s * 1e6:.2f} µs of "
              f"processor time a sample (the client {load_.client_s * 1e6:.2f})")  # fmt: skip
    mine, other = middle["plaudit"], middle["FastAPI"]
    print(f"plaudit over FastAPI: {mine.rate / other.rate:.2f} x the samples per second, "
          f"{mine.p99_s / other.p99_s:.2f} x the p99, {mine.cpu_s / other.cpu_s:.2f} x the processor time")  # fmt: skip
    print(f"uvicorn alone over FastAPI: {middle['uvicorn alone'].rate / other.rate:.2f} x the samples per second")
    ratios = sorted(ours.rate / peers.rate for ours, peers in zip(runs["plaudit"], runs["FastAPI"], strict=True))
    print(f"round by round: {statistics.median(ratios):.2f} x, from {ratios[0]:.2f} to {ratios[-1]:.2f}")


@dataclass(frozen=True)
class Load:
    """What a server did under load; processor times are those of a sample."""

    rate: float
    p99_s: float
    cpu_s: float
    client_s: float


def median_of(loads: list[Load]) -> Load:
    """The median of each number."""
    return Load(*(statistics.median(getattr(each, field.name) for each in loads) for field in fields(Load)))


def put_load_on(server: Server, seconds: float) -> Load:
    """Ask on as many connections as there are clients, each as soon as it has its answer."""
    head = (
        f"POST /get_reward HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}"
    )
    request, latencies = f"{head}\r\n\r\n".encode() + BODY, list[float]()
    clients = [Client(server.port, request, latencies) for _ in range(CLIENTS)]
    by_descriptor = {client.connection.fileno(): client for client in clients}
    with select.epoll() as poll:
        for descriptor in by_descriptor:
            poll.register(descriptor, select.EPOLLIN)
        cpu_s, own_s, began = server.cpu_s(), time.process_time(), time.perf_counter()
        for client in clients:
            client.ask()
        while time.perf_counter() - began < seconds:
            for descriptor, _ in poll.poll(1.0):
                by_descriptor[descriptor].listen()
        elapsed = time.perf_counter() - began
    samples = len(latencies) * SAMPLES
    used_s, own_s = (server.cpu_s() - cpu_s) / samples, (time.process_time() - own_s) / samples
    for client in clients:
        client.connection.close()
    latencies.sort()
    return Load(samples / elapsed, latencies[int(0.99 * len(latencies))], used_s, own_s)


class Client:
    """One connection: asks, reads until the answer is whole, and asks again."""

    def __init__(self, port: int, request: bytes, latencies: list[float]) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request, self._latencies, self._read = request, latencies, b""

    def ask(self) -> None:
        self._began, self._read = time.perf_counter(), b""
        self.connection.sendall(self._request)

    def listen(self) -> None:
        self._read += self.connection.recv(4096)
        end = self._read.find(b"\r\n\r\n")
        length = LENGTH.search(self._read, 0, end) if end >= 0 else None
        if length is None or len(self._read) < end + 4 + int(length[1]):
            return
        assert self._read.startswith(b"HTTP/1.1 200"), self._read
        self._latencies.append(time.perf_counter() - self._began)
        self.ask()


def compare_with_local(server: Server, bare: Server, folder: Path, rounds: int) -> None:
    """The processor time that a sample costs over HTTP, client and server together, beyond scoring it here.

    Beside it, what uvicorn and urllib3 cost where both do nothing with the request.
    """
    samples = [Trajectory(prompt=PROMPT, response="The answer is 5. " * 4, ground_truth="5")] * 2000
    remote, here = load(f"http://127.0.0.1:{server.port}/trivial"), load(f"{folder}/trivial.py:trivial")
    used: dict[str, list[float]] = {"remote": [], "local": [], "bare": []}
    for _ in range(rounds):
        used["bare"].append(ask_bare(bare, len(samples) // SAMPLES) / len(samples))
        for name, reward in (("remote", remote), ("local", here)):
            began = time.process_time() + server.cpu_s()
            reward(samples)
            used[name].append((time.process_time() + server.cpu_s() - began) / len(samples))
    remote_s, local_s, bare_s = (statistics.median(used[name]) for name in ("remote", "local", "bare"))
    print(f"processor time of a sample at {SAMPLES} per request: {remote_s * 1e6:.1f} µs over HTTP, client included, "
          f"{local_s * 1e6:.1f} µs here: {(remote_s - local_s) * 1e6:.1f} µs for HTTP, of which uvicorn and urllib3 "
          f"alone cost {bare_s * 1e6:.1f} µs")  # fmt: skip


def ask_bare(server: Server, requests: int) -> float:
    """The processor time of requests to a server that does nothing, on one connection."""
    with urllib3.HTTPConnectionPool("127.0.0.1", server.port) as pool:
        began = time.process_time() + server.cpu_s()
        for _ in range(requests):
            pool.urlopen("POST", "/", body=BODY, headers={"content-type": "application/json"})
        return time.process_time() + server.cpu_s() - began


def compare_sandbox(server: Server, folder: Path, rounds: int) -> None:
    """A program through `/run_code`, and by starting Python for it."""
    (folder / "program.py").write_text(PROGRAM)
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    seconds: dict[str, list[float]] = {"sandbox": [], "python": []}
    for _ in range(10 * rounds):
        began = time.perf_counter()
        body = json.dumps({"code": PROGRAM, "language": "python"})
        connection.request("POST", "/run_code", body, {"content-type": "application/json"})
        assert json.loads(connection.getresponse().read())["run_result"]["stdout"] == "499500\n"
        seconds["sandbox"].append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run([sys.executable, folder / "program.py"], check=True, capture_output=True)
        seconds["python"].append(time.perf_counter() - began)
    connection.close()
    boxed, plain = (statistics.median(seconds[name]) for name in ("sandbox", "python"))
    print(f"a program: {boxed * 1e3:.1f} ms through /run_code, {plain * 1e3:.1f} ms as `python file.py`")


@contextlib.contextmanager
def ours(folder: Path) -> Iterator[Server]:
    """`plaudit serve`, with a sandbox."""
    command = [sys.executable, "-m", "plaudit", "serve", f"{folder}/trivial.py:trivial", "--port", "0", "--sandbox"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline().rsplit(":", 1)[1]), process.pid)
        finally:
            process.terminate()


@contextlib.contextmanager
def peer(script: Path) -> Iterator[Server]:
    """A plain server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(script), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ) as process:
        try:
            _wait_for(port)
            yield Server(port, process.pid)
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nobody listens on port {port}")


if __name__ == "__main__":
    main()
