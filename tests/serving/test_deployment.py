"""The files in `deploy/` are sound, and their commands serve."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest
import yaml

from tests.process_watch import descendants, gone
from tests.serving.asking import ask, samples, wait_until
from tests.serving.conftest import REWARDS

DEPLOY = Path(__file__).parents[2] / "deploy"
TOKEN, NEXT = "a-token-of-the-deployment", "another-token-of-the-deployment"


@contextlib.contextmanager
def running(command: list[str], stderr: IO[str] | int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            yield process
        finally:
            process.kill()  # or it would be waited for without end where a check has failed


def dockerfile_command() -> list[str]:
    text = (DEPLOY / "Dockerfile").read_text()
    entry, command = (
        json.loads(re.search(rf"^{word} (\[.*\])$", text, re.MULTILINE)[1]) for word in ("ENTRYPOINT", "CMD")
    )
    return entry + command


def compose_command() -> list[str]:
    entry = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[1])
    return entry + yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["one"]["command"]


def unit_command() -> list[str]:
    return shlex.split(re.search(r"^ExecStart=(.*)$", (DEPLOY / "plaudit-serve.service").read_text(), re.MULTILINE)[1])


@pytest.mark.parametrize("command", [compose_command, unit_command])
def test_the_commands_take_the_options_of_the_one_that_is_run(command):
    known = {"--host", "--port", "--token-file", "--workers"}
    assert {word for word in command() if word.startswith("--")} <= known
    assert command()[0].endswith("plaudit")
    assert command()[1] == "serve"


def test_the_command_of_the_image_serves_renews_its_tokens_on_sighup_and_stops_on_sigterm(tmp_path):
    (tmp_path / "tokens").write_text(TOKEN)
    given = {"/run/secrets/tokens": str(tmp_path / "tokens"), "8000": "0"}
    command = [sys.executable, "-m", *(given.get(word, word) for word in dockerfile_command()), "--workers", "1"]
    said = tmp_path / "said"
    with said.open("w") as told, running(command, told) as process:
        address = process.stdout.readline().removeprefix("serving at ").strip().replace("0.0.0.0", "127.0.0.1")
        row = {"prompt": "2+2?", "response": "4", "ground_truth": "4"}
        answer = ask(address, "/score", {"trajectories": [row]}, authorization=f"Bearer {TOKEN}")
        assert answer.json["outputs"][0]["reward"] == 1.0
        assert ask(address, "/score", {"trajectories": [row]}).status == 401
        (tmp_path / "tokens").write_text(f"\ufeffnext: {NEXT}\r\n")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: ask(address, "/", authorization=f"Bearer {NEXT}").status == 200)
        assert ask(address, "/", authorization=f"Bearer {TOKEN}").status == 401
        (tmp_path / "tokens").write_bytes(b"\xff")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "tokens is not a text file; write one token per line" in said.read_text())
        assert ask(address, "/", authorization=f"Bearer {NEXT}").status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert "sandbox tier:" in said.read_text()
    port = address.rpartition(":")[2]
    assert f"--remote_rm_url http://trainer:TOKEN@{socket.gethostname()}:{port}/get_reward" in said.read_text()
    assert "note: without --tls-cert" in said.read_text()


def test_no_worker_is_left_of_a_server_that_is_killed():
    command = [sys.executable, "-m", "plaudit", "serve", f"{REWARDS}:mark", "--port", "0", "--workers", "2"]
    with running(command) as process:
        address = process.stdout.readline().split()[-1]
        assert ask(address, "/score", samples("yes")).status == 200
        workers = descendants(process.pid)
        assert workers
        process.kill()
    assert gone(workers)


def test_ray_options_are_refused_without_the_ray_backend():
    command = [sys.executable, "-m", "plaudit", "serve", "math", "--address", "auto"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "add --backend ray" in ended.stderr


def test_a_second_sigterm_ends_running_requests_and_answers_their_clients():
    command = [sys.executable, "-m", "plaudit", "serve", f"{REWARDS}:mark", "--port", "0", "--deadline", "100"]
    with (
        running(command) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        address = process.stdout.readline().removeprefix("serving at ").strip()
        asked = pool.submit(ask, address, "/score", samples("hang"))
        wait_until(lambda: b'plaudit_workers_busy{reward="mark"} 1.0' in ask(address, "/metrics").body)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert asked.result().status == 503


def test_the_dockerfile_drops_root_pins_its_packages_and_says_when_it_is_ready():
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    words = [line.split(maxsplit=1)[0] for line in lines if line and not line.startswith(("#", " "))]
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert "USER 10001" in lines  # a number, which an orchestrator can tell from root
    assert {"FROM", "HEALTHCHECK", "STOPSIGNAL"} <= set(words)
    assert any("--constraint constraints.txt" in line for line in lines)
    copied = [name for line in lines if line.startswith("COPY") for name in line.split()[1:-1]]
    assert all((DEPLOY.parent / name).exists() for name in copied)


def test_the_compose_file_limits_what_a_server_may_do():
    for service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    text = (DEPLOY / "plaudit-serve.service").read_text().replace("/opt/plaudit/bin/plaudit", sys.executable)
    (tmp_path / "plaudit-serve.service").write_text(text)
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "plaudit-serve.service")],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert "plaudit-serve.service" not in checked.stderr, checked.stderr
