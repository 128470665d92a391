"""The cache as users meet it: through the scorer and the command line."""

import sqlite3
import threading

import pytest

from plaudit import RewardFunction, Status, Trajectory, load, reward, score
from plaudit.compose import TaskReward
from plaudit.contract.output import RewardOutput
from plaudit.engine import Cache, Scorer
from plaudit.shaping import LengthPenalty
from tests.engine.contract_rewards import Rank

SOURCE = """
from plaudit import reward

@reward(deterministic={deterministic})
def counting(response, scale=1.0):
    with open({calls!r}, "a") as file:
        file.write("x")
    if response == "raise":
        raise ValueError("no")
    return scale * len(response)
"""


@pytest.fixture
def counted(tmp_path):
    """A reward in a file that notes every call in another file, so that calls in workers count too."""
    calls = tmp_path / "calls"
    calls.touch()
    path = tmp_path / "counting.py"

    def build(deterministic=True):
        path.write_text(SOURCE.format(deterministic=deterministic, calls=str(calls)))
        return f"{path}:counting"

    return build, lambda: len(calls.read_text())


class Holding(RewardFunction):
    """A reward with one setting of any type."""

    def __init__(self, held):
        self.held = held

    def compute_reward(self, trajectory):
        return self.held if isinstance(self.held, float) else 0.5


def samples(*responses):
    return [Trajectory(prompt="p", response=response) for response in responses]


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_cached_samples_are_not_scored_again_and_equal_samples_are_scored_once(counted, tmp_path, backend):
    build, calls = counted
    trajectories = samples("a", "bb", "a", "ccc", "bb")
    with Scorer(build(), backend=backend, workers=2, cache=tmp_path / "cache.sqlite") as scorer:
        first = scorer.score(trajectories)
        assert (calls(), scorer.stats.duplicates, scorer.stats.cached) == (3, 2, 0)
    with Scorer(build(), backend=backend, workers=2, cache=tmp_path / "cache.sqlite") as scorer:
        again = scorer.score([*trajectories, *samples("new")])
        assert (calls(), scorer.stats.cached) == (4, 5)
        assert scorer.stats.hit_rate == pytest.approx(5 / 6)
    assert [output.reward for output in first] == [1.0, 2.0, 1.0, 3.0, 2.0]
    assert again[:5] == first


