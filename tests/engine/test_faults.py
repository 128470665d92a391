"""What must not hang, leak or spread: every fault costs one sample."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plaudit import RewardFunction, Status, Trajectory, reward
from plaudit.engine import Scorer
from tests.engine.contract_rewards import Batch, IgnoresTerm, Rank, faulty
from tests.process_watch import open_files

DEADLINE = 0.4

FAULTS = {
    "spin in C": (Status.TIMEOUT, "no result within the deadline of 0.4 s"),
    "sleep": (Status.TIMEOUT, "no result within the deadline of 0.4 s"),
    "memory": (Status.MEMORY, "MemoryError"),
    "segfault": (Status.ERROR, "the worker died: signal SIGSEGV"),
    "exit": (Status.ERROR, "the worker died: exit code 3"),
}


def samples(*responses, **fields):
    return [Trajectory(prompt="p", response=response, **fields) for response in responses]


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    """One for all faults: it goes on after each."""
    with Scorer(faulty, workers=2, deadline_s=DEADLINE, memory_mb=1024) as scorer:
        yield scorer


@pytest.mark.parametrize(("fault", "expected"), FAULTS.items(), ids=FAULTS)
@pytest.mark.parametrize("in_thread", [False, True], ids=["main thread", "other thread"])
def test_a_faulty_sample_costs_itself_alone(scorer, fault, expected, in_thread):
    outputs = []
    scorer.score(samples("warm", "up"))
    run = lambda: outputs.extend(scorer.score(samples(*["fine"] * 20, fault, *["fine"] * 20)))  # noqa: E731
    if in_thread:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    else:
        run()
    status, words = expected
    assert [output.status for output in outputs] == [Status.OK] * 20 + [status] + [Status.OK] * 20
    assert words in outputs[20].reason


def test_a_reward_that_ignores_sigterm_is_killed():
    with Scorer(IgnoresTerm(), workers=1, deadline_s=DEADLINE) as scorer:
        assert [o.status for o in scorer.score(samples("a", "sleep", "b"))] == [Status.OK, Status.TIMEOUT, Status.OK]


def test_every_sample_may_be_faulty():
    faults = ["sleep", "exit", "segfault", "raise", "nan", "sleep"]
    with Scorer(faulty, workers=2, deadline_s=0.2) as scorer:
        outputs = scorer.score(samples(*faults))
    assert [o.status.value for o in outputs] == ["timeout", "error", "error", "error", "error", "timeout"]


def test_waiting_for_a_free_worker_does_not_count():
    """Ten samples of 0.1 s on one worker wait up to 0.9 s for their turn, under a deadline of 0.5 s."""

    @reward
    def slow(response):
        time.sleep(0.1)
        return 1.0

    with Scorer(slow, workers=1, deadline_s=0.5) as scorer:
        assert all(output.ok for output in scorer.score(samples(*"abcdefghij")))


def test_a_fork_inside_a_reward_does_not_answer_twice():
    with Scorer(faulty, workers=2, deadline_s=5) as scorer:
        outputs = scorer.score(samples("fork", "fine", "fork", "fine"))
        assert [output.reward for output in outputs] == [1.0] * 4
        assert [output.reward for output in scorer.score(samples("fine", "raise"))] == [1.0, None]


def test_a_batch_that_hangs_times_out_as_a_whole_and_is_called_once(tmp_path):
    calls = tmp_path / "calls"

    class Batched(RewardFunction):
        def compute_rewards(self, trajectories):
            with calls.open("a") as file:
                file.write(f"{len(trajectories)}\n")
            time.sleep(60)

    with Scorer(Batched(), workers=2, deadline_s=0.1) as scorer:
        outputs = scorer.score(samples("a", "sleep", "b", "c", "d"))
    assert [output.status.value for output in outputs] == ["timeout"] * 5
    assert calls.read_text() == "5\n"


def test_a_batch_that_hangs_costs_only_itself_if_it_may_be_cut():
    class Batched(RewardFunction):
        max_batch = 2

        def compute_rewards(self, trajectories):
            if any(trajectory.response == "sleep" for trajectory in trajectories):
                time.sleep(60)
            return [1.0] * len(trajectories)

    with Scorer(Batched(), workers=2, deadline_s=0.1) as scorer:
        outputs = scorer.score(samples("a", "sleep", "b", "c", "d"))
    assert [output.status.value for output in outputs] == ["timeout", "timeout", "ok", "ok", "ok"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda part: part.clip(0, 1),
        lambda part: 0.5 * part + 0.5 * part,
        lambda part: part.gate(part, at=-1),
        lambda part: (0.5 * part).clip(0, 1).named("nested"),
        lambda part: part.normalized("group"),
    ],
    ids=["clip", "sum", "gate", "nested", "normalized"],
)
def test_a_deadline_is_per_sample_whatever_the_reward_is_wrapped_in(wrap):
    def waits(response):
        if response == "sleep":
            time.sleep(60)
        return 0.5

    began = time.monotonic()
    with Scorer(wrap(reward(waits)), workers=1, deadline_s=0.3) as scorer:
        outputs = scorer.score(samples("a", "b", "c", "sleep", *["d"] * 60))
    assert [output.status.value for output in outputs] == ["ok"] * 3 + ["timeout"] + ["ok"] * 60
    assert time.monotonic() - began < 15  # a deadline per unit of 60 samples would take longer


def test_an_await_that_hangs_costs_its_own_sample_and_no_worker():
    async def waits(response):
        await asyncio.sleep(60 if response == "sleep" else 0)
        return 1.0

    with Scorer(reward(waits), workers=1, deadline_s=0.3) as scorer:
        outputs = scorer.score(samples("a", "sleep", "b"))
        assert [output.status.value for output in outputs] == ["ok", "timeout", "ok"]
        assert scorer.stats.workers_lost == {}


def test_an_async_call_that_blocks_its_loop_is_found_among_those_under_way():
    async def blocks(response):
        await asyncio.sleep(0)
        if response == "block":
            time.sleep(60)
        return 1.0

    with Scorer(reward(blocks), workers=1, deadline_s=0.3) as scorer:
        outputs = scorer.score(samples("a", "block", "b"))
    assert [output.status.value for output in outputs] == ["ok", "timeout", "ok"]


def test_a_sample_that_cannot_be_pickled_fails_alone():
    trajectories = samples("a", "b", "c")
    trajectories[1] = Trajectory(prompt="p", response="b", columns={"lock": threading.Lock()})
    with Scorer(reward(lambda response: 1.0), workers=1) as scorer:
        outputs = scorer.score(trajectories)
    assert [output.status.value for output in outputs] == ["ok", "error", "ok"]
    assert "cannot be sent to another process" in outputs[1].reason


def test_a_group_that_hangs_fails_as_a_group():
    class Slow(Rank):
        def compute_rewards(self, trajectories):
            if trajectories[0].group == 1:
                time.sleep(60)
            return super().compute_rewards(trajectories)

    trajectories = [Trajectory(prompt="p", response=str(n), group=n // 2) for n in range(6)]
    with Scorer(Slow(), workers=2, deadline_s=0.1) as scorer:
        outputs = scorer.score(trajectories)
    assert [output.status.value for output in outputs] == ["ok", "ok", "timeout", "timeout", "ok", "ok"]


def children(of: int) -> list[int]:
    listed = Path(f"/proc/{of}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


@pytest.mark.parametrize("killed", ["worker", "template"])
def test_a_process_killed_by_hand_costs_nothing(killed):
    @reward
    def steady(response):
        time.sleep(0.005)
        return float(response)

    others = set(children(os.getpid()))
    with Scorer(steady, workers=2, deadline_s=5) as scorer:
        results = scorer.score_stream(iter(samples(*map(str, range(300)))))
        taken = [next(results) for _ in range(20)]
        [template] = set(children(os.getpid())) - others
        os.kill(min(children(template)) if killed == "worker" else template, signal.SIGKILL)
        taken += results
        assert sum(scorer.stats.workers_lost.values()) == (1 if killed == "worker" else 2)
    assert [scored.output.reward for scored in taken] == [float(n) for n in range(300)]


def test_processes_started_by_a_reward_are_killed_with_it(tmp_path):
    pid_file = tmp_path / "pid"

    @reward
    def starts_something(response):
        process = subprocess.Popen(["sleep", "600"])
        pid_file.write_text(str(process.pid))
        process.wait()

    with Scorer(starts_something, workers=1, deadline_s=0.5) as scorer:
        assert scorer.score(samples("x"))[0].status is Status.TIMEOUT
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the process that the reward started is still there"
        time.sleep(0.01)


def test_scorers_leave_no_process_and_no_descriptor_behind():
    with Scorer(faulty, workers=2, deadline_s=1) as scorer:
        scorer.score(samples("a"))
    processes, files = set(children(os.getpid())), open_files()
    for _ in range(2):
        with Scorer(faulty, workers=2, deadline_s=0.1) as scorer:
            scorer.score(samples("a", "exit", "sleep"))
    assert set(children(os.getpid())) <= processes
    assert open_files() <= files


def test_workers_die_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent("""
            import re, sys
            from plaudit import Trajectory
            from plaudit.engine import Scorer

            def spin(response):
                re.match(r"(a+)+$", "a" * 60 + "b")

            if __name__ == "__main__":
                print("ready", flush=True)
                with Scorer(spin, workers=2) as scorer:
                    scorer.score([Trajectory(prompt="p", response=r) for r in "ab"])
        """)
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()
    deadline = time.monotonic() + 20
    while len(workers := [each for template in children(parent.pid) for each in children(template)]) < 2:
        assert time.monotonic() < deadline, "the workers never started"
        time.sleep(0.02)
    time.sleep(1.0)
    parent.kill()
    parent.communicate()
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline + 10, "orphaned workers"
        time.sleep(0.02)


def test_a_reward_that_cannot_be_loaded_in_another_process_gives_the_reason():
    class Unshippable(RewardFunction):
        def __init__(self):
            self.lock = threading.Lock()

        def compute_reward(self, trajectory):
            return 1.0

    from plaudit.errors import InvalidSettings

    with pytest.raises(InvalidSettings, match=r"cannot be sent to another process.*backend='inline'"):
        Scorer(Unshippable(), workers=1)
    assert Scorer(Batch(), backend="inline").score(samples("a"))[0].ok
