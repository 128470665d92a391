"""Each statistic of numbers against another way to compute it."""

import itertools
import math
import statistics

import numpy as np
import pytest

from plaudit.report.advice import remarks
from plaudit.report.collecting import collect_figures, summary_of
from plaudit.report.statistics.groups import component_shares, length_bias, pass_at_k, pass_rates, summarize_groups
from plaudit.report.statistics.steps import ks_distance, measure_drift, step_curve
from plaudit.report.table import MAX_COMPONENTS
from tests.report.statistics.runs import random_run, rollout, samples_of, table_of


def centred(values, groups):
    """Deviations from the group's means, by numpy."""
    values, groups = np.asarray(values, float), np.asarray(groups)
    return values - np.array([values[groups == group].mean() for group in groups])


def columns(run):
    groups = [one.trajectory.group for one in run]
    rewards = centred([one.output.reward for one in run], groups)
    parts = {
        name: centred([one.output.components[name].reward for one in run], groups) for name in run[0].output.components
    }
    return groups, rewards, parts


def test_component_shares_are_those_of_a_linear_regression_within_groups():
    run = random_run()
    _, rewards, parts = columns(run)
    weights = np.linalg.lstsq(np.stack(list(parts.values()), axis=1), rewards, rcond=None)[0]
    found = component_shares(samples_of(run))
    assert found.explained == pytest.approx(1.0)
    assert found.samples == len(run)
    for name, weight in zip(parts, weights, strict=True):
        one = next(one for one in found.components if one.name == name)
        assert one.weight == pytest.approx(weight)
        assert one.share == pytest.approx(np.cov(weight * parts[name], rewards)[0, 1] / np.var(rewards, ddof=1))


def test_a_product_is_not_explained_by_a_sum_and_a_constant_component_has_no_weight():
    run = [
        rollout(a * b, group=group, a=a, b=b, c=1.0)
        for group in range(3)
        for a, b in itertools.product((0.0, 1.0, 3.0), repeat=2)
    ]
    found = component_shares(samples_of(run))
    assert found.explained < 0.95
    assert next(one for one in found.components if one.name == "c").share is None


def test_components_of_samples_that_lack_one_are_left_out():
    run = [*random_run(groups=10), rollout(9.0, group=0, right=1.0)]
    assert component_shares(samples_of(run)).samples == len(run) - 1
    assert component_shares(samples_of(run)).explained == pytest.approx(1.0)


def test_phantom_groups_are_those_whose_rewards_differ_though_their_scores_do_not():
    run = [
        *(rollout(reward, score=1.0, group="phantom") for reward in (0.9, 1.0, 1.1)),
        *(rollout(reward, score=reward, group="live") for reward in (0.0, 1.0, 1.0)),
        *(rollout(1.0, score=1.0, group="right") for _ in range(3)),
        *(rollout(0.0, score=0.0, group="wrong") for _ in range(3)),
        *(rollout(0.5, group="unjudged") for _ in range(3)),
        rollout(1.0, score=1.0, group="alone"),
        rollout(None, group="unscored"),
    ]
    found = summarize_groups(samples_of(run))
    assert (found.live, found.phantom, found.dead_right, found.dead_wrong, found.dead_other) == (1, 1, 1, 1, 1)
    assert (found.single, found.compared, found.dead) == (2, 5, 3)
    squares = {"phantom": 0.02, "live": 2 / 3}
    assert found.phantom_share == pytest.approx(squares["phantom"] / sum(squares.values()))
    assert found.phantom_share_normalized == pytest.approx(0.5)
    assert found.effective_signal == pytest.approx((0 + 2 / 9 + 0 + 0) / 4)


def test_samples_of_one_prompt_at_two_steps_are_two_groups():
    run = [rollout(float(step), group="g", step=step) for step in (1, 1, 2, 2)]
    assert summarize_groups(samples_of(run)).dead == 2


def test_length_bias_is_the_correlation_of_deviations_split_by_right_and_wrong():
    run = random_run()
    found = length_bias(samples_of(run))
    for kept, correlation in ((None, found.overall), (1.0, found.right), (0.0, found.wrong)):
        chosen = [one for one in run if kept is None or one.output.score == kept]
        groups = [one.trajectory.group for one in chosen]
        lengths = centred([len(one.trajectory.response) for one in chosen], groups)
        rewards = centred([one.output.reward for one in chosen], groups)
        assert correlation.value == pytest.approx(np.corrcoef(lengths, rewards)[0, 1])
        assert correlation.low < correlation.value < correlation.high
    assert found.overall.value > 0.7
    assert found.right.low < 0 < found.right.high
    assert sum(one.count for one in found.bins) == len(run)
    assert found.bins[0].reward < 0 < found.bins[-1].reward


def test_the_interval_of_a_correlation_leaves_out_one_group_at_a_time():
    run = random_run(groups=8)
    found = length_bias(samples_of(run)).overall
    without = [
        length_bias(samples_of([one for one in run if one.trajectory.group != group])).overall.value
        for group in range(8)
    ]
    spread = 1.96 * math.sqrt(7 * statistics.pvariance(without))
    assert found.high - found.value == pytest.approx(min(spread, 1 - found.value))


@pytest.mark.parametrize("rewards", [[0.5, 0.5, 0.5], [0.1, 0.1, 0.1], [1e308, -1e308, 1e308]])
def test_constant_or_overflowing_rewards_have_no_correlation(rewards):
    run = [rollout(reward, response="w" * size, a=reward) for size, reward in enumerate(rewards)]
    assert length_bias(samples_of(run)).overall is None
    assert component_shares(samples_of(run)).explained is None


