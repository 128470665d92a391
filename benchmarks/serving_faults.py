"""20,000 requests against a server while everything goes wrong: is an answer lost, doubled or wrong, does memory grow?

1 % of the samples hang and 1 % crash their worker; meanwhile workers are killed from outside, clients disconnect, write
and read slowly, send oversized, malformed and deeply nested bodies and wrong tokens, and the reward is reloaded. Every
answer is compared with the expected one; a sample that hangs and whose workers were killed from outside twice meanwhile
gets the status `memory` and is counted apart. Prints the p99 of healthy requests of a run without faults and of the run
with them: `python benchmarks/serving_faults.py [--requests 20000]`.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

CLIENTS, WORKERS, DEADLINE_S = 8, 4, 1.0
TOKEN = "a-token-for-the-fault-run"
REWARD = """
import os, time, zlib

def faulty(response):
    if "hang" in response:
        time.sleep(600)
    if "crash" in response:
        os._exit(11)
    return float(zlib.crc32(response.encode()))
"""


class Server:
    """A `plaudit serve` process, and what it holds."""

    def __init__(self, folder: Path) -> None:
        (folder / "faulty.py").write_text(REWARD)
        (folder / "tokens").write_text(TOKEN)
        options = ["--port", "0", "--workers", WORKERS, "--deadline", DEADLINE_S, "--token-file", folder / "tokens"]
        command = [sys.executable, "-m", "plaudit", "serve", f"{folder}/faulty.py:faulty", *options]
        self.process = subprocess.Popen(
            [*map(str, command)], stdout=subprocess.PIPE, stderr=(folder / "log").open("w"), text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def memory_mb(self) -> float:
        """Resident memory of the server's own process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def descriptors(self) -> int:
        """Open files and sockets of the server's own process."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def workers(self) -> list[int]:
        """The worker processes, which are forked from a template."""
        return [worker for template in _children(self.process.pid) for worker in _children(template)]

    def stop(self) -> int:
        """End it; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def main() -> None:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    requests = parser.parse_args().requests
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name))
        unloaded = ask_many(server.port, max(500, requests // 10), faults=False)
        begun = server.memory_mb(), server.descriptors()
        stop = threading.Event()
        weights: list[float] = []
        beside: list[Callable[[Server, threading.Event], None]] = [*NUISANCES, partial(weigh, weights=weights)]
        nuisances = [threading.Thread(target=each, args=(server, stop), daemon=True) for each in beside]
        for nuisance in nuisances:
            nuisance.start()
        loaded = ask_many(server.port, requests, faults=True)
        stop.set()
        for nuisance in nuisances:
            nuisance.join()
        time.sleep(1.0)
        ended = server.memory_mb(), server.descriptors()
        processes = [server.process.pid, *server.workers()]
        code = server.stop()
        time.sleep(0.5)
        left = [pid for pid in processes if Path(f"/proc/{pid}").exists()]
    quarters = [max(weights[len(weights) * n // 4 : len(weights) * (n + 1) // 4 + 1]) for n in range(4)]
    print("most memory in each quarter of the run:", ", ".join(f"{weight:.1f} MiB" for weight in quarters))
    report(unloaded, loaded, begun, ended, code, left, server.port)


def ask_many(port: int, requests: int, *, faults: bool) -> "Found":
    """Send requests from several clients, each on its own connection, and check every answer."""
    found, numbers = Found(), count()

    def client(seed: int) -> None:
        draw, connection = random.Random(seed), http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (number := next(numbers)) < requests:
            chance = draw.random() if faults else 1.0
            kind = "hang" if chance < 0.01 else "crash" if chance < 0.02 else "fine"
            ask_one(connection, f"{kind} {number} {draw.random()}", kind, found)
        connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))
    return found


class Found:
    """What the clients saw."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {"fine": [], "hang": [], "crash": []}
        self.wrong: list[str] = []
        self.blamed = 0  # samples that hung while their workers were killed by hand, again and again
        self.retried: Counter[int] = Counter()


EXPECTED = {"fine": "ok", "hang": "timeout", "crash": "error"}
KILLED = ("memory", "the worker died: signal SIGKILL")


def ask_one(connection: http.client.HTTPConnection, response: str, kind: str, found: Found) -> None:
    """One request; 503 with Retry-After is repeated, anything else must be the one right answer."""
    body = json.dumps({"trajectories": [{"prompt": "?", "response": response}]})
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}", "x-request-id": response[-12:]}
    began = time.perf_counter()
    while True:
        try:
            connection.request("POST", "/score", body, headers)
            answer = connection.getresponse()
            told = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            found.wrong.append(f"lost: {kind}: {type(error).__name__}: {error}")
            connection.close()
            return
        if answer.status != 503 or answer.getheader("retry-after") is None:
            break
        found.retried[answer.status] += 1
        time.sleep(0.05)
    found.seconds[kind].append(time.perf_counter() - began)
    check(answer, told, response, kind, found)


def check(answer: http.client.HTTPResponse, told: Any, response: str, kind: str, found: Found) -> None:
    """Whether an answer is the right one."""
    if answer.status != 200 or answer.getheader("x-request-id") != response[-12:]:
        found.wrong.append(f"{kind}: HTTP {answer.status} {told} for {answer.getheader('x-request-id')}")
        return
    outputs = told["outputs"]
    if kind == "hang" and [(each["status"], each["reason"]) for each in outputs] == [KILLED]:
        found.blamed += 1
        return
    right = float(zlib.crc32(response.encode())) if kind == "fine" else None
    if len(outputs) != 1 or outputs[0]["reward"] != right or outputs[0]["status"] != EXPECTED[kind]:
        found.wrong.append(f"{kind}: {outputs}")


def kill_workers(server: Server, stop: threading.Event) -> None:
    """Kill a worker by hand, every second."""
    while not stop.wait(1.0):
        workers = server.workers()
        if workers:
            try:
                os.kill(random.choice(workers), signal.SIGKILL)
            except ProcessLookupError:
                continue


def reload(server: Server, stop: threading.Event) -> None:
    """Load the reward anew, in the middle of it: three times, some seconds apart."""
    for wait_s in (5.0, 15.0, 15.0):
        if stop.wait(wait_s):
            return
        server.process.send_signal(signal.SIGHUP)


def bother(server: Server, stop: threading.Event) -> None:
    """Send what makes no sense, leave early, write and read slowly."""
    head = "POST /score HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: Bearer %s\r\n"
    good = head % TOKEN
    fine = json.dumps({"trajectories": [{"prompt": "?", "response": "fine"}] * 2000})
    messages = [
        (head % "wrong-token-wrong-token") + "content-length: 2\r\n\r\n{}",
        good + "content-length: 99999999999\r\n\r\n{",
        good + "content-length: 9\r\n\r\n{{{{{{{{{",
        good + f"content-length: 4000\r\n\r\n{'[' * 4000}",
        good + "content-length: 100\r\n\r\n{",  # and leaves, or waits
        good + f"content-length: {len(fine)}\r\n\r\n{fine}",  # and does not read the answer
        "\x16\x03\x01 no HTTP at all \r\n\r\n",
        good + f"x: {'y' * 40_000}\r\n\r\n",
    ]
    waiting: list[socket.socket] = []
    for number in count():
        if stop.wait(0.02):
            break
        try:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
            connection.sendall(messages[number % len(messages)].encode("latin-1"))
            waiting.append(connection)
        except OSError:
            continue
        if len(waiting) > 100:
            waiting.pop(0).close()
    for connection in waiting:
        connection.close()


def weigh(server: Server, stop: threading.Event, weights: list[float]) -> None:
    """Note the server's memory, every half second."""
    weights.append(server.memory_mb())
    while not stop.wait(0.5):
        weights.append(server.memory_mb())


NUISANCES: list[Callable[[Server, threading.Event], None]] = [kill_workers, reload, bother]


def report(
    unloaded: Found, loaded: Found, begun: tuple[float, int], ended: tuple[float, int], code: int, left: list[int],
    port: int,
) -> None:  # fmt: skip
    """Print what was found; the exit code says whether it is as it must be."""
    counts = {kind: len(seconds) for kind, seconds in loaded.seconds.items()}
    print(f"answered: {counts}; told to come back: {sum(loaded.retried.values())}")
    print(f"lost, doubled or wrong: {len(loaded.wrong) + len(unloaded.wrong)}; "
          f"hanging, and blamed for kills by hand: {loaded.blamed}")  # fmt: skip
    for wrong in (unloaded.wrong + loaded.wrong)[:5]:
        print(f"  {wrong[:200]}")
    quiet, busy = (quantile(each.seconds["fine"], 0.99) for each in (unloaded, loaded))
    print(f"p50 of healthy requests: {quantile(loaded.seconds['fine'], 0.5) * 1000:.1f} ms, "
          f"unloaded {quantile(unloaded.seconds['fine'], 0.5) * 1000:.1f} ms")  # fmt: skip
    print(f"p99 of healthy requests: {busy * 1000:.1f} ms, unloaded {quiet * 1000:.1f} ms: {busy / quiet:.2f} x")
    print(f"memory of the server: {begun[0]:.1f} -> {ended[0]:.1f} MiB; descriptors: {begun[1]} -> {ended[1]}")
    with socket.socket() as probe:
        closed = probe.connect_ex(("127.0.0.1", port)) != 0
    print(f"after SIGTERM: exit code {code}, processes left: {left}, port closed: {closed}")
    sys.exit(1 if loaded.wrong or unloaded.wrong or left or code else 0)


def quantile(seconds: list[float], share: float) -> float:
    """A quantile of some durations."""
    return sorted(seconds)[int(share * (len(seconds) - 1))]


def _children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


if __name__ == "__main__":
    main()
