"""A reward behind HTTP is a reward like any other: the same numbers, statuses and words as here."""

import msgspec
import pytest

from plaudit import Trajectory, load, score
from plaudit.errors import RewardNotLoaded
from plaudit.serving import ServerThread
from tests.serving.conftest import REWARDS, server, settings  # noqa: F401 - a fixture

SAMPLES = [
    Trajectory(prompt="?", response=text, ground_truth="yes", columns={"answer": "a column, not the truth"})
    for text in ("yes", "no", "raise", "none", "yes")
]


def bare(outputs):
    return [msgspec.structs.replace(output, latency_s=None) for output in outputs]


def test_the_outputs_are_those_of_local_scoring(server):  # noqa: F811
    remote = load(f"{server.address}/mark")
    assert (remote.name, remote.scope) == ("mark", "sample")
    assert bare(score(remote, SAMPLES)) == bare(score(f"{REWARDS}:mark", SAMPLES))


def test_samples_are_shared_out_over_several_servers(server):  # noqa: F811
    with ServerThread(settings("mark")) as other:
        remote = load(f"{server.address}/mark, {other.address}/mark")
        assert bare(score(remote, SAMPLES)) == bare(score(f"{REWARDS}:mark", SAMPLES))
        metrics = other.server.app.metrics.samples
        assert 0 < sum(metrics.values()) < len(SAMPLES)


def test_a_server_in_openrlhfs_protocol_is_asked_in_it(server):  # noqa: F811
    remote = load(f"{server.address}/mark/get_reward")
    assert [output.reward for output in score(remote, SAMPLES[:2])] == [1.0, 0.0]


def test_a_server_that_is_away_is_named_when_the_reward_is_loaded():
    with pytest.raises(RewardNotLoaded, match=r"no reward server answers: http://127.0.0.1:9/x: .*refused"):
        load("http://127.0.0.1:9/x")


def test_servers_of_different_rewards_are_not_one_reward(server):  # noqa: F811
    with pytest.raises(RewardNotLoaded, match="do not serve the same reward"):
        load(f"{server.address}/mark,{server.address}/batched")
