"""No mean without its coverage: a mean never rises unseen because failing samples are no longer scored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report.advice import remarks
from plaudit.report.by_column import BreakdownBuilder
from plaudit.report.collecting import collect_figures, summarize
from plaudit.report.coverage import CoveredMean, format_mean, mean_reward, mean_score
from plaudit.rollouts import Rollout

UNSCORED = RewardOutput.unscored(Status.ERROR, "too long")


def scored(*values):
    return [UNSCORED if value is None else RewardOutput(value, score=value) for value in values]


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1))
def test_unscoring_a_failed_sample_never_raises_the_mean_over_all(values):
    before = CoveredMean.of(values)
    after = CoveredMean.of([None if value == 0.0 else value for value in values])
    assert after.overall == pytest.approx(before.overall)
    assert after.unscored >= before.unscored


def test_the_formatted_mean_shows_how_many_samples_were_unscored():
    before, after = (
        mean_score(scored(*[1.0] * 11, *[0.0] * 21)),
        mean_score(scored(*[1.0] * 11, *[0.0] * 12, *[None] * 9)),
    )
    assert (format_mean(before), format_mean(after)) == ("0.344", "0.478 (0.344 over all, 28% unscored)")


def test_a_sample_whose_reward_gives_no_score_is_not_part_of_the_mean_score():
    assert mean_score([RewardOutput(0.3), *scored(1.0, None)]) == CoveredMean(1.0, 0.5, 0.5)
    assert mean_reward([RewardOutput(0.0), *scored(1.0, None)]) == CoveredMean(
        0.5, pytest.approx(1 / 3), pytest.approx(1 / 3)
    )


def test_metrics_keep_the_coverage():
    mean = CoveredMean.of([1.0, None])
    assert CoveredMean.from_metrics(mean.to_metrics("eval/score"), "eval/score") == mean
    assert CoveredMean.of([None]).to_metrics("score") == {}


def test_summary_breakdown_and_remark_of_a_run_have_the_mean_over_all():
    pairs = [(Trajectory("p", "r", columns={"level": 1}), output) for output in scored(1.0, 0.5, None, None)]
    summary = summarize(pairs)
    assert (summary.reward.mean, summary.reward.mean_all, summary.reward.unscored) == (0.75, 0.375, 2)
    assert summary.to_dict()["score"]["mean_all"] == 0.375
    breakdown = BreakdownBuilder("level")
    for pair in pairs:
        breakdown.add(*pair)
    (one,) = breakdown.breakdown().slices
    assert (one.reward, one.reward_all, one.score, one.score_all) == (0.75, 0.375, 0.75, 0.375)
    said = {one.topic: one.text for one in remarks(collect_figures(Rollout(*pair) for pair in pairs))}
    assert "0.75 (0.375 over all, 50% unscored)" in said["rewards"]


def test_a_component_is_unscored_where_it_has_no_number_and_where_nothing_is_listed():
    listed = RewardOutput.unscored(Status.ERROR, "late", components={"a": RewardOutput(1.0), "b": UNSCORED})
    summary = summarize(
        (Trajectory("p", "r"), output)
        for output in [listed, UNSCORED, RewardOutput(1.0, components={"a": RewardOutput(0.0)})]
    )
    assert (summary.components["a"].mean, summary.components["a"].unscored) == (0.5, 1)
