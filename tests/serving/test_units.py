"""Requests that one worker was given together: none waits for another, and none is blamed for another."""

import json
import time
from concurrent.futures import Future, wait

from plaudit.serving import ServerThread
from plaudit.serving.workers.queueing import Job
from plaudit.serving.workers.wire import Answer, WireJob
from tests.serving.asking import samples, wait_until
from tests.serving.conftest import settings

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
