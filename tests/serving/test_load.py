"""Under load: back-pressure, fair turns, kept answers, deadlines, reload and drain without a failed request."""

import contextlib
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plaudit.serving import ServerSettings, ServerThread
from plaudit.serving.app.replays import Replays
from plaudit.serving.http.messages import Request, Response
from plaudit.serving.workers.queueing import FairQueue, Job
from plaudit.serving.workers.wire import WireJob
from tests.process_watch import descendants
from tests.serving.asking import ask, samples, wait_until
from tests.serving.conftest import settings


def test_a_full_queue_is_told_to_come_back_and_nothing_is_lost():
    with ServerThread(settings("mark", workers=1, queue_requests=3)) as running, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(running.address, "/score", samples("slow")), range(8)))
        statuses = [answer.status for answer in answers]
        assert set(statuses) == {200, 429}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers if answer.status == 429)
        assert ask(running.address, "/score", samples("yes")).status == 200
        assert running.server.app.admission.bytes == running.server.app.admission.requests == 0


def test_clients_take_turns_however_much_one_sends():
    queue = FairQueue()
    for client, count in (("greedy", 5), ("modest", 2)):
        for _ in range(count):
            queue.add(Job(WireJob("score", b""), client, lambda job, answer: None))
    assert [job.client for job in queue.take(7, 1000)] == ["greedy", "modest", "greedy", "modest", *["greedy"] * 3]


@pytest.fixture
def waiting():
    """A queue with jobs of two clients, and what was answered to which."""
    queue, told = FairQueue(), []
    for client, expires_at in (("a", 1.0), ("a", 9.0), ("b", 1.0)):
        queue.add(
            Job(
                WireJob("score", b""),
                client,
                lambda job, answer: told.append((job.client, answer.status)),
                expires_at,
            )
        )
    return queue, told


def test_a_request_whose_time_is_over_is_told_so_once(waiting):
    queue, told = waiting
    queue.drop_stale(2.0)
    queue.drop_stale(3.0)
    assert told == [("a", 504), ("b", 504)]
    assert len(queue) == 1
    assert [job.expires_at for job in queue.take(9, 1000)] == [9.0]


@pytest.mark.parametrize("forget", [lambda queue: queue.drop_stale(0.0), lambda queue: queue.take(9, 1000)])
def test_a_request_that_nobody_waits_for_is_counted_out_and_not_given_to_a_worker(waiting, forget):
    queue, told = waiting
    for job in list(queue._by_client["a"]):
        job.abandon()
    forget(queue)
    assert told == [("a", 499)] * 2
    assert [job.client for job in queue.take(9, 1000)] in (["b"], [])


def test_clients_that_hang_up_or_run_out_of_time_leave_the_queue_as_it_was():
    with ServerThread(settings("mark", workers=1, deadline_s=0.4)) as running, ThreadPoolExecutor(6) as pool:
        host, port = running.address.removeprefix("http://").split(":")
        hanging = [pool.submit(ask, running.address, "/score", samples("hang")) for _ in range(2)]
        time.sleep(0.1)
        late = [pool.submit(ask, running.address, "/score", samples("yes"), x_deadline_s="0.05") for _ in range(3)]
        for _ in range(3):
            with socket.create_connection((host, int(port))) as gone:
                gone.sendall(
                    b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                    b"content-length: 2\r\n\r\n{}"
                )
                time.sleep(0.02)
        assert {each.result().status for each in late} <= {200, 504}
        assert [each.result().json["outputs"][0]["status"] for each in hanging] == ["timeout"] * 2
        admission = running.server.app.admission
        assert (admission.requests, admission.bytes, admission._by_client) == (0, 0, {})
        assert ask(running.address, "/score", samples("hang")).json["outputs"][0]["status"] == "timeout"


def test_a_request_that_is_sent_again_is_not_scored_again(server):
    body, key = samples("yes", "no"), {"idempotency_key": "batch-7"}
    first = ask(server.address, "/score", body, **key)
    scored = server.server.app.metrics.samples["mark", "ok"]
    assert ask(server.address, "/score", body, **key).body == first.body
    assert server.server.app.metrics.samples["mark", "ok"] == scored
    assert ask(server.address, "/score", samples("other"), **key).status == 422
    for text in ("yes", "other"):  # no key at all
        assert ask(server.address, "/score", samples(text), idempotency_key="").status == 200


def test_kept_answers_are_bounded_however_small_they_are(monkeypatch):
    monkeypatch.setattr("plaudit.serving.app.replays.KEPT_BYTES", 100_000)
    replays = Replays()
    for number in range(1000):
        place = ("client", "/remote_rm", b"%d" % number)
        request = Request("POST", "/remote_rm", {}, b"{}", "", 0.0, lambda response, head: None)
        assert replays.join(place, request) is None
        replays.finish(place, Response(200, b"1.0"))
    assert 100 < len(replays._kept) < 250


