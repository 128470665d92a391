"""Requests that one worker was given together: none waits for another, and none is blamed for another."""

import json
import os
import signal
import time
from concurrent.futures import Future, wait
from types import SimpleNamespace

import pytest

from plaudit import RewardOutput, load
from plaudit.engine.backends.messages import encode_answer
from plaudit.engine.shipping import Shipment
from plaudit.serving import ServerThread
from plaudit.serving.workers.pool import MAX_KILLS, WorkerPool
from plaudit.serving.workers.queueing import MAX_UNBEGUN, Job
from plaudit.serving.workers.wire import UNBEGUN, Answer, Journal, JournalView, WireJob, decode_outputs
from plaudit.serving.workers.worker import RewardService, RewardSetup
from tests.serving.asking import ask, samples, wait_until
from tests.serving.conftest import REWARDS, settings

QUICK_S = 0.0002  # what a request usually took, as far as the pool knows
FOREVER_S = 100.0


def ask_together(
    running: ServerThread, *requests: tuple[str, ...], usual_s: float = QUICK_S, patience_s: float = FOREVER_S
) -> list[Future[Answer]]:
    """Submit requests in one turn of the loop; the last of them waits no longer than told."""
    [pool] = running.server.app.pools.values()
    told: list[Future[Answer]] = [Future() for _ in requests]

    async def submit() -> None:
        pool._usual_s = usual_s
        for responses, future in zip(requests, told, strict=True):
            wire, expires_in = WireJob("score", json.dumps(samples(*responses)).encode()), FOREVER_S
            if future is told[-1]:
                expires_in = patience_s
            job = Job(wire, "client", lambda _, answer, future=future: future.set_result(answer))
            job.expires_at = time.monotonic() + expires_in
            pool.submit(job)

    running.run(submit())
    return told


def statuses(future: Future[Answer]) -> list[str]:
    return [output["status"] for output in json.loads(future.result(20).body)["outputs"]]


def test_quick_requests_do_not_wait_for_one_that_hangs_before_or_behind_them():
    with ServerThread(settings("mark", workers=1, deadline_s=60.0)) as running:
        told = ask_together(running, ("yes",), ("no",), ("hang",), ("yes",), ("no",), ("yes",), ("no",))
        hanging = told.pop(2)
        assert not wait(told, 20).not_done
        assert not hanging.done()
        assert [statuses(each) for each in told] == [["ok"]] * 6
        for _ in range(2):  # nobody waits for the one that hangs
            running._loop.call_soon_threadsafe(running.server.tell_to_stop)


def test_before_anything_is_known_of_a_reward_no_request_waits_while_a_worker_is_idle():
    with ServerThread(settings("mark", workers=3)) as running:
        [pool] = running.server.app.pools.values()
        wait_until(lambda: len(pool._idle) == 3)
        told = ask_together(running, *[("slow",)] * 3, usual_s=0.0)
        wait_until(lambda: pool.busy)
        assert [len(worker.jobs) for worker in pool._workers] == [1, 1, 1]
        assert [statuses(each) for each in told] == [["ok"]] * 3


def test_a_request_whose_client_waits_no_longer_costs_the_one_before_it_nothing():
    """Also where what a worker has not begun may not be given to another, since it would not score the same."""
    with ServerThread(settings("unsure", workers=1)) as running:
        long, short = ask_together(running, ("slow",) * 4, ("yes",), patience_s=0.1)
        assert short.result(20).status == 504
        assert not long.done()
        assert statuses(long) == ["ok"] * 4
        assert not running.server.app.metrics.losses