def test_pass_rates_count_groups_and_pass_at_k_is_the_mean_over_all_choices():
    solved = {"a": [1, 1, 0, 0], "b": [0, 0, 0, 0], "c": [1, 1, 1, 1], "d": [1, 0]}
    run = [rollout(0.0, score=float(one), group=group) for group, scores in solved.items() for one in scores]
    found = pass_rates(samples_of([*run, rollout(None, group="a"), rollout(1.0, group="e")]))
    assert (found.groups, found.never, found.always) == (4, 1, 1)
    assert [one.count for one in found.bins] == [0, 0, 0, 0, 0, 2, 0, 0, 0, 0]
    for one in found.pass_at:
        chances = [
            statistics.fmean(any(choice) for choice in itertools.combinations(scores, one.k))
            for scores in solved.values()
            if len(scores) >= one.k
        ]
        assert one.value == pytest.approx(statistics.fmean(chances))
        assert one.groups == len(chances)
    assert [one.k for one in found.pass_at] == [1, 2, 4]


def test_a_run_without_scores_has_no_pass_rates():
    assert pass_rates(samples_of([rollout(1.0), rollout(0.0)])) is None


def test_drift_compares_the_last_quarter_of_the_steps_with_the_first():
    run = [
        rollout(float(step >= 5), group=f"{step}-{place}", step=step, response="w" * 10)
        for step in range(1, 9)
        for place in range(20)
    ]
    found = {one.name: one for one in measure_drift(samples_of(run))}
    assert (found["reward"].early, found["reward"].late, found["reward"].ks) == (0.0, 1.0, 1.0)
    assert found["reward"].shift == pytest.approx(2.0)
    assert (found["length"].ks, found["length"].shift) == (0.0, None)


def test_drift_does_not_change_with_the_scale():
    early, late = sorted(np.random.default_rng(1).normal(size=200)), sorted(np.random.default_rng(2).gamma(2, size=150))
    grid = np.linspace(-5, 15, 20001)
    gap = np.abs(np.searchsorted(early, grid, "right") / 200 - np.searchsorted(late, grid, "right") / 150)
    assert ks_distance(early, late) == pytest.approx(gap.max(), abs=1e-3)
    scaled = [[100 * value + 7 for value in values] for values in (early, late)]
    assert ks_distance(*scaled) == pytest.approx(ks_distance(early, late))


def test_the_curve_has_a_point_per_step_with_means_and_shares_of_groups():
    run = [
        rollout(1.0, score=1.0, group="a", step=1, response="four", x=0.5),
        rollout(0.0, score=0.0, group="a", step=1, response="eight888", x=1.5),
        rollout(1.0, score=1.0, group="b", step=2),
        rollout(1.0, score=1.0, group="b", step=2),
        rollout(None, group="b", step=2),
    ]
    first, second = step_curve(samples_of(run))
    assert (first.reward, first.reward_std, first.score, first.length, first.dead) == (0.5, 0.5, 0.5, 6.0, 0.0)
    assert first.components == {"x": 1.0}
    assert (second.first, second.last, second.count, second.dead, second.reward_std) == (2, 2, 3, 1.0, 0.0)
    assert second.scored == pytest.approx(2 / 3)


def test_a_long_run_has_as_many_points_as_can_be_seen():
    points = step_curve(samples_of([rollout(1.0, step=step) for step in range(1, 1002)]))
    assert len(points) <= 200
    assert sum(point.count for point in points) == 1001
    assert (points[0].first, points[-1].last) == (1, 1001)


def test_saturation_counts_the_ends():
    values = [0.0, 0.0, 0.25, 1.0]
    found = summary_of(table_of([*(rollout(value) for value in values), rollout(None)])).reward
    assert (found.count, found.at_min, found.at_max) == (4, 0.5, 0.25)


@pytest.mark.parametrize(("size", "right"), [(1, 0), (1, 1), (7, 3), (40, 39), (60, 1), (60, 60)])
def test_pass_at_k_is_the_share_of_draws_that_hold_a_right_one(size, right):
    for k in range(1, size + 1):
        expected = 1 - math.comb(size - right, k) / math.comb(size, k)
        assert pass_at_k(size, right, k) == pytest.approx(expected, abs=1e-12)
    assert pass_at_k(200_000, 100_000, 65_536) == 1.0


def test_a_component_may_be_named_as_the_reward_is():
    run = [rollout(place % 2, score=1.0, step=place, reward=0.5, length=0.5) for place in range(100)]
    said = {one.topic: one.text for one in remarks(collect_figures(run))}
    assert "Every reward" not in said["rewards"]
    names = [(one.name, one.component) for one in measure_drift(samples_of(run))]
    assert sorted(names) == [("length", False), ("length", True), ("reward", False), ("reward", True), ("score", False)]


def test_lengths_that_are_equal_share_a_bin_whatever_they_earn():
    run = [rollout(reward, group=group, response="x" * 4) for group in range(9) for reward in (0.0, 0.5, 1.0)]
    assert [(one.count, one.reward) for one in length_bias(samples_of(run)).bins] == [(27, pytest.approx(0.0))]


@pytest.mark.parametrize("step", [-1, 0, -(10**30), 10**30])
def test_every_whole_number_is_a_step(step):
    (point,) = step_curve(samples_of([rollout(0.5, step=step), rollout(1.0, step=None)]))
    assert (point.count, point.reward) == (1, 0.5)


def test_names_made_up_for_every_sample_take_no_column_each():
    table = table_of([rollout(0.5, **{f"case{place}": 1.0}) for place in range(3 * MAX_COMPONENTS)])
    assert len(table.samples().components) == MAX_COMPONENTS


def test_rewards_near_the_largest_floats_have_figures():
    values = [1.7e308, -1e308, 0.0, 5e-324] * 4
    figures = collect_figures([rollout(value, group=place // 4) for place, value in enumerate(values)])
    assert figures.groups.live == 4