def test_requests_are_scored_together_where_the_reward_takes_batches(server):
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: ask(server.address, "/batched/score", samples("a")).json, range(64)))
    assert max(answer["outputs"][0]["reward"] for answer in answers) > 1


def test_a_client_says_how_long_it_wants_to_wait(server):
    [output] = ask(server.address, "/score", samples("hang"), x_deadline_s="0.5").json["outputs"]
    assert output["status"] == "timeout"
    assert output["reason"] == "no result within the time that the request allowed"


def test_a_worker_that_is_killed_by_hand_costs_no_answer(server):
    pids = [worker.pid for worker in server.server.app.pools["mark"]._workers if worker.ready]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, server.address, "/score", samples("slow", "yes")) for _ in range(4)]
        time.sleep(0.1)
        for pid in pids:
            os.killpg(pid, signal.SIGKILL)
        outputs = [each.result().json["outputs"] for each in asked]
    assert [[each["status"] for each in pair] for pair in outputs] == [["ok", "ok"]] * 4


def test_a_reward_is_reloaded_without_a_failed_request(tmp_path):
    file = tmp_path / "changing.py"
    file.write_text("def version(response): return 1.0\n")
    seen, stop = [], threading.Event()

    def keep_asking(address: str) -> None:
        while not stop.is_set():
            answer = ask(address, "/score", samples("a"))
            seen.append((answer.status, answer.json["outputs"][0]["reward"], answer.headers["x-plaudit-key"]))

    with ServerThread(ServerSettings(rewards=(f"{file}:version",), port=0, workers=1)) as running:
        asking = threading.Thread(target=keep_asking, args=(running.address,))
        asking.start()
        file.write_text("def version(response): return 2.0\n")
        first = ask(running.address, "/score", samples("a"), idempotency_key="kept")
        running.run(running.server.reload())
        again = ask(running.address, "/score", samples("a"), idempotency_key="kept")
        file.write_text("this is no Python\n")
        running.run(running.server.reload())  # stays as it was
        stop.set()
        asking.join()
        last = ask(running.address, "/score", samples("a")).json["outputs"][0]["reward"]
    assert last == 2.0
    assert (again.body, again.headers["x-plaudit-key"]) == (first.body, first.json["key"])  # the key of who scored it
    assert {(status, reward) for status, reward, _ in seen} == {(200, 1.0), (200, 2.0)}
    assert len({(reward, key) for _, reward, key in seen}) == 2  # the key tells which


def test_a_reload_takes_the_place_of_one_that_never_ends(tmp_path):
    file, begun = tmp_path / "changing.py", tmp_path / "begun"
    file.write_text("def version(response): return 1.0\n")
    before = descendants()
    with ServerThread(ServerSettings(rewards=(f"{file}:version",), port=0, workers=1)) as running:
        file.write_text(f"import time; open({str(begun)!r}, 'w'); time.sleep(600)\n")
        running._loop.call_soon_threadsafe(running.server.begin_reload)
        wait_until(begun.exists)
        file.write_text("def version(response): return 2.0\n")
        running._loop.call_soon_threadsafe(running.server.begin_reload)
        wait_until(lambda: running.server.app.metrics.reloads["version", "done"])
        assert ask(running.address, "/score", samples("a")).json["outputs"][0]["reward"] == 2.0
    assert descendants() <= before


def test_a_version_that_was_replaced_ends_with_the_server():
    before = descendants()
    with ServerThread(settings("mark", workers=1, drain_s=0.1)) as running, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, running.address, "/score", samples("hang"))
        wait_until(lambda: running.server.app.pools["mark"].busy)
        running.run(running.server.reload())
        running.run(running.server.stop())
        assert asked.result().status == 503
    assert descendants() <= before


def test_a_process_that_a_reward_has_moved_to_a_session_of_its_own_ends_with_the_server(tmp_path):
    file = tmp_path / "leaving.py"
    file.write_text(
        "import subprocess\n"
        "def leave(response): return subprocess.Popen(['sleep', '600'], start_new_session=True).pid\n"
    )
    with ServerThread(ServerSettings(rewards=(f"{file}:leave",), port=0, workers=1)) as running:
        pid = int(ask(running.address, "/score", samples("a")).json["outputs"][0]["reward"])
        began = time.monotonic()
    assert time.monotonic() - began < 4
    assert not Path(f"/proc/{pid}").exists()


def test_stopping_answers_what_is_under_way_and_leaves_nothing_behind():
    before, files = descendants(), set(open_files())
    with ServerThread(settings("mark", workers=1)) as running, ThreadPoolExecutor(1) as pool:
        address = running.address
        asked = pool.submit(ask, address, "/score", samples("slow", "slow"))
        time.sleep(0.1)
        running.run(running.server.stop())
        assert asked.result().status == 200
    assert descendants() <= before
    assert set(open_files()) <= files


def open_files() -> list[str]:
    """The files, sockets and pipes that this process has open."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [each for each in found if not each.startswith("/proc/")]
