"""Rewards of tasks on one scale, whatever theirs is."""

import json

import pytest

from plaudit.training.advantages.credit import BatchCredit, Credit, TaskScale
from plaudit.training.advantages.estimators import DrGRPOAdvantage

TASKS = ["small"] * 4 + ["large"] * 4


def credit(rewards, **more):
    return BatchCredit([None if reward is None else Credit.whole(reward, 2) for reward in rewards],
                       [0] * 4 + [1] * 4, **more)  # fmt: skip


def largest(batch_credit, places):
    estimates = DrGRPOAdvantage().estimate(batch_credit)
    return max(abs(value) for place in places for value in estimates[place] or [0.0])


def test_a_task_of_a_hundred_times_the_scale_gets_advantages_of_the_same_size():
    plain = credit([0.0, 1.0, 0.0, 1.0, 0.0, 100.0, 0.0, 100.0])
    assert largest(plain, range(4, 8)) == pytest.approx(100 * largest(plain, range(4)))
    scaled = TaskScale().normalize(plain, TASKS)
    assert largest(scaled, range(4, 8)) == pytest.approx(largest(scaled, range(4)))


def test_unscored_credits_stay_none_and_do_not_change_the_moments():
    scale = TaskScale()
    scaled = scale.normalize(credit([0.0, None, 1.0, None, 5.0, 5.0, 5.0, 5.0]), TASKS)
    assert [each is None for each in scaled.credits] == [False, True, False, True, False, False, False, False]
    assert scale.moments["small"].count == 2
    assert {each.total for each in scaled.credits[4:]} == {0.0}  # a spread of nothing divides nothing


def test_token_rewards_are_scaled_with_the_whole():
    given = BatchCredit([Credit(1.0, [0.5, 0.0], [1, 1]), Credit(0.0, [0.5, 0.0], [1, 1])], ["g", "g"])
    scaled = TaskScale().normalize(given, [None, None])
    assert [each.total for each in scaled.credits] == pytest.approx([1.0, -1.0])
    assert scaled.credits[0].tokens == pytest.approx([1.0, 0.0])


def test_a_restored_scale_continues_with_what_it_has_seen():
    scale, other = TaskScale(), TaskScale()
    scale.normalize(credit([0.0, 1.0, 2.0, 3.0, 0.0, 10.0, 20.0, 30.0]), TASKS)
    other.restore(json.loads(json.dumps(scale.state())))
    later = credit([1.0, 1.0, 0.0, 3.0, 7.0, 7.0, 0.0, 1.0])
    assert other.normalize(later, TASKS) == scale.normalize(later, TASKS)
    assert other.metrics() == scale.metrics()
