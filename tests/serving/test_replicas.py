"""The same reward as a Ray Serve deployment: the same answers, more replicas under load, none lost with a replica."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from plaudit.errors import InvalidSettings
from plaudit.serving import ReplicaScale, ServerThread
from tests.process_watch import descendants
from tests.serving.asking import ask, samples
from tests.serving.conftest import settings

START_S = 120.0


@pytest.fixture(scope="module")
def deployed() -> Iterator[ServerThread]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        with ServerThread(settings("mark", workers=1, replicas=ReplicaScale(least=1, most=2))) as running:
            yield running
    assert not replicas()


def replicas() -> set[int]:
    """The processes of replicas below this one."""
    found = set()
    for process in descendants():
        try:
            if b"ServeReplica" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.add(process)
        except OSError:
            continue
    return found


def test_the_protocols_are_those_of_a_server_without_ray(deployed):
    outputs = ask(deployed.address, "/score", samples("yes", "crash", "raise", "no")).json["outputs"]
    assert [each["status"] for each in outputs] == ["ok", "error", "error", "ok"]
    assert outputs[1]["reason"] == "the worker died: exit code 3"
    asked = {"query": ["2+2?yes", "2+2?no"], "prompts": ["2+2?"] * 2, "labels": ["yes", "yes"]}
    assert ask(deployed.address, "/get_reward", asked).json["rewards"] == [1.0, 0.0]
    assert ask(deployed.address, "/remote_rm", {"prompt": "?", "response": "yes", "label": "yes"}).json == 1.0
    assert ask(deployed.address, "/ready").json == {"status": "ready", "rewards": ["mark"]}
    late = ask(deployed.address, "/score", samples("hang"), x_deadline_s="0.5").json["outputs"]
    assert late[0]["status"] == "timeout"


def test_load_starts_a_replica_and_the_loss_of_one_costs_no_answer(deployed):
    pool = deployed.server.app.pools["mark"]
    began, seen, losses = time.monotonic(), [], deployed.server.app.metrics.losses
    with ThreadPoolExecutor(16) as threads:
        while not losses["mark", "replica"] and time.monotonic() - began < START_S:
            found = replicas() if pool.size == 2 else set()
            asked = [
                threads.submit(ask, deployed.address, "/score", samples("slow", str(n), truth=str(n)))
                for n in range(16)
            ]
            if found:
                wait(asked, return_when=FIRST_COMPLETED)  # by now both replicas are at work
                with contextlib.suppress(ProcessLookupError):  # the one of the round before
                    os.kill(min(found), signal.SIGKILL)
            seen += [each.result() for each in asked]
    assert losses["mark", "replica"], "no second replica was started, or none was lost at work"
    assert {answer.status for answer in seen} == {200}
    rewards = [[output["reward"] for output in answer.json["outputs"]] for answer in seen]
    assert rewards == [[0.0, 1.0]] * len(seen)


def test_more_replicas_at_least_than_at_most_make_no_sense():
    with pytest.raises(InvalidSettings, match="need 1 <= least <= most replicas, got 3 and 2"):
        ReplicaScale(3, 2)
