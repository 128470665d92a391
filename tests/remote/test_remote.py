"""A reward behind HTTP is a reward like any other: the same numbers, statuses and words as here."""

import math
import os
import pickle
import threading
import time
import warnings
from functools import partial

import msgspec
import pytest

from plaudit import Trajectory, load, score
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.errors import RewardNotLoaded
from plaudit.remote.reward import open_remote
from plaudit.serving import HttpLimits, ServerThread
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


def test_an_address_without_a_name_is_its_first_reward(server):  # noqa: F811
    remote = load(server.address)
    assert (remote.name, bare(score(remote, SAMPLES))) == ("mark", bare(score(f"{REWARDS}:mark", SAMPLES)))


@pytest.mark.parametrize("path", ["/mark/score", "/score", "/remote_rm", "/health"])
def test_a_url_that_is_no_reward_is_refused_with_what_one_looks_like(server, path):  # noqa: F811
    with pytest.raises(RewardNotLoaded, match="a reward is http://host:8000/name"):
        load(f"{server.address}{path}")


def test_a_token_that_cannot_be_sent_is_refused_by_the_name_of_its_variable(server, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PLAUDIT_TOKEN", "from-a-file-with-a-line-end\n")
    assert [output.reward for output in score(load(f"{server.address}/mark"), SAMPLES[:1])] == [1.0]
    monkeypatch.setenv("PLAUDIT_TOKEN", "two\nlines")
    with pytest.raises(RewardNotLoaded, match="PLAUDIT_TOKEN holds what no token does"):
        load(f"{server.address}/mark")


def test_a_token_may_stand_in_the_url_and_is_shown_nowhere(server):  # noqa: F811
    token = "a-token-of-16-characters"
    with ServerThread(settings("mark", workers=1, tokens=(token,))) as guarded:
        address = guarded.address.replace("http://", f"http://trainer:{token}@")
        remote = pickle.loads(pickle.dumps(load(f"{address}/mark")))
        assert [output.reward for output in score(remote, SAMPLES[:2])] == [1.0, 0.0]
        assert repr(remote) == f"mark at {guarded.address}/mark"
        with pytest.raises(RewardNotLoaded, match="HTTP 401") as refused:
            load(f"{guarded.address}/mark")
        with pytest.raises(RewardNotLoaded, match="HTTP 404") as missing:
            load(f"{address}/nothing")
    assert token not in str(refused.value) + str(missing.value)


def test_a_batch_that_is_too_large_for_one_request_is_sent_in_parts(server):  # noqa: F811
    large = [Trajectory(prompt="?" * 400, response=text, ground_truth="yes") for text in ("yes", "no") * 4]
    large.append(Trajectory(prompt="?" * 4000, response="yes", ground_truth="yes"))
    with ServerThread(settings("mark", workers=1, http=HttpLimits(body_bytes=2000))) as strict:
        outputs = score(load(f"{strict.address}/mark"), large)
    assert [output.reward for output in outputs] == [1.0, 0.0] * 4 + [None]
    assert "the body is larger than 2000 bytes" in outputs[-1].reason


def test_another_version_of_the_reward_is_told_of(server):  # noqa: F811
    remote = load(f"{server.address}/mark")
    served, remote.key = remote.key, "before"
    with pytest.warns(UserWarning, match=f"mark is another version now .*key {served}, before before"):
        score(remote, SAMPLES[:1])
    assert remote.key == served


def test_a_server_that_is_away_is_named_when_the_reward_is_loaded():
    with pytest.raises(RewardNotLoaded, match=r"no reward server answers: http://127.0.0.1:9/x: .*refused"):
        load("http://127.0.0.1:9/x")


def test_servers_of_different_rewards_are_not_one_reward(server):  # noqa: F811
    with pytest.raises(RewardNotLoaded, match="do not serve the same reward"):
        load(f"{server.address}/mark,{server.address}/batched")


SLOW = [Trajectory(prompt="?", response=f"slow {n}", ground_truth=f"slow {n}") for n in range(8)]
QUICK = EndpointPolicy(concurrency=4, tries=8, first_wait_s=0.05, attempt_s=30.0, breaker_after=2, breaker_rest_s=0.3)


def fall(running):
    """End a server as a crash would: its socket closed, its connections cut in the middle."""

    async def cut():
        running.server._listener.close()
        for connection in list(running.server.app.connections):
            connection.abort()

    running.run(cut())


def test_a_server_that_takes_unusually_long_is_overtaken(server):  # noqa: F811
    with ServerThread(settings("mark", workers=1)) as other:
        remote = load(f"{other.address}/mark,{server.address}/mark")
        score(remote, SAMPLES)
        other._loop.call_soon_threadsafe(time.sleep, 2.0)  # it answers nobody meanwhile
        began = time.monotonic()
        assert bare(score(remote, SAMPLES)) == bare(score(f"{REWARDS}:mark", SAMPLES))
        assert time.monotonic() - began < 1.9


def test_a_server_that_dies_in_the_middle_costs_no_sample_and_is_left_alone(server):  # noqa: F811
    with ServerThread(settings("mark", workers=1)) as other:
        remote = open_remote(f"{other.address}/mark,{server.address}/mark", QUICK)
        scored = server.server.app.metrics.samples
        before, dying = scored["mark", "ok"], threading.Timer(0.3, fall, [other])
        dying.start()
        outputs = score(remote, SLOW)
        dying.join()
        assert [output.reward for output in outputs] == [1.0] * len(SLOW)
        assert scored["mark", "ok"] - before == len(SLOW)  # its own half and the other's, each sample once
        for _ in range(3):
            assert [output.reward for output in score(remote, SAMPLES[:2])] == [1.0, 0.0]
        dead, alive = (link.breaker.is_closed for link in remote._servers.links)
        assert (dead, alive) == (False, True)
    port = int(other.address.rpartition(":")[2])
    with ServerThread(settings("mark", workers=1, port=port)) as back:
        time.sleep(QUICK.breaker_rest_s)
        for _ in range(3):
            score(remote, SAMPLES[:2])
        assert back.server.app.metrics.samples["mark", "ok"] > 0
        assert all(link.breaker.is_closed for link in remote._servers.links)


def test_no_server_left_is_a_status_and_never_a_score(server):  # noqa: F811
    remote = open_remote(f"{server.address}/mark", QUICK)
    remote.urls = ["http://127.0.0.1:9/mark"]  # where nobody listens
    remote._open()
    [output] = score(remote, SAMPLES[:1])
    assert (output.reward, output.status) == (None, "error")
    assert "gave up after 8 tries" in output.reason


def begin_in_child(call):
    """Call in a forked process; where its text can be read."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork among threads, none of which it needs
        pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(call()).encode())
        finally:
            os._exit(0)
    os.close(write)
    return pid, read


def end_of_child(pid, read):
    os.waitpid(pid, 0)
    with open(read) as said:
        return said.read()


def test_a_forked_process_has_connections_of_its_own(server):  # noqa: F811
    remote = load(f"{server.address}/mark")
    score(remote, SAMPLES)  # a connection is open now, and the children have it too

    def rewards(after_s, truth):
        time.sleep(after_s)
        return [output.reward for output in score(remote, [Trajectory("?", "slow", truth)] * 3)]

    children = [begin_in_child(partial(rewards, *given)) for given in ((0.0, "slow"), (0.1, "quick"))]
    assert [end_of_child(*child) for child in children] == ["[1.0, 1.0, 1.0]", "[0.0, 0.0, 0.0]"]


def test_what_msgpack_cannot_hold_is_answered_all_the_same():
    samples = [Trajectory(prompt="?", response=text) for text in ("plain", "half", "large", "open")]
    with ServerThread(settings("notes", workers=1)) as running:
        remote = load(f"{running.address}/notes")
        assert bare(score(remote, samples)) == bare(score(f"{REWARDS}:notes", samples))
        assert remote.bounds == (0.0, math.inf)
        assert [output.reward for output in score(0.5 * remote.clip(0.0, 4.5), samples)] == [2.25, 2.0, 2.25, 2.0]


def test_a_sample_that_cannot_be_sent_or_read_spoils_no_other(server):  # noqa: F811
    deep = []
    for _ in range(80):
        deep = [deep]
    remote = load(f"{server.address}/mark")
    outputs = score(remote, [*SAMPLES[:2], Trajectory("?", "yes", deep), Trajectory("?", "yes", {"a": object()})])
    assert [output.reward for output in outputs] == [1.0, 0.0, None, None]
    assert "nested too deeply" in outputs[2].reason
    assert "the sample cannot be sent: trajectories[0].ground_truth.a is a object" in outputs[3].reason
    foreign = score(load(f"{server.address}/mark/get_reward"), SAMPLES)  # which has no word for a failure
    assert [output.reward for output in foreign] == [1.0, 0.0, None, None, 1.0]


def test_samples_that_are_scored_together_are_never_sent_apart():
    samples = [Trajectory("?", "yes", truth) for truth in ("yes", {"a": object()})]
    with ServerThread(settings("share", workers=1)) as running:
        remote = load(f"{running.address}/share")
        assert [output.reward for output in score(remote, samples[:1] * 4)] == [0.25] * 4
        outputs = score(remote, samples)
    assert [output.reward for output in outputs] == [None, None]
    assert "its samples are scored together, and one of them cannot be sent" in outputs[0].reason
