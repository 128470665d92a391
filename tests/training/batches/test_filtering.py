"""Filtering looks at scores: groups that teach nothing go, and what was not scored says nothing."""

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.errors import InvalidSettings, TrainingError
from plaudit.training.batches.filtering import GroupFilter

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
    "all wrong goes": (GroupFilter(), [0.0, 0.0, 0.0], False),
    "all right goes": (GroupFilter(), [1.0, 1.0, 1.0], False),
    "mixed stays": (GroupFilter(), [0.0, 1.0, 0.0], True),
    "graded and alike stays by mean": (GroupFilter(), [0.5, 0.5], True),
    "below a bound goes": (GroupFilter(low=0.2), [0.0, 0.0, 0.3], False),
    "at a bound goes": (GroupFilter(low=0.5), [0.0, 1.0], False),
    "above a bound goes": (GroupFilter(high=0.8), [1.0, 1.0, 1.0, 0.5], False),
    "alike goes by spread": (GroupFilter("spread"), [0.5, 0.5], False),
    "different stays by spread": (GroupFilter("spread"), [0.5, 0.6], True),
    "hardly different goes": (GroupFilter("spread", min_spread=0.2), [0.5, 0.6], False),
    "unscored do not count": (GroupFilter(), [1.0, None, 1.0], False),
    "the scored decide": (GroupFilter(), [1.0, None, 0.0], True),
    "nothing scored goes": (GroupFilter(), [None, None], False),
    "no filter keeps all": (GroupFilter("none"), [0.0, 0.0], True),
}


@pytest.mark.parametrize(("which", "scores", "stays"), CASES.values(), ids=CASES)
def test_a_group_stays_when_it_teaches(which, scores, stays):
    found = which(group("a", *scores))
    assert bool(found.kept) is stays
    assert found.share == (0.0 if stays else 1.0)


def test_whole_groups_stay_in_their_order_and_reasons_are_counted():
    batch = [*group("hard", 0, 0), *group("good", 0, None, 1), *group("easy", 1, 1), *group("lost", None)]
    found = GroupFilter()(batch)
    assert kept_groups(found) == ["good"]
    assert len(found.kept) == 3
    assert found.dropped == {"too hard": 1, "too easy": 1, "not scored": 1}
    assert found.groups == 4
    assert found.share == 0.75


def test_members_of_a_group_need_not_stand_together():
    (a1, a2), (b1, b2) = group("a", 0, 1), group("b", 0, 0)
    assert GroupFilter()([a1, b1, a2, b2]).kept == [a1, a2]


def test_the_shaped_reward_is_not_looked_at():
    rewards_differ = [(Trajectory("?", "!", group="a"), RewardOutput(reward, score=1.0)) for reward in (0.1, 0.9)]
    assert not GroupFilter("spread")(rewards_differ).kept


def test_a_reward_without_scores_cannot_filter():
    unjudged = [(Trajectory("?", "!"), RewardOutput(0.5))]
    with pytest.raises(TrainingError, match="needs a score of every sample"):
        GroupFilter()(unjudged)
    assert GroupFilter("none")(unjudged).kept == unjudged


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"by": "men"}, "did you mean 'mean'"), ({"low": 0.9, "high": 0.1}, "got low=0.9 and high=0.1")],
    ids=["unknown", "bounds"],
)
def test_a_filter_that_makes_no_sense_cannot_be_built(arguments, message):
    with pytest.raises(InvalidSettings, match=message):
        GroupFilter(**arguments)
