"""Hosts: what hangs, dies or floods costs its own episode, in threads and in processes."""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from plaudit import Status
from plaudit.agents import AgentInstance, Environment, EpisodeLimits, LocalHost, StepResult
from plaudit.loading import load_agent
from tests.agents.toy_episodes import ToyModel, play_episodes

FAULTS = """
    import os, random, re, time
    from plaudit.agents import Environment, StepResult

    class Faulty(Environment):
        turns = 0

        def reset(self, start):
            self.kind, self.chance = start.ground_truth, random.random()
            return None

        def step(self, action):
            self.turns += 1
            if self.kind == 1:
                raise ValueError("broken inside")
            if self.kind == 2:
                re.match(r"(a|a)*$", "a" * 60 + "b")  # holds the interpreter for years
            if self.kind == 3:
                os._exit(9)
            if self.kind == 4:
                return StepResult("?", done=False, sampling_params=lambda: None)
            if self.kind == 5:
                time.sleep(60)
            print("noise on stdout")
            logs = {"process": os.getpid(), "chance": self.chance}
            return StepResult("?", done=self.turns == 2, reward=1.0, logs=logs)
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    path = tmp_path_factory.mktemp("agents") / "faulty.py"
    path.write_text(textwrap.dedent(FAULTS))
    host = load_agent(path).build_host(workers=4)
    yield host
    host.close()


def test_in_processes_what_hangs_or_dies_is_killed_and_the_others_continue(faulty, capfd):
    episodes = play_episodes(faulty, ["a"] * 8, EpisodeLimits(deadline_s=1.0))
    assert [episode.status.value for episode in episodes] == [
        "ok", "error", "timeout", "error", "error", "timeout", "ok", "ok",
    ]  # fmt: skip
    reasons = [episode.reason for episode in episodes]
    assert re.search(r"Faulty.step raised ValueError: broken inside \(at faulty.py:\d+\)", reasons[1])
    assert "Faulty.step took longer than the 1 s" in reasons[2]
    assert "the environment's process died" in reasons[3]
    assert "cannot be sent to another process" in reasons[4]
    assert [episode.reward for episode in episodes if episode.status is Status.OK] == [2.0] * 3
    assert "noise" not in capfd.readouterr().out


def test_a_process_plays_the_next_episode_with_the_random_numbers_of_that_episode(faulty):
    first, second = (play_episodes(faulty, ["a"], EpisodeLimits(), ToyModel(seed)) for seed in (1, 2))
    assert first[0].logs == second[0].logs  # the same process, and the same seed of the episode


def test_no_process_outlives_its_host(tmp_path):
    path = tmp_path / "faulty.py"
    path.write_text(textwrap.dedent(FAULTS))
    host = load_agent(path).build_host(workers=2)
    [episode] = play_episodes(host, ["a"], EpisodeLimits())
    host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(episode.logs["process"], 0)


def test_a_worker_is_not_lost_with_a_waiting_episode_that_is_cancelled(tmp_path):
    path = tmp_path / "faulty.py"
    path.write_text(textwrap.dedent(FAULTS))
    host = load_agent(path).build_host(workers=1)

    async def play() -> None:
        first = await host.open()
        cancelled, waits = asyncio.create_task(host.open()), asyncio.create_task(host.open())
        await asyncio.sleep(0)
        first.end()
        cancelled.cancel()  # after it was woken, and before it has run
        (await asyncio.wait_for(waits, 10)).end()
        (await asyncio.wait_for(host.open(), 10)).end()

    asyncio.run(play())
    host.close()


def test_in_threads_a_call_that_hangs_costs_its_own_episode_only():
    class Blocking(Environment):
        def reset(self, start):
            self.label = start.ground_truth

        def step(self, action):
            if self.label == 0:
                time.sleep(0.6)
            return StepResult("?", done=True, reward=1.0)

    episodes = play_episodes(LocalHost(Blocking), ["a"] * 3, EpisodeLimits(deadline_s=0.2))
    assert [episode.status.value for episode in episodes] == ["timeout", "ok", "ok"]


def test_a_thread_that_hangs_does_not_keep_python_from_exiting():
    code = """
import time
from plaudit.agents import Environment, EpisodeLimits, LocalHost
from tests.agents.toy_episodes import play_episodes

class Hangs(Environment):
    def reset(self, start): pass
    def step(self, action): time.sleep(60)

print(play_episodes(LocalHost(Hangs), ["a"], EpisodeLimits(deadline_s=0.1))[0].status.value)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("timeout\n", "")


