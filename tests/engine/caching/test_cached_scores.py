"""The cache as users meet it: through the scorer and the command line."""

import textwrap

import pytest

from plaudit import Status, Trajectory, load, reward, score
from plaudit.contract.output import RewardOutput
from plaudit.engine import Cache, Scorer
from tests.engine.contract_rewards import Rank


@pytest.fixture
def counted(tmp_path):
    """A reward in a file that notes every call in another file, so that calls in workers count too."""
    calls = tmp_path / "calls"
    calls.touch()
    path = tmp_path / "counting.py"
    path.write_text(
        textwrap.dedent(f"""
            def counting(response, scale=1.0):
                with open({str(calls)!r}, "a") as file:
                    file.write("x")
                if response == "raise":
                    raise ValueError("no")
                return scale * len(response)
        """)
    )
    return f"{path}:counting", lambda: len(calls.read_text())


def samples(*responses):
    return [Trajectory(prompt="p", response=response, id=n) for n, response in enumerate(responses)]


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_what_is_known_is_not_scored_again_and_equal_samples_are_scored_once(counted, tmp_path, backend):
    spec, calls = counted
    trajectories = samples("a", "bb", "a", "ccc", "bb")
    with Scorer(spec, backend=backend, workers=2, cache=tmp_path / "cache.sqlite") as scorer:
        first = scorer.score(trajectories)
        assert (calls(), scorer.stats.duplicates, scorer.stats.cached) == (3, 2, 0)
    with Scorer(spec, backend=backend, workers=2, cache=tmp_path / "cache.sqlite") as scorer:
        again = scorer.score([*trajectories, *samples("new")])
        assert (calls(), scorer.stats.cached) == (4, 5)
        assert scorer.stats.hit_rate == pytest.approx(5 / 6)
    assert [output.reward for output in first] == [1.0, 2.0, 1.0, 3.0, 2.0]
    assert again[:5] == first


def test_failures_are_tried_again(counted, tmp_path):
    spec, calls = counted
    for expected_calls in (1, 2):
        outputs = score(spec, samples("raise", "raise"), cache=tmp_path / "cache.sqlite")
        assert calls() == expected_calls
        assert [output.status for output in outputs] == [Status.ERROR] * 2


def test_a_changed_reward_is_scored_anew(counted, tmp_path):
    spec, calls = counted
    cache = Cache(tmp_path / "cache.sqlite")
    with cache:
        score(spec, samples("a"), cache=cache)
        path = tmp_path / "counting.py"
        path.write_text(path.read_text().replace("scale * len", "2 * scale * len"))
        assert score(load(spec), samples("a"), cache=cache)[0].reward == 2.0
        assert calls() == 2


def test_rewards_that_are_not_deterministic_are_never_cached(tmp_path):
    drawn = iter(range(100))

    @reward(deterministic=False)
    def draw(response):
        return next(drawn)

    with Scorer(draw, backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
        scorer.score(samples("a", "a"))
        scorer.score(samples("a", "a"))
        assert (scorer.stats.scored, scorer.stats.cached, scorer.stats.duplicates) == (4, 0, 0)
    assert next(drawn) == 4


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


def test_a_group_of_which_the_cache_has_lost_a_part_is_scored_whole(tmp_path):
    class Forgetful(Cache):
        def get_many(self, keys):
            return dict(list(super().get_many(keys).items())[:1])

    with Forgetful(tmp_path / "cache.sqlite") as cache, Scorer(Rank(), backend="inline", cache=cache) as scorer:
        for _ in range(2):
            assert [output.reward for output in scorer.score(groups(g=["b", "a", "c"]))] == [1 / 3, 0.0, 2 / 3]
        assert (scorer.stats.scored, scorer.stats.cached) == (6, 0)


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
    with Scorer(lambda response: float(response), backend="inline", cache=tmp_path / "cache.sqlite") as scorer:
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