DECLARED = {None: (3, 3, 3, 0), True: (2, 2, 3, 1), False: (3, 6, 0, 0)}


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_the_declaration_of_determinism_decides_about_caching(counted, tmp_path, declared):
    """Undeclared: cached, as the caller gave a cache. True: equal samples are scored once. False: never cached."""
    build, calls = counted
    counts = []
    with Scorer(build(declared), backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        for _ in range(2):
            scorer.score(samples("a", "bb", "a"))
            counts.append(calls())
        assert (*counts, scorer.stats.cached, scorer.stats.duplicates) == DECLARED[declared]
        assert ("counting declares deterministic=False" in scorer.stats.uncached) is (declared is False)


def test_failures_are_tried_again(counted, tmp_path):
    build, calls = counted
    for expected_calls in (1, 2):
        outputs = score(build(), samples("raise", "raise"), cache=tmp_path / "cache.sqlite")
        assert calls() == expected_calls
        assert [output.status for output in outputs] == [Status.ERROR] * 2


def test_a_changed_reward_is_scored_anew(counted, tmp_path):
    build, calls = counted
    spec = build()
    cache = Cache(tmp_path / "cache.sqlite")
    with cache:
        score(spec, samples("a"), cache=cache)
        path = tmp_path / "counting.py"
        path.write_text(path.read_text().replace("scale * len", "2 * scale * len"))
        assert score(load(spec), samples("a"), cache=cache)[0].reward == 2.0
        assert calls() == 2


def test_a_part_that_is_not_deterministic_makes_the_whole_uncached(tmp_path):
    draw = reward(name="draw", deterministic=False)(lambda response: 0.5)
    sums = [draw + LengthPenalty(), TaskReward({"a": draw}), Holding(draw), Holding(draw).normalized("group")]
    for rewarding in [*sums, LengthPenalty().normalized("running")]:
        with Scorer(rewarding, backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
            assert "declares deterministic=False" in scorer.stats.uncached
            for _ in range(2):
                scorer.score(samples("a", "b"))
            assert (scorer.stats.scored, scorer.stats.cached) == (4, 0)


def test_combinations_declare_what_their_parts_declare():
    yes, no, unknown = (reward(deterministic=value)(lambda response: 0.5) for value in (True, False, None))
    assert (yes + LengthPenalty()).deterministic is True
    assert (yes + unknown).deterministic is None
    assert (yes + unknown + no).deterministic is False
    assert TaskReward({"a": yes, "b": unknown}).deterministic is None


def test_a_setting_that_changes_is_part_of_the_key(tmp_path):
    holding = Holding(1.0)
    with Scorer(holding, backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        assert scorer.score(samples("a"))[0].reward == 1.0
        holding.held = 2.0
        assert scorer.score(samples("a"))[0].reward == 2.0


def test_a_reward_that_cannot_be_identified_is_scored_without_the_cache(tmp_path):
    with Scorer(Holding(object()), backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        assert scorer.stats.uncached == ""
    with Scorer(Holding(threading.Lock()), backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        scorer.score(samples("a"))
        assert "Holding.held is a lock, which is not plain data" in scorer.stats.uncached
        assert scorer.stats.scored == 1


def test_a_cache_that_fails_is_reported_in_the_statistics(tmp_path):
    with Cache(tmp_path / "cache.sqlite", busy_s=0.05) as cache:
        connection = sqlite3.connect(cache.path, isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        with Scorer("length", backend="inline", cache=cache) as scorer:
            assert scorer.score(samples("a"))[0].ok
            assert "database is locked" in scorer.stats.uncached
        connection.close()


def groups(**responses):
    return [Trajectory(prompt="p", response=one, group=name) for name, words in responses.items() for one in words]


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_a_group_is_known_as_a_whole_or_not_at_all(tmp_path, backend):
    with Scorer(Rank(), backend=backend, workers=1, cache=tmp_path / "cache.sqlite") as scorer:
        first = scorer.score(groups(g=["b", "a"], h=["b", "c"]))
        again = scorer.score(groups(h=["b", "c"], g=["b", "aa"]))
        assert [output.reward for output in first] == [0.5, 0.0, 0.0, 0.5]
        assert [output.reward for output in again] == [0.0, 0.5, 0.5, 0.0]
        assert (scorer.stats.scored, scorer.stats.cached) == (6, 2)


def test_a_stream_of_groups_comes_back_in_order_with_incomplete_ones_reported(tmp_path):
    trajectories = groups(**{f"g{n}": ["b", "a"] for n in range(3000)}, last=["x"])
    with Scorer(Rank(), backend="inline", cache=tmp_path / "cache.sqlite", group_size=2) as scorer:
        for _ in range(2):
            scored = list(scorer.score_stream(iter(trajectories)))
            assert [one.output.reward for one in scored] == [0.5, 0.0] * 3000 + [None]
            assert "incomplete" in scored[-1].output.reason
        assert scorer.stats.cached == 6000


def test_a_long_stream_through_the_cache_keeps_its_order(tmp_path):
    trajectories = [Trajectory(prompt="p", response=str(n % 700)) for n in range(10_000)]
    number = reward(deterministic=True)(lambda response: float(response))
    with Scorer(number, backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        scored = list(scorer.score_stream(iter(trajectories)))
    assert [one.output.reward for one in scored] == [float(n % 700) for n in range(10_000)]
    assert scorer.stats.scored == 700


def test_statistics_tell_how_the_run_went():
    def slow(response):
        import time

        time.sleep(0.02)
        return RewardOutput(1.0)

    with Scorer(slow, workers=2, deadline_s=5) as scorer:
        scorer.score(samples(*"abcdefgh"))
        told = scorer.stats.to_dict()
    assert told["scored"] == 8
    assert told["busy_s"] >= 8 * 0.02
    assert 0 < told["utilisation"] <= 1
    assert told["queued_s"]["p99"] >= told["queued_s"]["p50"] >= 0


def test_lost_workers_are_counted_and_logged(caplog):
    def fatal(response):
        import os

        if response == "exit":
            os._exit(5)
        return 1.0

    with Scorer(fatal, workers=1, deadline_s=5) as scorer, caplog.at_level("WARNING", "plaudit.engine"):
        scorer.score(samples("a", "exit", "b"))
    assert scorer.stats.workers_lost == {"exit code 5": 1}
    [record] = caplog.records
    assert (record.how, record.sample) == ("exit code 5", 1)
    assert record.pid > 0
