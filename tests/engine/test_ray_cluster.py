"""The Ray backend on a cluster of two nodes that somebody else started."""

import shutil
import tempfile
import time

import pytest
from test_ray_backend import collected, samples

from plaudit import RewardFunction, RewardOutput, Trajectory
from plaudit.engine.backends.ray import RayBackend
from plaudit.engine.shipping import Shipment
from plaudit.engine.unit import Limits
from plaudit.errors import ScoringFailed


class Slow(RewardFunction):
    """Slow enough to lose its node, and says on which it runs."""

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        import os

        time.sleep(0.005)
        return RewardOutput(len(trajectory.response) / 10, metadata={"actor": os.getppid()})


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray-test-", dir="/tmp")
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "temp_dir": folder})
    yield started
    started.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


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

    trajectories = samples(*("x" * (n % 7) for n in range(800)))
    backend = RayBackend(Shipment.of(Slow()), 2, Limits(), by_sample=True, address=cluster.address)
    outputs = collected(backend, trajectories, watch=remove)
    assert removed_after, "both nodes had worked before one went"
    assert [output.reward for output in outputs] == [(n % 7) / 10 for n in range(800)]

    backend.shutdown()
    assert not ray.is_initialized(), "we left the cluster"
    ray.init(address=cluster.address, log_to_driver=False)
    assert len(ray.nodes()) == 2, "and it goes on without us"
    ray.shutdown()


def test_a_cluster_that_is_not_there_is_a_clear_error():
    backend = RayBackend(Shipment.of(Slow()), 1, Limits(), by_sample=True, address="auto")
    with pytest.raises(ScoringFailed, match="cannot join a Ray cluster at 'auto'.*start one with 'ray start --head'"):
        collected(backend, samples("a"))
    backend.shutdown()
