"""Under load: limits, deadlines, lost workers, reload and drain without a failed request."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from plaudit.serving import ServerSettings, ServerThread
from tests.process_watch import descendants, open_files
from tests.serving.asking import ask, metric, samples, send, wait_until
from tests.serving.conftest import settings


def test_requests_beyond_the_limit_get_503_with_retry_after_and_none_is_lost():
    with ServerThread(settings("mark", workers=1, queue_requests=3)) as running, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(running.address, "/score", samples("slow")), range(8)))
        assert {answer.status for answer in answers} == {200, 503}
        assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status == 503)
        assert ask(running.address, "/score", samples("yes")).status == 200
        assert metric(running.address, "plaudit_held_bytes") == 0
        assert metric(running.address, "plaudit_requests_under_way") == 0


def test_bodies_beyond_the_limit_of_bytes_get_503_with_retry_after():
    with ServerThread(settings("mark", workers=1, queue_bytes=4000)) as running, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(ask, running.address, "/score", samples("slow" + "w" * 3000, "slow", "slow"))
        wait_until(lambda: metric(running.address, "plaudit_held_bytes"))
        refused = ask(running.address, "/score", samples("y" * 3000))
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert slow.result().status == 200
        assert ask(running.address, "/score", samples("y" * 3000)).status == 200


def test_a_request_does_not_wait_behind_one_that_hangs_while_a_worker_is_idle():
    with ServerThread(settings("mark", workers=2, deadline_s=60.0)) as running, ThreadPoolExecutor(1) as pool:
        wait_until(lambda: metric(running.address, "plaudit_workers", reward="mark") == 2)
        hanging = pool.submit(ask, running.address, "/score", samples("hang"))
        wait_until(lambda: metric(running.address, "plaudit_workers_busy", reward="mark") == 1)
        for _ in range(10):
            assert ask(running.address, "/score", samples("yes")).json["outputs"][0]["reward"] == 1.0
        assert not hanging.done()
        for _ in range(2):
            running.call(running.server.ask_to_stop)
        running.run(running.server.stop())
        assert hanging.result().status == 503


def test_quick_requests_do_not_wait_for_one_that_hangs_and_was_given_to_the_same_worker():
    with ServerThread(settings("mark", workers=2, deadline_s=60.0)) as running, ThreadPoolExecutor(16) as pool:
        for _ in range(100):
            ask(running.address, "/score", samples("yes"))  # so that workers hold several requests
        asked = [pool.submit(ask, running.address, "/score", samples(text)) for text in ("hang", *["yes"] * 15)]
        assert [each.result().status for each in asked[1:]] == [200] * 15
        assert not asked[0].done()
        for _ in range(2):
            running.call(running.server.ask_to_stop)
        running.run(running.server.stop())


def test_a_client_says_how_long_it_wants_to_wait(server):
    late = ask(server.address, "/score", samples("slow", "slow"), x_deadline_s="0.05")
    assert (late.status, late.json) == (504, {"error": "the time that the client allowed is over"})
    assert ask(server.address, "/score", samples("slow"), x_deadline_s="20").status == 200


@pytest.mark.parametrize("at", [0, 3, 19])
@pytest.mark.parametrize("misdeed", ["hang", "crash"])
def test_a_hanging_or_crashing_sample_does_not_fail_the_others(misdeed, at):
    with ServerThread(settings("mark", workers=1, deadline_s=0.5, on_unscored="none")) as running:
        texts, expected = ["yes"] * 20, [1.0] * 20
        texts[at], expected[at] = misdeed, None
        asked = {"query": texts, "labels": ["yes"] * 20}
        assert ask(running.address, "/get_reward", asked).json["rewards"] == expected
        assert sum(running.server.app.metrics.losses.values()) == 1


def test_every_sample_of_a_request_may_crash_its_worker():
    with ServerThread(settings("mark", workers=1)) as running:
        outputs = ask(running.address, "/score", samples(*["crash"] * 5, "yes")).json["outputs"]
        assert [each["status"] for each in outputs] == ["error"] * 5 + ["ok"]


def test_a_child_that_a_reward_forked_and_forgot_does_not_answer_for_its_parent():
    with ServerThread(settings("twin", workers=1, deadline_s=0.5, on_unscored="none")) as running:
        for texts, expected in ((["fork", "yes"], [1.0, 1.0]), (["yes", "hang", "yes"], [1.0, None, 1.0])):
            assert ask(running.address, "/get_reward", {"query": texts}).json["rewards"] == expected
        assert running.server.app.metrics.losses == {("twin", "deadline"): 1}


def test_a_worker_that_is_killed_from_outside_costs_no_answer(server):
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, server.address, "/score", samples("slow", "yes")) for _ in range(4)]
        wait_until(lambda: metric(server.address, "plaudit_workers_busy", reward="mark"))
        for pid in server.server.app.pools.current["mark"].pids():
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
        running.run(running.server.reload())
        file.write_text("this is no Python\n")
        running.run(running.server.reload())  # is served as before
        stop.set()
        asking.join()
        last = ask(running.address, "/score", samples("a")).json["outputs"][0]["reward"]
    assert last == 2.0
    assert {(status, reward) for status, reward, _ in seen} == {(200, 1.0), (200, 2.0)}
    assert len({(reward, key) for _, reward, key in seen}) == 2  # each version has its key


def test_a_worker_with_a_newer_version_is_not_used_before_the_reload(tmp_path):
    file = tmp_path / "changing.py"
    text = "import os\ndef version(response): return os._exit(3) if response == 'crash' else {}.0\n"
    file.write_text(text.format(1))
    with ServerThread(ServerSettings(rewards=(f"{file}:version",), port=0, workers=2)) as running:
        wait_until(lambda: metric(running.address, "plaudit_workers", reward="version") == 2)
        file.write_text(text.format(2))
        ask(running.address, "/score", samples("crash"))
        wait_until(lambda: running.server.app.metrics.reloads["version", "done"])
        answer = ask(running.address, "/score", samples("a"))
        assert answer.json["outputs"][0]["reward"] == 2.0
        assert answer.headers["x-plaudit-key"] == ask(running.address, "/version").json["key"]


def test_a_reload_replaces_one_that_never_ends(tmp_path):
    file, begun = tmp_path / "changing.py", tmp_path / "begun"
    file.write_text("def version(response): return 1.0\n")
    before = descendants()
    with ServerThread(ServerSettings(rewards=(f"{file}:version",), port=0, workers=1)) as running:
        file.write_text(f"import time; open({str(begun)!r}, 'w'); time.sleep(600)\n")
        running.call(running.server.begin_reload)
        wait_until(begun.exists)
        file.write_text("def version(response): return 2.0\n")
        running.call(running.server.begin_reload)
        wait_until(lambda: running.server.app.metrics.reloads["version", "done"])
        assert ask(running.address, "/score", samples("a")).json["outputs"][0]["reward"] == 2.0
    assert descendants() <= before


def test_a_replaced_version_ends_with_the_server():
    before = descendants()
    with (
        ServerThread(settings("mark", workers=1, drain_s=0.1, deadline_s=60)) as running,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(ask, running.address, "/score", samples("hang"))
        wait_until(lambda: metric(running.address, "plaudit_workers_busy", reward="mark"))
        running.run(running.server.reload())
        running.run(running.server.stop())
        assert asked.result().status == 503
    assert descendants() <= before


def test_stopping_answers_the_requests_under_way_and_leaves_nothing_behind():
    with ServerThread(settings("mark", workers=1)):
        pass  # what the first server of a process opens stays open
    before, files = descendants(), open_files()
    with ServerThread(settings("mark", workers=1)) as running, ThreadPoolExecutor(1) as pool:
        address = running.address
        asked = pool.submit(ask, address, "/score", samples("slow", "slow"))
        wait_until(lambda: metric(address, "plaudit_workers_busy", reward="mark"))
        running.run(running.server.stop())
        assert asked.result().status == 200
    assert descendants() <= before
    assert open_files() <= files


def test_a_client_that_sends_its_body_slowly_is_refused():
    with ServerThread(settings("mark", workers=1, body_s=0.3)) as running:
        began = time.monotonic()
        head = (
            b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
        )
        assert b" 408 " in send(running, head)[:20]
        assert time.monotonic() - began < 10
        assert metric(running.address, "plaudit_held_bytes") == 0
