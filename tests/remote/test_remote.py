"""A reward behind HTTP is a reward like any other: the same numbers, statuses and words as here."""

import contextlib
import math
import os
import pickle
import threading
import time
import traceback
import urllib.request
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest

from plaudit import Trajectory, load, score
from plaudit.endpoint.channel import EndpointPolicy
from plaudit.engine import Scorer
from plaudit.errors import RewardNotLoaded
from plaudit.remote.client_protocols import NativeClientProtocol
from plaudit.remote.reward import open_remote
from plaudit.remote.tokens import hide_tokens
from plaudit.serving import ServerSettings, ServerThread
from tests.serving.asking import metric
from tests.serving.conftest import REWARDS, settings

SAMPLES = [
    Trajectory(prompt="?", response=text, ground_truth="yes", columns={"answer": "a column, not the truth"})
    for text in ("yes", "no", "raise", "none", "yes")
]


def bare(outputs):
    return [msgspec.structs.replace(output, latency_s=None) for output in outputs]


def test_the_outputs_are_those_of_local_scoring(server):
    remote = load(f"{server.address}/mark")
    assert (remote.name, remote.scope) == ("mark", "sample")
    assert bare(score(remote, SAMPLES)) == bare(score(f"{REWARDS}:mark", SAMPLES))


def test_samples_are_shared_out_over_several_servers(server):
    with ServerThread(settings("mark")) as other:
        remote = load(f"{server.address}/mark, {other.address}/mark")
        assert bare(score(remote, SAMPLES)) == bare(score(f"{REWARDS}:mark", SAMPLES))
        assert 0 < metric(other.address, "plaudit_samples_total", status="ok") < len(SAMPLES)


def test_a_server_in_openrlhfs_protocol_is_called_in_it(server):
    remote = load(f"{server.address}/mark/get_reward")
    assert [output.reward for output in score(remote, SAMPLES[:2])] == [1.0, 0.0]


def test_an_address_without_a_name_is_its_first_reward(server):
    remote = load(server.address)
    assert (remote.name, bare(score(remote, SAMPLES))) == ("mark", bare(score(f"{REWARDS}:mark", SAMPLES)))


@pytest.mark.parametrize("path", ["/mark/score", "/score", "/remote_rm", "/health"])
def test_a_url_that_is_no_reward_is_refused_with_what_one_looks_like(server, path):
    with pytest.raises(RewardNotLoaded, match="a reward is http://host:8000/name"):
        load(f"{server.address}{path}")


def test_a_token_that_cannot_be_sent_is_refused_by_the_name_of_its_variable(server, monkeypatch):
    monkeypatch.setenv("PLAUDIT_TOKEN", "from-a-file-with-a-line-end\n")
    assert [output.reward for output in score(load(f"{server.address}/mark"), SAMPLES[:1])] == [1.0]
    monkeypatch.setenv("PLAUDIT_TOKEN", "two\nlines")
    with pytest.raises(RewardNotLoaded, match="PLAUDIT_TOKEN holds what no token does"):
        load(f"{server.address}/mark")


def test_a_token_may_stand_in_the_url_and_is_shown_nowhere(server):
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


def test_a_batch_that_is_too_large_for_one_request_is_sent_in_parts(server):
    large = [Trajectory(prompt="?" * 400, response=text, ground_truth="yes") for text in ("yes", "no") * 4]
    large.append(Trajectory(prompt="?" * 4000, response="yes", ground_truth="yes"))
    with ServerThread(settings("mark", workers=1, body_bytes=2000)) as strict:
        outputs = score(load(f"{strict.address}/mark"), large)
    assert [output.reward for output in outputs] == [1.0, 0.0] * 4 + [None]
    assert "the body is larger than 2000 bytes" in outputs[-1].reason


def test_a_new_version_of_the_reward_gives_a_warning(server):
    remote = load(f"{server.address}/mark")
    served, remote.key = remote.key, "before"
    with pytest.warns(
        UserWarning, match=f"mark has another version than at the last request .*key {served}, before before"
    ):
        score(remote, SAMPLES[:1])
    assert remote.key == served


