"""The Ray backend on a cluster of two nodes that somebody else started, and where none can be started or joined."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from plaudit.engine.backends.backend import BackendSettings
from plaudit.engine.backends.ray import RayBackend
from plaudit.engine.shipping import Shipment
from plaudit.errors import ScoringFailed
from plaudit.loading import resolve
from tests.engine.backends.test_ray_backend import collected, samples
from tests.engine.contract_rewards import Located

PATHS = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
pytestmark = pytest.mark.usefixtures("no_local_ray")


@pytest.fixture(scope="module")
def cluster(no_local_ray):
    from ray.cluster_utils import Cluster

    folder = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))  # sockets need a short path
    (folder / "ray").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(folder))
        head = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        head["dashboard_agent_listen_port"] = 0  # any free one: at its usual one there may be another Ray
        started = Cluster(initialize_head=True, head_node_args=head)
        yield started
        started.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def busy(cluster):
    """The user's own connection to the cluster, and an actor of theirs on its only CPU."""
    import ray

    @ray.remote(num_cpus=1)
    class Busy:
        def ready(self):
            return True

    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    actor = Busy.remote()
    yield lambda: ray.get(actor.ready.remote())
    ray.shutdown()


def test_a_full_cluster_is_a_clear_error_and_a_connection_of_the_users_stays(busy, monkeypatch):
    assert busy()
    monkeypatch.setattr("plaudit.engine.backends.ray.START_S", 1.0)
    backend = RayBackend(Shipment.of(resolve(Located())), BackendSettings(1))
    with pytest.raises(ScoringFailed, match=r"no actor could be started .* it has 1 CPUs, 0 of them free"):
        collected(backend, samples("a"))
    backend.shutdown()
    assert busy()


def test_a_node_that_is_removed_loses_nothing_and_delivers_nothing_twice(cluster):
    import ray

    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    actors: set[int] = set()
    removed_after = []

    def remove(done):
        actors.update(output.metadata["actor"] for output in done.outputs)
        if len(actors) == 2 and not removed_after:
            removed_after.append(time.monotonic())
            cluster.remove_node(second, allow_graceful=False)

    trajectories = samples(*("x" * (n % 7) for n in range(500)))
    backend = RayBackend(Shipment.of(resolve(Located())), BackendSettings(2, address=cluster.address))
    outputs = collected(backend, trajectories, watch=remove)
    assert removed_after, "both nodes had worked before one went"
    assert [output.reward for output in outputs] == [(n % 7) / 10 for n in range(500)]

    backend.shutdown()
    assert not ray.is_initialized(), "we left the cluster"


def test_a_cluster_that_is_not_there_is_a_clear_error():
    backend = RayBackend(Shipment.of(resolve(Located())), BackendSettings(1, address="127.0.0.1:9"))
    with pytest.raises(ScoringFailed, match=r"cannot join a Ray cluster at '127.0.0.1:9': .*'ray start --head'"):
        collected(backend, samples("a"))
    backend.shutdown()


BROKEN_START = """
from plaudit.engine.backends import ray_session
from plaudit.errors import ScoringFailed
from tests.process_watch import descendants

ray_session.OBJECT_STORE_BYTES = 1 << 50  # more than any machine has
try:
    ray_session.RaySession(None, 1)
except ScoringFailed as error:
    print(str(error).splitlines()[0])
print(ray_session.RaySession._folder)
print(*descendants())
"""


def test_a_ray_that_cannot_be_started_is_a_clear_error_and_leaves_nothing_behind():
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN_START], capture_output=True, text=True, check=True, env={**os.environ, **PATHS}
    )
    message, folder, processes = ended.stdout.split("\n")[:3]
    assert message.startswith("Ray could not be started on this machine: ")
    assert folder == "None"
    end = time.monotonic() + 20  # Ray ends its processes with ours
    while any(Path(f"/proc/{pid}").exists() for pid in processes.split()):
        assert time.monotonic() < end
        time.sleep(0.1)
