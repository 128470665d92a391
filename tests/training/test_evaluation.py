"""pass@k counts what was drawn, and is not fooled by what was not scored."""

import itertools
import statistics

import pytest

from plaudit import RewardOutput, Status, Tokens, Trajectory
from plaudit.errors import InvalidSettings
from plaudit.report.coverage import CoveredMean
from plaudit.training.evaluation import evaluate, pass_at_k


@pytest.mark.parametrize(("samples", "right", "k"), [(4, 1, 1), (4, 1, 2), (5, 2, 3), (6, 0, 2), (6, 6, 4), (7, 3, 7)])
def test_pass_at_k_is_the_share_of_all_choices_with_a_right_one(samples, right, k):
    outcomes = [True] * right + [False] * (samples - right)
    expected = statistics.fmean(any(choice) for choice in itertools.combinations(outcomes, k))
    assert pass_at_k(samples, right, k) == pytest.approx(expected)


@pytest.mark.parametrize(("samples", "right", "k"), [(4, 5, 1), (4, 1, 5), (4, 1, 0), (0, 0, 1)])
def test_pass_at_k_of_impossible_numbers_is_an_error(samples, right, k):
    with pytest.raises(InvalidSettings):
        pass_at_k(samples, right, k)


def answers(prompt, *scores):
    unscored = RewardOutput.unscored(Status.ERROR, "boom")
    return [
        (Trajectory(prompt, "a b"), unscored if score is None else RewardOutput(score * 2, score=score))
        for score in scores
    ]


def test_an_evaluation_tells_score_reward_and_pass_at_k():
    found = evaluate([*answers("p", 1, 0, 0, 0), *answers("q", 1, 1, 0.5, 1)], pass_at=(1, 2))
    assert found.score.scored == found.score.overall == pytest.approx((1 + 3.5) / 8)
    assert found.reward.scored == pytest.approx(2 * (1 + 3.5) / 8)
    assert [found.pass_at[k].scored for k in (1, 2)] == pytest.approx([(0.25 + 0.75) / 2, (0.5 + 1.0) / 2])
    assert (found.prompts, found.samples, found.unscored, found.length) == (2, 8, 0, 2.0)
    means = ("eval/score", "eval/reward", "eval/pass@1", "eval/pass@2")
    coverage = {f"{name}{ending}" for name in means for ending in ("", "_all", "_unscored")}
    assert set(found.metrics()) == coverage | {"eval/length", "eval/unscored"}


def test_an_unscored_sample_is_not_a_wrong_one():
    found = evaluate([*answers("p", 1, None, 1), *answers("q", None, None, None)], pass_at=(1, 2, 3))
    assert found.score == CoveredMean(1.0, pytest.approx(2 / 6), pytest.approx(4 / 6))
    assert {k: mean.scored for k, mean in found.pass_at.items()} == {1: 1.0, 2: 1.0, 3: None}
    assert {k: mean.overall for k, mean in found.pass_at.items()} == pytest.approx({1: 1 / 3, 2: 1 / 2, 3: 1 / 2})
    assert found.unscored == 4
    assert found.metrics()["eval/unscored"] == pytest.approx(4 / 6)
    assert "eval/pass@3" not in found.metrics()


def test_partial_credit_is_not_a_pass_unless_it_is_said_to_be():
    assert evaluate(answers("p", 0.5, 0.5)).pass_at[1].scored == 0.0
    assert evaluate(answers("p", 0.5, 0.5), right=0.5).pass_at[1].scored == 1.0


def test_a_reward_without_scores_has_no_pass_at_k_but_a_reward():
    found = evaluate([(Trajectory("p", "a", tokens=Tokens([1, 2, 3])), RewardOutput(0.3))])
    assert (found.score.scored, found.pass_at[1].scored, found.reward.scored, found.length) == (None, None, 0.3, 3.0)
    assert "eval/reward" in found.metrics()
    assert not {"eval/score", "eval/score_all", "eval/pass@1"} & set(found.metrics())


def test_nothing_evaluated_is_no_number():
    found = evaluate([])
    assert found.score.scored is found.reward.scored is None
    assert found.metrics() == {"eval/length": 0.0, "eval/unscored": 0.0}