def test_the_sample_behind_one_that_was_late_is_not_blamed_though_the_worker_was_killed_at_it():
    with ServerThread(settings("mark", workers=1, deadline_s=60.0)) as running:
        [pool] = running.server.app.pools.values()
        [told] = ask_together(running, ("yes", "slow", "slow"))
        [worker] = pool._workers
        wait_until(lambda: worker.journal.progress(worker.units)[2] == (0, 1))
        worker.late_at, worker.overran = (worker.units, (0, 1)), True  # as if its deadline had passed
        wait_until(lambda: worker.journal.progress(worker.units)[2] == (0, 2))
        running._loop.call_soon_threadsafe(worker.end)
        assert statuses(told) == ["ok", "ok", "ok"]  # the late one was there after all
        assert running.server.app.metrics.losses == {("mark", "deadline"): 1}


class LostWorker:
    """What a pool knows of a worker that was lost with these jobs, at a place."""

    units, pid, answered, overran, working, ready = 1, 0, 0, False, True, True
    since, seen_since, seen_at, late_at = 0.0, 0.0, None, None

    def __init__(self, jobs: list[Job], place: tuple[int, int]) -> None:
        self.jobs, self.moved, self.journal = jobs, set(), SimpleNamespace(read=lambda unit: ([], place))

    def release(self) -> None:
        """Nothing is held of it."""

    end = release

    def take_others(self, at: int) -> list[Job]:
        return []


@pytest.mark.parametrize(("losses", "expected"), [(1, ["ok", "ok"]), (MAX_UNBEGUN + 1, ["memory", "memory"])])
def test_a_request_is_not_the_cause_of_a_loss_before_it_was_begun_unless_that_happens_again_and_again(losses, expected):
    told: Future[Answer] = Future()
    job = Job(
        WireJob("score", json.dumps(samples("yes", "no")).encode()), "client", lambda _, got: told.set_result(got)
    )
    job.tries = MAX_KILLS  # others were killed at it before
    with ServerThread(settings("mark", workers=1)) as running:
        [pool] = running.server.app.pools.values()

        async def lose() -> None:
            pool._idle, idle = [], pool._idle  # or the job would be given to a living one
            for _ in range(losses):
                pool.take_queue()
                pool._workers.append(worker := LostWorker([job], UNBEGUN))
                pool._handle_end(worker, -signal.SIGKILL)
            pool._idle = idle
            pool._dispatch()

        running.run(lose())
        assert statuses(told) == expected


def queries(*texts: str) -> dict[str, list[str]]:
    return {"query": list(texts), "labels": ["yes"] * len(texts)}


@pytest.mark.parametrize("at", [0, 3, 19])
@pytest.mark.parametrize("misdeed", ["hang", "crash"])
def test_of_quick_samples_the_one_that_hangs_or_crashes_is_known(misdeed, at):
    with ServerThread(settings("mark", workers=1, deadline_s=0.3, on_unscored="none")) as running:
        for _ in range(3):
            ask(running.address, "/get_reward", queries(*["yes"] * 100))
        texts = ["yes"] * 20
        texts[at] = misdeed
        expected = [1.0] * 20
        expected[at] = None
        assert ask(running.address, "/get_reward", queries(*texts)).json["rewards"] == expected
        assert len(running.server.app.metrics.losses) == 1


def test_the_time_of_quick_samples_is_not_held_against_a_slow_one_behind_them():
    """A quick worker says where it is, and not since when."""
    with ServerThread(settings("mark", workers=1, deadline_s=3.0)) as running:
        [pool] = running.server.app.pools.values()
        worker, unit_at = LostWorker([], UNBEGUN), 100.0
        for now, place, late in (
            (110.0, (0, 500), False),
            (110.01, (0, 900), False),
            (112.9, (0, 900), False),
            (113.02, (0, 900), False),  # late, and looked at once more
            (113.03, (0, 900), True),
        ):
            worker.journal.progress = lambda unit, place=place: (1, unit_at, place)
            running.run(look(pool, worker, now))
            assert worker.overran == late


async def look(pool: WorkerPool, worker: "LostWorker", now: float) -> None:
    pool._look_at(worker, now)
    pool._aside.discard(worker)


