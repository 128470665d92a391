"""The same application on Ray Serve: the same answers, more replicas under load, none lost with a replica."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest

from plaudit import Trajectory, load, score
from plaudit.errors import InvalidSettings
from plaudit.serving import RayDeployment, ReplicaScale, ray_serve
from tests.process_watch import descendants
from tests.serving.asking import ask, samples
from tests.serving.conftest import settings

START_S = 120.0


@pytest.fixture(scope="module")
def deployed() -> Iterator[RayDeployment]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        quick = {"upscale_delay_s": 0.5, "metrics_interval_s": 0.5, "look_back_period_s": 1.0}
        patch.setattr(ray_serve, "PACE", ray_serve.PACE | quick)
        with RayDeployment(settings("mark", workers=1, port=port), ReplicaScale(least=1, most=2)) as running:
            yield running
    assert not replicas()


def replicas() -> set[int]:
    """The processes of replicas below this one."""
    found = set()
    for process in descendants():
        with contextlib.suppress(OSError):
            if b"ServeReplica" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.add(process)
    return found


def test_the_protocols_are_those_of_a_server_without_ray(deployed):
    outputs = ask(deployed.address, "/score", samples("yes", "crash", "raise", "no")).json["outputs"]
    assert [each["status"] for each in outputs] == ["ok", "error", "error", "ok"]
    assert outputs[1]["reason"] == "the worker died: exit code 3"
    asked = {"query": ["2+2?yes", "2+2?no"], "prompts": ["2+2?"] * 2, "labels": ["yes", "yes"]}
    assert ask(deployed.address, "/get_reward", asked).json["rewards"] == [1.0, 0.0]
    assert ask(deployed.address, "/remote_rm", {"prompt": "?", "response": "yes", "label": "yes"}).json == 1.0
    assert ask(deployed.address, "/ready").json == {"status": "ready", "rewards": ["mark"]}
    assert deployed.descriptions()["mark"]["scope"] == "sample"


def test_load_starts_a_replica_and_the_loss_of_one_costs_no_sample(deployed):
    reward = load(f"{deployed.address}/mark")
    batch = [Trajectory("?", "slow", "slow")] * 2
    began, killed, seen = time.monotonic(), False, []
    with ThreadPoolExecutor(16) as threads:
        while not killed and time.monotonic() - began < START_S:
            found = replicas()
            asked = [threads.submit(score, reward, batch) for _ in range(16)]
            if len(found) == 2:
                wait(asked, return_when=FIRST_COMPLETED)  # by now both replicas are at work
                os.kill(min(found), signal.SIGKILL)
                killed = True
            seen += [each.result() for each in asked]
    assert killed, "no second replica was started"
    assert {output.reward for outputs in seen for output in outputs} == {1.0}


def test_tls_with_ray_is_refused(tmp_path):
    with pytest.raises(InvalidSettings, match="put a TLS proxy in front"):
        RayDeployment(replace(settings("mark"), tls_certificate=tmp_path, tls_key=tmp_path), ReplicaScale())


def test_more_replicas_at_least_than_at_most_are_refused():
    with pytest.raises(InvalidSettings, match="need 1 <= least <= most replicas, got 3 and 2"):
        ReplicaScale(3, 2)