def test_an_async_context_entered_in_reset_is_left_in_step():
    class Holds(Environment):
        async def reset(self, start):
            self.group = asyncio.TaskGroup()
            await self.group.__aenter__()

        async def step(self, action):
            await self.group.__aexit__(None, None, None)
            return StepResult("?", done=True, reward=1.0)

    [episode] = play_episodes(Holds, ["a"], EpisodeLimits(deadline_s=30.0))
    assert episode.status is Status.OK, episode.reason


def test_an_environment_that_swallows_its_cancellation_delays_no_other_episode():
    class Stubborn(AgentInstance):
        async def step(self, states, **kwargs):
            until = time.perf_counter() + 1.0
            while time.perf_counter() < until:
                try:
                    await asyncio.sleep(0.5)
                except asyncio.CancelledError:
                    continue
            return {"done": True}

    [episode] = play_episodes(Stubborn, ["a"], EpisodeLimits(deadline_s=0.05))
    assert episode.status is Status.TIMEOUT


def test_an_environment_that_never_accepts_its_cancellation_does_not_keep_the_loop_from_ending():
    class Refuses(AgentInstance):
        async def step(self, states, **kwargs):
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)

    [episode] = play_episodes(Refuses, ["a"], EpisodeLimits(deadline_s=0.02))
    assert episode.status is Status.TIMEOUT


def test_an_environment_that_is_cancelled_at_its_deadline_cleans_up_and_delays_no_other():
    cleaned = []

    class CleansUp(Environment):
        async def reset(self, start):
            self.label = start.ground_truth

        async def step(self, action):
            if self.label == 1:
                await asyncio.sleep(0.01)
                return StepResult("?", done=bool(cleaned), reward=1.0)
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                cleaned.append(self.label)

    episodes = play_episodes(CleansUp, ["a"] * 2, EpisodeLimits(max_steps=1000, deadline_s=0.2))
    assert episodes[0].status is Status.TIMEOUT
    assert cleaned == [0]


@pytest.mark.parametrize("deadline_s", [None, 30.0])
@pytest.mark.parametrize(
    "how", ["raises", "cancels its task", "cancels its task and waits", "cancels its task and swallows that"]
)
def test_an_environment_that_cancels_itself_costs_its_own_episode(how, deadline_s):
    class Cancels(Environment):
        async def reset(self, start):
            self.label = start.ground_truth

        async def step(self, action):
            if self.label == 0 and how == "raises":
                raise asyncio.CancelledError
            if self.label == 0:
                asyncio.current_task().cancel()
            if self.label == 0 and how.endswith("waits"):
                await asyncio.sleep(0.001)
            if self.label == 0 and how.endswith("swallows that"):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.001)
            return StepResult("?", done=True, reward=1.0)

    episodes = play_episodes(Cancels, ["a"] * 3, EpisodeLimits(deadline_s=deadline_s))
    statuses = [episode.status.value for episode in episodes]
    assert statuses == [statuses[0], "ok", "ok"]
    assert statuses[0] == ("error" if how in ("raises", "cancels its task and waits") else "ok")


def test_the_timeouts_of_an_environment_are_its_own():
    class Waits(Environment):
        async def reset(self, start):
            return None

        async def step(self, action):
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            except TimeoutError:
                return StepResult("ab", done=True, reward=0.0)

    [episode] = play_episodes(Waits, ["a"], EpisodeLimits(deadline_s=30.0))
    assert (episode.status, episode.steps[0].metadata["feedback"]) == (Status.OK, "ab")


def test_an_episode_keeps_its_thread():
    seen = []

    class Notes(Environment):
        def reset(self, start):
            seen.append(threading.get_ident())

        def step(self, action):
            seen.append(threading.get_ident())
            return StepResult("?", done=len(seen) > 3)

    play_episodes(Notes, ["a"], EpisodeLimits())
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_feedback_of_millions_of_characters_ends_the_episode_and_is_not_read():
    class Floods(Environment):
        def reset(self, start):
            return None

        def step(self, action):
            return StepResult("a" * 5_000_000, done=False, reward=1.0)

    [episode] = play_episodes(Floods, ["a"], EpisodeLimits())
    assert (episode.finish_reason, episode.reward, len(episode.steps)) == ("length", 1.0, 1)
    assert len(episode.steps[0].metadata["feedback"]) < 2000


@pytest.mark.parametrize(
    ("returned", "message"),
    [("done", "must return a StepResult"), (None, "must return a StepResult")],
)
def test_a_typed_environment_that_answers_wrongly_is_an_error_of_its_episode(returned, message):
    class Wrong(Environment):
        def reset(self, start):
            return None

        def step(self, action):
            return returned

    [episode] = play_episodes(Wrong, ["a"], EpisodeLimits())
    assert message in episode.reason