def test_a_server_that_is_away_is_named_when_the_reward_is_loaded():
    with pytest.raises(RewardNotLoaded, match=r"no reward server answers: http://127.0.0.1:9/x: .*refused"):
        load("http://127.0.0.1:9/x")


def test_servers_of_different_rewards_are_not_one_reward(server):
    with pytest.raises(RewardNotLoaded, match="do not serve the same reward"):
        load(f"{server.address}/mark,{server.address}/batched")


SLOW = [Trajectory(prompt="?", response=f"slow {n}", ground_truth=f"slow {n}") for n in range(8)]
QUICK = EndpointPolicy(concurrency=4, tries=8, first_wait_s=0.05, attempt_s=30.0, breaker_after=2, breaker_rest_s=0.3)
HASTY = replace(QUICK, longest_wait_s=0.1)  # for a server that stays as it is


def fall(running):
    """End a server as a crash would: its socket closed, its connections cut in the middle."""

    async def cut():
        http = running.server._http
        for listener in http.servers:
            listener.close()
        http.abort_connections()

    running.run(cut())


def test_a_server_that_dies_in_the_middle_costs_no_sample_and_is_left_alone(server):
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


def test_no_server_left_is_a_status_and_never_a_score(server):
    remote = open_remote(f"{server.address}/mark", HASTY)
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


def test_a_forked_process_has_connections_of_its_own(server):
    remote = load(f"{server.address}/mark")
    score(remote, SAMPLES)  # a connection is open now, and the children have it too

    def rewards(after_s, truth):
        time.sleep(after_s)
        return [output.reward for output in score(remote, [Trajectory("?", "slow", truth)] * 3)]

    children = [begin_in_child(partial(rewards, *given)) for given in ((0.0, "slow"), (0.1, "quick"))]
    assert [end_of_child(*child) for child in children] == ["[1.0, 1.0, 1.0]", "[0.0, 0.0, 0.0]"]


def test_values_that_msgpack_cannot_hold_are_still_answered():
    samples = [Trajectory(prompt="?", response=text) for text in ("plain", "half", "large", "open")]
    with ServerThread(settings("notes", workers=1)) as running:
        remote = load(f"{running.address}/notes")
        assert bare(score(remote, samples)) == bare(score(f"{REWARDS}:notes", samples))
        assert remote.bounds == (0.0, math.inf)
        assert [output.reward for output in score(0.5 * remote.clip(0.0, 4.5), samples)] == [2.25, 2.0, 2.25, 2.0]


def test_a_sample_that_cannot_be_sent_or_read_spoils_no_other(server):
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


