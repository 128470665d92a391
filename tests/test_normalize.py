import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardFunction, RewardOutput, Status, Trajectory, score
from plaudit.normalize import (
    NORMALIZERS,
    GroupNormalizer,
    Moments,
    RunningNormalizer,
    normalizer,
)

VALUES = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=12)


def normalized(how, values, groups=None, tasks=None):
    count = len(values)
    scaled = normalizer(how).normalize(values, groups or [0] * count, tasks or [None] * count)
    return [None if one is None else one.value for one in scaled]


@pytest.mark.parametrize("how", NORMALIZERS)
@given(values=VALUES)
def test_every_normaliser_is_finite_and_keeps_unscored_unscored(how, values):
    result = normalized(how, values)
    assert [value is None for value in values] == [value is None for value in result]
    assert all(math.isfinite(value) for value in result if value is not None)


@pytest.mark.parametrize("how", NORMALIZERS)
@given(values=st.lists(st.integers(-100, 100), min_size=2, max_size=12))
def test_every_normaliser_keeps_the_order(how, values):
    result = normalized(how, [float(value) for value in values])
    for x, fx in zip(values, result, strict=True):
        for y, fy in zip(values, result, strict=True):
            assert fx <= fy + 1e-12 if x <= y else fx >= fy - 1e-12


def test_zscore_has_mean_zero_and_deviation_one():
    result = normalized("zscore", [1.0, 2.0, 3.0, 10.0])
    assert statistics.fmean(result) == pytest.approx(0.0, abs=1e-9)
    assert statistics.pstdev(result) == pytest.approx(1.0, rel=1e-5)


def test_minmax_reaches_both_ends_and_a_constant_is_the_middle():
    assert normalized("minmax", [2.0, 3.0, 4.0]) == [0.0, 0.5, 1.0]
    assert normalized("minmax", [7.0, None, 7.0]) == [0.5, None, 0.5]


def test_group_normalisation_stays_within_groups_and_is_unbiased():
    result = normalized("group", [1.0, 0.0, 5.0, 5.0, None, 3.0], groups=["a", "a", "b", "b", "c", "c"])
    deviation = statistics.stdev([1.0, 0.0])
    assert result[:2] == pytest.approx([0.5 / (deviation + 1e-6), -0.5 / (deviation + 1e-6)])
    assert result[2:] == [0.0, 0.0, None, 0.0]
    assert normalized(GroupNormalizer(scale=False), [1.0, 0.0]) == [0.5, -0.5]


def test_ties_share_their_mid_rank():
    assert normalized("rank", [10.0, 20.0, 20.0, 30.0]) == [0.125, 0.5, 0.5, 0.875]
    assert normalized("quantile", [10.0, 20.0, 20.0, 30.0])[1] == pytest.approx(0.0)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.integers(0, 30))
def test_moments_merged_from_two_processes_equal_those_of_one(values, cut):
    whole, left, right = Moments(), Moments(), Moments()
    for value in values:
        whole.add(value)
    for value in values[:cut]:
        left.add(value)
    for value in values[cut:]:
        right.add(value)
    left.merge(right)
    assert left.count == whole.count
    assert left.mean == pytest.approx(whole.mean, abs=1e-6)
    assert left.std == pytest.approx(statistics.pstdev(values), abs=1e-6)


def test_running_normalisation_keeps_tasks_apart_and_merges():
    running = RunningNormalizer()
    tasks = ["math", "math", "chat", "chat"]
    assert normalized(running, [0.0, 1.0, 100.0, 300.0], tasks=tasks) == pytest.approx([-1, 1, -1, 1], rel=1e-4)
    other = RunningNormalizer()
    normalized(other, [2.0], tasks=["math"])
    running.merge(other)
    assert running.moments["math"].mean == pytest.approx(1.0)
    assert running.moments["chat"].count == 2


class FromMetadata(RewardFunction):
    def compute_reward(self, trajectory):
        raw = trajectory.metadata["raw"]
        return RewardOutput(raw, [raw, raw], score=1.0) if raw is not None else None


def samples(raws):
    return [
        Trajectory(prompt="p", response="w w", metadata={"raw": raw}, group=place // 2)
        for place, raw in enumerate(raws)
    ]


def test_a_normalised_reward_keeps_the_raw_one_its_score_and_stretched_token_rewards():
    outputs = score(FromMetadata().normalized("minmax"), samples([0.0, 2.0, None, 4.0]))
    assert [output.reward for output in outputs] == [0.0, 0.5, None, 1.0]
    assert outputs[3].components["raw"].reward == 4.0
    assert outputs[3].token_rewards == [1.0, 1.0]
    assert outputs[3].score == 1.0
    assert outputs[2].status is Status.SKIPPED


def test_ranks_have_no_slope_so_token_rewards_are_left_out():
    assert score(FromMetadata().normalized("rank"), samples([0.0, 2.0]))[0].token_rewards is None


def test_a_normalised_reward_declares_what_it_looks_at():
    raw = FromMetadata()
    assert raw.normalized("group").scope == "group"
    assert raw.normalized("zscore").scope == "batch"
    assert not raw.normalized("running").deterministic
    assert (raw + raw.normalized("group")).scope == "group"
