"""What the other samples keep when a worker dies or a reward changes its process (rule 9 of scoring)."""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections import Counter

import pytest

import plaudit
from plaudit import Trajectory, reward
from plaudit.engine import Scorer


def samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response) for response in responses]


def statuses(outputs: list[plaudit.RewardOutput]) -> list[str]:
    return [str(output.status) for output in outputs]


ENDS = {
    "exit": lambda: os._exit(3),
    "exit_zero": lambda: os._exit(0),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": os.abort,
    "hang": lambda: time.sleep(600),
}


@pytest.mark.parametrize("end", ENDS)
def test_finished_calls_are_kept_when_a_worker_ends(end, tmp_path):
    """Every sample is called once: those before the fault are not repeated, those after it go to another worker."""
    file, act = str(tmp_path / "calls"), ENDS[end]

    @reward
    def ends(response):
        with open(file, "a") as calls:
            calls.write(f"{response}\n")
        if response == "bad":
            act()
        return 1.0

    names = [f"s{place}" for place in range(30)]
    with Scorer(ends, workers=2, deadline_s=0.6) as scorer:
        outputs = scorer.score(samples(*names[:17], "bad", *names[17:]))
        again = scorer.score(samples(*names))
    assert statuses(outputs) == ["ok"] * 17 + ["timeout" if end == "hang" else "error"] + ["ok"] * 13
    assert outputs[17].reason
    assert statuses(again) == ["ok"] * 30
    with open(file) as calls:
        assert Counter(calls.read().split()) == {**dict.fromkeys(names, 2), "bad": 1}


def test_other_async_calls_are_scored_when_one_ends_the_worker():
    @reward
    async def ends(response):
        await asyncio.sleep(0)
        if response == "bad":
            os._exit(3)
        return 1.0

    with Scorer(ends, workers=1, deadline_s=2.0) as scorer:
        outputs = scorer.score(samples(*"abc", "bad", *"def"))
    assert statuses(outputs) == ["ok"] * 3 + ["error"] + ["ok"] * 3


@pytest.mark.parametrize("async_part_ends", [True, False])
def test_sync_and_async_parts_are_not_blamed_for_each_other(async_part_ends, tmp_path):
    """A worker that is lost while calls of several parts are under way makes them one by one; each is made twice."""
    file = str(tmp_path / "calls")

    def note(name, response):
        with open(file, "a") as calls:
            calls.write(f"{name}{response}\n")

    @reward
    async def awaits(response):
        note("async", response)
        await asyncio.sleep(0.3 if response == "bad" else 0.0)
        if response == "bad" and async_part_ends:
            os._exit(3)
        return 1.0

    @reward
    def computes(response):
        note("sync", response)
        time.sleep(0.2)
        if response == "bad" and not async_part_ends:
            os._exit(3)
        return 1.0

    with Scorer(0.5 * awaits + 0.5 * computes, workers=1, deadline_s=20.0) as scorer:
        outputs = scorer.score(samples("a", "b", "bad", "c"))
    assert statuses(outputs) == ["ok", "ok", "error", "ok"]
    parts = outputs[2].components
    assert (parts["awaits"].status, parts["computes"].status) == (
        ("error", "ok") if async_part_ends else ("ok", "error")
    )
    with open(file) as calls:
        assert max(Counter(calls.read().split()).values()) <= 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV], ids=str)
@pytest.mark.parametrize("style", ["sync", "async", "sum"])
def test_no_call_that_kills_its_worker_is_made_more_than_twice(style, number, tmp_path):
    file = str(tmp_path / "calls")

    def act(name, response):
        with open(file, "a") as calls:
            calls.write(f"{name}{response}\n")
        if response == "bad":
            os.kill(os.getpid(), number)
            time.sleep(600)

    @reward
    def computes(response):
        act("sync", response)
        return 1.0

    @reward
    async def awaits(response):
        await asyncio.sleep(0.01)
        act("async", response)
        return 1.0

    rewards = {"sync": computes, "async": awaits, "sum": 0.5 * awaits + 0.5 * awaits.clip(0.0, 1.0)}
    with Scorer(rewards[style], workers=1, deadline_s=20.0) as scorer:
        outputs = scorer.score(samples("a", "bad", "b", "bad", "c"))
    assert [output.ok for output in outputs] == [True, False, True, False, True]
    with open(file) as calls:
        made = Counter(calls.read().split())
    limit = 2 if style != "sum" else 4  # the function is in it twice
    assert {name: count for name, count in made.items() if count > limit * (2 if name.endswith("bad") else 1)} == {}