class Fake:
    """A server that answers each request as it is told to: status, headers and body by method."""

    def __init__(self, answers):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_one(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                given = answers[self.command]
                status, headers, body = given if isinstance(given, tuple) else given.pop(0) if given[1:] else given[0]
                self.send_response(status)
                for name, value in {**headers, "content-length": len(body)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = handle_one  # noqa: N815

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def asked_of(server, samples):
    """The request that a remote reward sends."""
    body, content = NativeClientProtocol().encode(samples)
    return urllib.request.Request(f"{server.address}/mark/score", body, {"content-type": content})


def describing(server):
    with urllib.request.urlopen(f"{server.address}/mark") as page:
        return 200, {"x-plaudit-version": "1"}, page.read()


def test_a_server_that_has_no_time_is_not_called_again_while_there_are_others(server):
    busy = {"GET": describing(server), "POST": (429, {"x-plaudit-version": "1", "retry-after": "0"}, b"busy")}
    with Fake(busy) as full:
        remote = load(f"{full.address}/mark,{server.address}/mark")
        samples = [Trajectory("?", "slow", "slow")] * 4
        beside = ThreadPoolExecutor(4)
        outputs = [each.result() for each in [beside.submit(score, remote, samples) for _ in range(4)]]
        beside.shutdown()
    assert [output.reward for part in outputs for output in part] == [1.0] * 16


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_is_not_ready_is_no_reason_not_to_load_from_others(server, status):
    with Fake({"GET": (status, {}, b"later")}) as away:
        assert load(f"{away.address}/mark,{server.address}/mark").native
        with pytest.raises(RewardNotLoaded, match=f"no reward server answers: {away.address}/mark: HTTP {status}"):
            load(f"{away.address}/mark")


def test_a_reason_names_the_server_that_refused(server):
    about = describing(server)
    for status in (401, 500):
        with Fake({"GET": about, "POST": (status, {}, b"no")}) as refusing:
            [output] = score(open_remote(f"{refusing.address}/mark", HASTY), SAMPLES[:1])
        assert output.reward is None
        assert f"{refusing.address}/mark" in output.reason
        assert f"HTTP {status}" in output.reason


def test_a_date_beyond_all_calendars_is_no_reason_to_fail(server):
    date = {"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}
    with Fake({"GET": describing(server), "POST": (429, date, b"")}) as odd:
        [output] = score(open_remote(f"{odd.address}/mark", HASTY), SAMPLES[:1])
    assert "gave up after 8 tries" in output.reason


def test_a_server_that_is_away_for_a_moment_costs_no_sample(server):
    remote = open_remote(f"{server.address}/mark", replace(QUICK, tries=2, first_wait_s=0.01, breaker_rest_s=0.5))
    [link] = remote._servers.links
    for _ in range(QUICK.breaker_after):
        link.breaker.record_failure(link, "away")
    assert [output.reward for output in score(remote, SAMPLES[:2])] == [1.0, 0.0]


SECRET = "SECRET-of-16-characters"


@pytest.mark.parametrize(
    "spec",
    [
        f"http://u:a/{SECRET}@127.0.0.1:9/x",
        f"http://u:{SECRET}%0A@127.0.0.1:9/x",
        f"http://u:{SECRET}@127.0.0.1:9/x,u:{SECRET}@127.0.0.1:9/x",
        f"0.5 * http://u:{SECRET}@127.0.0.1:9/x",
        f"HTTP://u:{SECRET}@127.0.0.1:9/x",
    ],
)
def test_no_error_shows_a_token(spec):
    with pytest.raises(RewardNotLoaded) as failed:
        load(spec)
    assert SECRET not in "".join(traceback.format_exception(failed.value)[1:])


def test_no_name_and_no_hidden_text_shows_a_token():
    with Fake({"GET": (200, {}, b"{}")}) as foreign:
        remote = load(foreign.address.replace("http://", f"http://u:{SECRET}@"))
    assert SECRET not in remote.name + repr(remote)
    for place in (f"u:a@{SECRET}@h", f"u@x:{SECRET}@h", f"u:a,{SECRET}@h", f":{SECRET}@h"):
        assert SECRET not in hide_tokens(f"http://{place}/x,HTTPS://{place}/x")
    assert hide_tokens("http://h:80/a@b, https://h/a@b") == "http://h:80/a@b, https://h/a@b"


def test_an_answer_that_comes_in_drops_is_given_up_in_time(server):
    about, ended = describing(server), threading.Event()

    with Fake({"GET": about}) as dripping:

        def drip(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            with contextlib.suppress(OSError):
                while not ended.wait(0.1):
                    self.wfile.write(b" ")

        dripping._server.RequestHandlerClass.do_POST = drip
        began = time.monotonic()
        quick = replace(QUICK, tries=2, attempt_s=0.5)
        [output] = score(open_remote(f"{dripping.address}/mark", quick), SAMPLES[:1])
        ended.set()
    assert (output.reward, output.status) == (None, "timeout")
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("path", ["mark", "mark/get_reward"])
def test_a_remote_reward_whose_version_may_change_is_never_cached(server, tmp_path, path):
    remote = load(f"{server.address}/{path}")
    assert not remote.deterministic
    with Scorer(remote, backend="inline", cache=tmp_path / "scores") as scorer:
        for _ in range(2):
            assert [output.reward for output in scorer.score(SAMPLES[:2])] == [1.0, 0.0]
        assert scorer.stats.cached == 0


@pytest.mark.parametrize(
    ("status", "body"), [(401, b"no"), (404, b"gone"), (200, b"<html>"), (200, b'{"outputs": []}')]
)
def test_a_request_that_one_server_fails_goes_to_another(server, status, body):
    with Fake({"GET": describing(server), "POST": (status, {}, body)}) as odd:
        remote = open_remote(f"{odd.address}/mark,{server.address}/mark", QUICK)
        outputs = score(remote, SAMPLES * 5)
        [alone] = score(open_remote(f"{odd.address}/mark", QUICK), SAMPLES[:1])
    assert bare(outputs) == bare(score(f"{REWARDS}:mark", SAMPLES * 5))
    assert alone.reward is None


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_single_sample_that_one_server_refuses_goes_to_another(server, status):
    with Fake({"GET": describing(server), "POST": (status, {}, b"no")}) as odd:
        remote = open_remote(f"{odd.address}/mark,{server.address}/mark", QUICK)
        outputs = [output for _ in range(6) for output in score(remote, SAMPLES[:1])]
    assert bare(outputs) == bare(score(f"{REWARDS}:mark", SAMPLES[:1] * 6))


def test_a_server_that_refuses_has_not_the_last_word_while_another_was_only_busy(server):
    about, busy = describing(server), (429, {"x-plaudit-version": "1", "retry-after": "0"}, b"busy")
    with urllib.request.urlopen(asked_of(server, SAMPLES[:1])) as page:
        right = (200, dict(page.headers), page.read())
    with (
        Fake({"GET": about, "POST": (401, {}, b"no")}) as odd,
        Fake({"GET": about, "POST": [busy, busy, right]}) as slow,
    ):
        remote = open_remote(f"{odd.address}/mark,{slow.address}/mark", QUICK)
        assert bare(score(remote, SAMPLES[:1])) == bare(score(f"{REWARDS}:mark", SAMPLES[:1]))


def test_the_order_of_samples_is_kept_over_many_requests(server):
    remote = load(f"{server.address}/mark,{server.address}/mark")
    samples = [Trajectory("?", str(n), "7") for n in range(100)]
    assert [output.reward for output in score(remote, samples)] == [float(n == 7) for n in range(100)]


@pytest.mark.parametrize("name", ["batched", "best_of_group"])
def test_samples_that_are_scored_together_are_sent_in_one_request(server, name):
    samples = [Trajectory("?", "x" * n) for n in range(100)]
    remote = load(f"{server.address}/{name},{server.address}/{name}")
    assert bare(score(remote, samples)) == bare(score(f"{REWARDS}:{name}", samples))


def test_a_reload_that_changes_what_is_scored_together_is_refused(tmp_path):
    file = tmp_path / "changing.py"
    file.write_text("def changing(response): return 1.0\n")
    with ServerThread(ServerSettings(rewards=(f"{file}:changing",), port=0, workers=1)) as running:
        remote = load(f"{running.address}/changing")
        file.write_text("def changing(responses): return [1.0] * len(responses)\n")
        running.run(running.server.reload())
        [output] = score(remote, SAMPLES[:1])
    assert output.reward is None
    assert "its scope is 'batch' now, not 'sample': load it again" in output.reason


def test_a_server_with_too_much_load_is_called_again_and_not_left_out(server):
    busy = (503, {"x-plaudit-version": "1", "retry-after": "1"}, b"busy")
    with urllib.request.urlopen(asked_of(server, SAMPLES[:1])) as page:
        right = (200, dict(page.headers), page.read())
    with Fake({"GET": describing(server), "POST": [busy, busy, busy, right]}) as loaded:
        [output] = score(open_remote(f"{loaded.address}/mark", HASTY), SAMPLES[:1])
    assert output.reward == 1.0


def test_metadata_and_extra_logs_come_back_with_the_outputs():
    with ServerThread(settings("logged", workers=1)) as running:
        for path in ("logged", "logged/get_reward"):
            [output] = score(load(f"{running.address}/{path}"), [Trajectory("?", "four")])
            assert (output.reward, output.metadata["length"]) == (1.0, 4)
