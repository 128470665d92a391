"""What a reward does to its process stays in its process: output, working folder, memory, signals."""

import os
import subprocess
import sys
import textwrap
import time

import pytest

import plaudit
from plaudit import RewardFunction, Status, Trajectory, reward
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings


def samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response) for response in responses]


WRITERS = {
    "print": "print('noise')",
    "descriptor": "os.write(1, b'noise')",
    "child": "subprocess.run(['echo', 'noise'])",
    "sys.__stdout__": "sys.__stdout__.write('noise'); sys.__stdout__.flush()",
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_nothing_that_a_reward_writes_reaches_the_callers_output(write, tmp_path):
    (tmp_path / "noisy.py").write_text(
        f"import os, subprocess, sys\n\ndef noisy(response):\n    {write}\n    return 1.0\n"
    )
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent("""
            from plaudit import Trajectory
            from plaudit.engine import Scorer
            with Scorer("noisy.py:noisy", workers=1) as scorer:
                print(scorer.score([Trajectory(prompt="p", response="r")])[0].reward)
        """)
    )
    ran = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.stdout == "1.0\n"
    assert "noise" in ran.stderr


def test_every_sample_begins_in_the_callers_folder(tmp_path):
    @reward
    def wanders(response):
        here = os.getcwd()
        os.chdir("/")
        return float(here == response)

    with Scorer(wanders, workers=1, batch_size=4) as scorer:
        assert [output.reward for output in scorer.score(samples(*[os.getcwd()] * 10))] == [1.0] * 10


@pytest.mark.parametrize("name", ["random", "json", "importlib"])
def test_a_reward_may_be_in_a_file_that_is_named_like_a_module_of_python(name, tmp_path, monkeypatch):
    (tmp_path / f"{name}.py").write_text("def whole(response):\n    return 1.0\n")
    monkeypatch.chdir(tmp_path)
    with Scorer(f"{name}.py:whole", workers=1) as scorer:
        assert [output.reward for output in scorer.score([Trajectory("?", "!")])] == [1.0]


def test_workers_start_whatever_stands_in_the_search_path(tmp_path, monkeypatch):
    (tmp_path / "odd_place.py").write_text("def whole(response):\n    return 1.0\n")
    home = os.path.dirname(os.path.dirname(plaudit.__file__))
    others = [place for place in sys.path if os.path.abspath(place or ".") != home]
    many = [f"/nowhere/{number}/{'x' * 100}" for number in range(1500)]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *others, tmp_path, *many])
    with Scorer("odd_place:whole", workers=1) as scorer:
        assert [output.reward for output in scorer.score([Trajectory("?", "!")])] == [1.0]


def test_memory_that_earlier_samples_left_does_not_fail_the_next():
    kept = []

    @reward
    def leaks(response):
        kept.append(bytearray(60 << 20))
        return 1.0

    with Scorer(leaks, workers=1, memory_mb=200) as scorer:
        outputs = scorer.score(samples(*["a"] * 12))
        assert [output.status for output in outputs] == [Status.OK] * 12
        assert scorer.stats.workers_lost["out of memory"] >= 1


def test_a_sample_that_takes_more_memory_than_allowed_costs_no_worker():
    @reward
    def greedy(response):
        return float(len(bytearray(600 << 20))) if response == "greedy" else 1.0

    with Scorer(greedy, workers=1, memory_mb=200) as scorer:
        outputs = scorer.score(samples("a", "greedy", "a", "greedy", "a"))
        assert [output.status.value for output in outputs] == ["ok", "memory", "ok", "memory", "ok"]
        assert scorer.stats.workers_lost == {}


class Unready(RewardFunction):
    """Cannot load what it needs; slow to find out, which is no sample's fault."""

    def __init__(self, delay_s, message):
        self.delay_s, self.message = delay_s, message

    def warm_up(self):
        time.sleep(self.delay_s)
        if self.message:
            raise InvalidSettings(self.message)

    def compute_reward(self, trajectory):
        return 1.0


def test_a_load_error_in_a_worker_ends_the_run_before_the_first_sample():
    refusal = pytest.raises(
        InvalidSettings, match="a worker could not load the reward: warm_up of Unready: no such weights"
    )
    with Scorer(Unready(0, "no such weights"), workers=1) as scorer, refusal:
        scorer.score(samples("a"))


def test_loading_does_not_count_against_the_deadline_of_the_first_sample():
    with Scorer(Unready(0.4, ""), workers=1, deadline_s=0.2) as scorer:
        assert [output.reward for output in scorer.score(samples("a", "b"))] == [1.0, 1.0]