def test_two_bad_samples_of_one_batch_fail_alone():
    @reward
    def ends(response):
        if response == "exit":
            os._exit(3)
        if response == "hang":
            time.sleep(600)
        return 1.0

    with Scorer(ends, workers=2, deadline_s=0.5) as scorer:
        outputs = scorer.score(samples("a", "exit", "b", "hang", "exit", "c"))
    assert statuses(outputs) == ["ok", "error", "ok", "timeout", "error", "ok"]


def test_group_whose_call_ends_the_worker_fails_and_the_other_groups_are_scored():
    @reward(scope="group")
    def ends(responses):
        if "bad" in responses:
            os._exit(3)
        return [1.0] * len(responses)

    given = [
        Trajectory("p", response, group=place // 2) for place, response in enumerate(["a", "b", "bad", "c", "d", "e"])
    ]
    with Scorer(ends, workers=2, deadline_s=2.0) as scorer:
        assert statuses(scorer.score(given)) == ["ok", "ok", "error", "error", "ok", "ok"]


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_unpicklable_column_only_fails_its_own_sample(backend):
    @reward
    def measure(response):
        return float(len(response))

    given = samples("a", "bb", "ccc")
    given[1] = Trajectory("p", "bb", columns={"handle": threading.Lock()})
    outputs = plaudit.score(measure, given, backend=backend)
    assert [outputs[0].reward, outputs[2].reward] == [1.0, 3.0]
    assert outputs[1].reward == 2.0 or (outputs[1].status == "error" and "handle" in outputs[1].reason)


def test_unpicklable_metadata_of_an_output_only_fails_its_own_sample():
    @reward
    def keeps(response):
        return plaudit.RewardOutput(1.0, metadata={"handle": threading.Lock()} if response == "bad" else {})

    outputs = plaudit.score(keeps, samples("a", "bad", "b"), backend="processes")
    assert [outputs[0].reward, outputs[2].reward] == [1.0, 1.0]
    assert outputs[1].ok or outputs[1].reason


# What a reward changes in its process does not reach the next sample, nor the caller.


def raise_timeout(*_: object) -> None:
    raise TimeoutError("an alarm that a sample left behind")


CHANGES = {
    "folder": lambda: os.chdir("/"),
    "recursion_limit": lambda: sys.setrecursionlimit(120),
    "handlers": lambda: [signal.signal(each, signal.SIG_IGN) for each in (signal.SIGTERM, signal.SIGCHLD)],
    "alarm": lambda: (
        signal.signal(signal.SIGALRM, raise_timeout),
        signal.setitimer(signal.ITIMER_REAL, 0.05),
    ),
    "alarm_without_handler": lambda: signal.setitimer(signal.ITIMER_REAL, 0.05),
    "seed": lambda: random.seed(0),
    "output": lambda: os.close(1),
    "input": lambda: os.close(0),
    "environment": os.environ.clear,
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_of_the_process_does_not_reach_the_next_sample(change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "number.txt").write_text("1.0")
    act = CHANGES[change]

    def depth(left: int) -> int:
        return left and depth(left - 1)

    @reward
    def changes(response):
        if response == "change":
            act()
            return 1.0
        time.sleep(0.1)  # an alarm that was left behind rings now
        depth(300)
        with open("number.txt") as file:
            return float(file.read())

    with Scorer(changes, workers=1, deadline_s=5.0) as scorer:
        outputs = scorer.score(samples("a", "change", "b", "c"))
        outputs += scorer.score(samples("d"))
    assert [(output.reward, output.reason or "") for output in outputs] == [(1.0, "")] * 5


def test_hanging_reward_that_ignores_signals_is_killed():
    @reward
    def ignores(response):
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(each, signal.SIG_IGN)
        while response == "hang":
            pass
        return 1.0

    with Scorer(ignores, workers=1, deadline_s=0.5) as scorer:
        scorer.score(samples("w"))  # the worker is running
        began = time.monotonic()
        outputs = scorer.score(samples("a", "hang", "b"))
        elapsed = time.monotonic() - began
    assert statuses(outputs) == ["ok", "timeout", "ok"]
    assert elapsed < 0.5 + 3
