import json
import random
import statistics
import tracemalloc

import pytest

from plaudit import RewardOutput, Status, Trajectory, jsonline
from plaudit.report.collecting import summarize, summary_of
from plaudit.report.coverage import Failure
from plaudit.report.figures import SlowSample
from plaudit.report.table import SampleTable


def sample(reward, *, score=None, group=None, response="r", name=None, **more):
    return Trajectory("p", response, group=group, id=name), RewardOutput(reward, score=score, **more)


def failed(status, reason, name=None):
    return Trajectory("p", "r", id=name), RewardOutput.unscored(status, reason)


def test_samples_are_counted_by_status():
    summary = summarize([sample(1.0), failed(Status.ERROR, "x"), failed(Status.TIMEOUT, "y"), sample(0.0)])
    assert (summary.count, summary.ok) == (4, 2)
    assert summary.statuses == {"ok": 2, "error": 1, "timeout": 1}


def test_samples_that_were_not_scored_never_count_as_zero():
    summary = summarize([sample(1.0, score=1.0), failed(Status.ERROR, "x")])
    assert (summary.reward.count, summary.reward.mean, summary.reward.min) == (1, 1.0, 1.0)
    assert summary.score.count == 1


def test_nothing_scored_at_all_has_no_distributions():
    summary = summarize([failed(Status.ERROR, "x")] * 3)
    assert (summary.reward, summary.score, summary.latency) == (None, None, None)
    assert summary.components == {}
    assert summary.groups.dead == 0


def test_no_samples_at_all_is_a_summary_too():
    summary = summarize([])
    assert (summary.count, summary.statuses, summary.reward, summary.failures) == (0, {}, None, ())


def test_components_at_any_depth_are_summed_up_under_their_paths():
    inner = RewardOutput(0.5, latency_s=0.2)
    parts = {
        "a": RewardOutput(1.0, latency_s=0.1, components={"b": inner}),
        "c": RewardOutput.unscored(Status.ERROR, "x"),
    }
    summary = summarize([sample(1.0, components=parts)] * 4)
    assert list(summary.components) == ["a", "a/b"]
    assert summary.components["a/b"].mean == 0.5
    assert summary.component_latency["a/b"].p95 == pytest.approx(0.2)


def test_latency_quantiles_agree_with_the_standard_library():
    rng = random.Random(0)
    seconds = [rng.expovariate(10) for _ in range(1000)]
    latency = summarize(sample(0.0, latency_s=value) for value in seconds).latency
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    assert (latency.p50, latency.p95, latency.p99) == pytest.approx((cuts[49], cuts[94], cuts[98]))


def test_the_slowest_samples_come_slowest_first_with_index_and_id():
    seconds = [0.1, 0.9, 0.3, 0.8, 0.5, 0.7, 0.2]
    summary = summarize(sample(0.0, latency_s=value, name=f"s{i}") for i, value in enumerate(seconds))
    assert [slow.index for slow in summary.slowest] == [1, 3, 5, 4, 2]
    assert summary.slowest[0] == SlowSample(1, "s1", 0.9)


def test_equally_slow_samples_with_ids_of_any_kind_keep_their_order():
    names = ["a", None, 3, "b", None, 7, "c"]
    summary = summarize(sample(0.0, latency_s=1.0, name=name) for name in names)
    assert [slow.id for slow in summary.slowest] == ["a", None, 3, "b", None]


def test_equal_causes_count_together_whatever_the_sample():
    names = [None, 4, "x", "it's", "quote '\" and ): more", "\ud800"]
    scored = [failed(Status.ERROR, "math raised ValueError", name) for name in names]
    assert summarize(scored).failures == (Failure("error", "math raised ValueError", 6, "sample 0"),)


def test_the_most_common_failures_come_first():
    reasons = [f"cause {letter}" for count, letter in enumerate("abcdefgh", start=1) for _ in range(count)]
    failures = summarize(failed(Status.ERROR, reason) for reason in reasons).failures
    assert [failure.reason for failure in failures] == [f"cause {letter}" for letter in "hgfedcba"]
    assert failures[0].example == "sample 28"


def test_a_reason_that_only_mentions_a_sample_is_kept_whole():
    (failure,) = summarize([failed(Status.ERROR, "no sample 3: empty")]).failures
    assert failure.reason == "no sample 3: empty"


def test_reasons_without_end_are_counted_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("plaudit.report.coverage.MAX_KINDS", 3)
    failures = summarize(failed(Status.ERROR, f"cause {letter}") for letter in "abcdefghij").failures
    assert (failures[0].reason, failures[0].count) == ("(further reasons)", 7)


def test_a_summary_is_plain_json():
    parts = {"a": RewardOutput(0.5, latency_s=0.1)}
    plain = summarize([sample(1.0, score=1.0, components=parts, latency_s=0.2), failed(Status.ERROR, "x")]).to_dict()
    assert json.loads(jsonline.encode(plain))["reward"]["mean"] == 1.0
    assert plain["failures"][0]["reason"] == "x"
    assert plain["groups"]["dead"] == 0


def test_a_summary_can_be_asked_for_while_samples_come_in():
    table = SampleTable()
    table.add(*sample(1.0))
    assert summary_of(table).count == 1
    table.add(*sample(0.0))
    assert summary_of(table).reward.mean == 0.5


def test_samples_are_kept_as_bare_numbers():
    table = SampleTable()
    tracemalloc.start()
    try:
        for index in range(20_000):
            prompt = f"{index % 2000}" * 200
            table.add(Trajectory(prompt, "r" * 1000), RewardOutput(0.5, score=1.0, latency_s=0.1))
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000  # prompts and responses together are thirty million bytes