def test_what_was_scored_of_a_request_that_runs_out_of_time_is_told_though_samples_were_quick_before():
    with ServerThread(settings("mark", workers=1, on_unscored="none")) as running:
        for _ in range(3):
            ask(running.address, "/get_reward", queries(*["yes"] * 100))
        told = ask(running.address, "/get_reward", queries("yes", *["slow"] * 20), x_deadline_s="1").json["rewards"]
        assert told[:3] == [1.0, 0.0, 0.0]
        assert told[10:] == [None] * 11


def test_a_child_that_a_reward_forked_and_forgot_takes_no_deadline_away():
    with ServerThread(settings("twin", workers=1, deadline_s=0.4, on_unscored="none")) as running:
        for _ in range(3):
            ask(running.address, "/get_reward", queries(*["yes"] * 100))
        assert ask(running.address, "/get_reward", queries("fork", "yes")).json["rewards"] == [1.0, 1.0]
        assert ask(running.address, "/get_reward", queries("yes", "hang", "yes")).json["rewards"] == [1.0, None, 1.0]
        assert running.server.app.metrics.losses == {("twin", "deadline"): 1}


@pytest.fixture
def service() -> RewardService:
    spec = f"{REWARDS}:mark"
    return RewardSetup("mark", Shipment.of(spec), None, 4096, "none", "0").open()


def test_a_quick_worker_answers_as_a_careful_one_does(service):
    view = JournalView()
    journal = Journal(os.dup(view.descriptor), repeatable=True)
    texts = ["yes", "no", "raise", "none", "yes"]
    job = WireJob("get_reward", json.dumps(queries(*texts)).encode())
    answers, found_quick = [], False
    for _ in range(2):
        journal.begin()
        for _ in range(50):
            assert journal.next_job()
            found_quick, journal.quick = found_quick or journal.quick, bool(answers)
            answers.append(service._answer_alone(job, journal))
            assert view.progress(journal._unit)[2] == (journal._jobs - 1, len(texts))
    assert {answer.body for answer in answers} == {answers[0].body}
    assert found_quick
    assert json.loads(answers[0].body)["rewards"] == [1.0, 0.0, None, None, 1.0]
    view.close()


@pytest.mark.parametrize("known", [0, 100])
def test_samples_that_take_long_are_kept_one_by_one_though_those_before_were_quick(service, known, monkeypatch):
    view, kept, pause = JournalView(), [], time.sleep
    journal = Journal(os.dup(view.descriptor), repeatable=True)

    def look(_):
        kept.append(sum(len(decode_outputs(part)) for part in view.read(journal._unit)[0]))
        pause(0.01)

    monkeypatch.setattr(time, "sleep", look)
    texts, frames = ["yes"] * known + ["slow"] * 3, encode_answer(RewardOutput(1.0)) * known
    journal.begin()
    assert journal.next_job()
    journal.quick = True
    service._answer_alone(WireJob("get_reward", json.dumps(queries(*texts)).encode(), known=frames), journal)
    assert kept[1:] == [known + 1, known + 2]
    assert view.progress(journal._unit)[2] == (0, len(texts))
    view.close()


def test_what_may_not_be_asked_again_and_what_takes_its_time_is_never_quick():
    reward, texts = load(f"{REWARDS}:soon"), ["yes"] * 40
    for repeatable, pause_s in ((False, 0.0), (True, 0.001)):
        view = JournalView()
        journal = Journal(os.dup(view.descriptor), repeatable=repeatable)
        journal.begin()
        assert journal.next_job()
        journal.follow(time.sleep(pause_s) or reward.function(text) for text in texts)
        assert not journal.quick
        view.close()


def test_a_batch_call_that_fails_as_a_whole_fails_nobody_else():
    with ServerThread(settings("batched", workers=1)) as running:
        told = ask_together(running, ("a",), ("forget", "b"), ("c", "d"))
        assert [statuses(each) for each in told] == [["ok"], ["error", "error"], ["ok", "ok"]]
