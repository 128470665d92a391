"""Filtering looks at scores: groups that teach nothing go, and what was not scored says nothing."""

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.errors import TrainingError
from plaudit.training.collecting import filter_groups
from plaudit.training.config.schema import FilterConfig

UNSCORED = RewardOutput.unscored(Status.TIMEOUT, "too slow")


def group(name, *scores):
    return [
        (
            Trajectory("?", "!", group=name),
            UNSCORED if score is None else RewardOutput(score * 10 - 3, score=score),
        )
        for score in scores
    ]


def kept_groups(found):
    return list(dict.fromkeys(trajectory.group for trajectory, _ in found.kept))


CASES = {
    "all wrong goes": (FilterConfig(by="mean"), [0.0, 0.0, 0.0], False),
    "all right goes": (FilterConfig(by="mean"), [1.0, 1.0, 1.0], False),
    "mixed stays": (FilterConfig(by="mean"), [0.0, 1.0, 0.0], True),
    "graded and alike stays by mean": (FilterConfig(by="mean"), [0.5, 0.5], True),
    "below a bound goes": (FilterConfig(by="mean", low=0.2), [0.0, 0.0, 0.3], False),
    "at a bound goes": (FilterConfig(by="mean", low=0.5), [0.0, 1.0], False),
    "above a bound goes": (FilterConfig(by="mean", high=0.8), [1.0, 1.0, 1.0, 0.5], False),
    "alike goes by spread": (FilterConfig(by="spread"), [0.5, 0.5], False),
    "different stays by spread": (FilterConfig(by="spread"), [0.5, 0.6], True),
    "hardly different goes": (FilterConfig(by="spread", min_spread=0.2), [0.5, 0.6], False),
    "unscored do not count": (FilterConfig(by="mean"), [1.0, None, 1.0], False),
    "the scored decide": (FilterConfig(by="mean"), [1.0, None, 0.0], True),
    "nothing scored goes": (FilterConfig(by="mean"), [None, None], False),
    "no filter keeps all": (FilterConfig(), [0.0, 0.0], True),
}


@pytest.mark.parametrize(("settings", "scores", "stays"), CASES.values(), ids=CASES)
def test_a_group_with_a_learning_signal_is_kept(settings, scores, stays):
    found = filter_groups(group("a", *scores), settings)
    assert bool(found.kept) is stays
    assert bool(found.left_out) is not stays


def test_whole_groups_stay_in_their_order_and_reasons_are_counted():
    batch = [*group("hard", 0, 0), *group("good", 0, None, 1), *group("easy", 1, 1), *group("lost", None)]
    found = filter_groups(batch, FilterConfig(by="mean"))
    assert kept_groups(found) == ["good"]
    assert len(found.kept) == 3
    assert found.dropped == {"too hard": 1, "too easy": 1, "not scored": 1}
    assert len(found.left_out) == 5


def test_members_of_a_group_need_not_stand_together():
    (a1, a2), (b1, b2) = group("a", 0, 1), group("b", 0, 0)
    assert filter_groups([a1, b1, a2, b2], FilterConfig(by="mean")).kept == [a1, a2]


def test_the_shaped_reward_is_not_looked_at():
    rewards_differ = [(Trajectory("?", "!", group="a"), RewardOutput(reward, score=1.0)) for reward in (0.1, 0.9)]
    assert not filter_groups(rewards_differ, FilterConfig(by="spread")).kept


def test_a_reward_without_scores_cannot_filter():
    unjudged = [(Trajectory("?", "!"), RewardOutput(0.5))]
    with pytest.raises(TrainingError, match="needs a score of every sample"):
        filter_groups(unjudged, FilterConfig(by="mean"))
    assert filter_groups(unjudged, FilterConfig()).kept == unjudged
