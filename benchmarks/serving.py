"""A reward behind plaudit, and behind the plain FastAPI server that OpenRLHF's example shows: samples a second and p99.

The same trivial reward on both, 32 clients, 16 samples a request, in turns; the medians of several rounds. Then: the
sandbox endpoint against `python file.py` for each request, and what HTTP adds to a sample that is scored here.
`python benchmarks/serving.py [--rounds 5] [--seconds 3]`
"""

import argparse
import contextlib
import http.client
import json
import os
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from plaudit import Trajectory, load, score

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
PROMPT = "What is 2 + 3? Think about it carefully and answer. " * 2
BODY = json.dumps(
    {"query": [PROMPT + "The answer is 5. " * 4] * SAMPLES, "prompts": [PROMPT] * SAMPLES, "labels": ["5"] * SAMPLES}
).encode()
PROGRAM = "print(sum(range(1000)))\n"


def main() -> None:
    """Measure, and print the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trivial.py").write_text(REWARD)
        (folder / "peer.py").write_text(PEER)
        with peer(folder) as theirs, ours(folder) as own:
            compare_servers(own, theirs, asked.rounds, asked.seconds)
            compare_with_local(own, folder, asked.rounds)
            compare_sandbox(own, folder, asked.rounds)


def compare_servers(own: int, theirs: int, rounds: int, seconds: float) -> None:
    """Samples a second and p99 of both servers, in turns."""
    rates: dict[str, list[float]] = {"plaudit": [], "FastAPI": []}
    tails: dict[str, list[float]] = {"plaudit": [], "FastAPI": []}
    for _ in range(rounds):
        for name, port in (("plaudit", own), ("FastAPI", theirs)):
            rate, tail = put_load_on(port, seconds)
            rates[name].append(rate)
            tails[name].append(tail)
    for name in rates:
        rate, tail = statistics.median(rates[name]), statistics.median(tails[name])
        print(f"{name}: {rate:,.0f} samples/s, p99 {tail * 1e3:.1f} ms")
    rate, tail = (statistics.median(each["plaudit"]) / statistics.median(each["FastAPI"]) for each in (rates, tails))
    print(f"plaudit over FastAPI: {rate:.2f} x the samples per second, {tail:.2f} x the p99")


def put_load_on(port: int, seconds: float) -> tuple[float, float]:
    """Samples a second, and the p99 of a request, with as many clients as connections."""
    head = (
        f"POST /get_reward HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}"
    )
    request, latencies = f"{head}\r\n\r\n".encode() + BODY, list[float]()
    with selectors.DefaultSelector() as selector:
        for _ in range(CLIENTS):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(connection, selectors.EVENT_READ, [time.perf_counter(), b""])
            connection.sendall(request)
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            for key, _ in selector.select(1.0):
                take_answer(key, request, latencies)
        elapsed = time.perf_counter() - began
        for key in list(selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
    latencies.sort()
    return len(latencies) * SAMPLES / elapsed, latencies[int(0.99 * len(latencies))]


def take_answer(key: selectors.SelectorKey, request: bytes, latencies: list[float]) -> None:
    """Read what has come; where it is a whole answer, send the next request."""
    assert isinstance(key.fileobj, socket.socket)
    state = key.data
    state[1] += key.fileobj.recv(65536)
    head, found, body = state[1].partition(b"\r\n\r\n")
    if not found or len(body) < int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
        return
    assert head.startswith(b"HTTP/1.1 200"), head
    latencies.append(time.perf_counter() - state[0])
    state[0], state[1] = time.perf_counter(), b""
    key.fileobj.sendall(request)


def compare_with_local(port: int, folder: Path, rounds: int) -> None:
    """What a sample costs more when it is scored over HTTP than in this process."""
    samples = [Trajectory(prompt=PROMPT, response="The answer is 5. " * 4, ground_truth="5")] * 2000
    remote, here = load(f"http://127.0.0.1:{port}/trivial"), load(f"{folder}/trivial.py:trivial")
    seconds: dict[str, list[float]] = {"remote": [], "local": []}
    for _ in range(rounds):
        for name, reward in (("remote", remote), ("local", here)):
            began = time.perf_counter()
            score(reward, samples)
            seconds[name].append((time.perf_counter() - began) / len(samples))
    remote_s, local_s = (statistics.median(seconds[name]) for name in ("remote", "local"))
    print(f"a sample: {remote_s * 1e6:.1f} µs over HTTP, {local_s * 1e6:.1f} µs here")


def compare_sandbox(port: int, folder: Path, rounds: int) -> None:
    """A program through `/run_code`, and by starting Python for it."""
    (folder / "program.py").write_text(PROGRAM)
    connection = http.client.HTTPConnection("127.0.0.1", port)
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
def ours(folder: Path) -> Iterator[int]:
    """The port of `plaudit serve`, with a sandbox."""
    command = [sys.executable, "-m", "plaudit", "serve", f"{folder}/trivial.py:trivial", "--port", "0", "--sandbox"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().rsplit(":", 1)[1])
        process.send_signal(signal.SIGTERM)


@contextlib.contextmanager
def peer(folder: Path) -> Iterator[int]:
    """The port of the plain server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(folder / "peer.py"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ) as process:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield port
        process.terminate()


if __name__ == "__main__":
    main()
