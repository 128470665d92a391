import math
import random

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report.collecting import summarize
from plaudit.report.table import SampleTable


def groups_of(*samples):
    """The groups of samples given as (group, reward, score, length)."""
    return summarize(
        (Trajectory("p", "r" * length, group=group), RewardOutput(reward, score=score))
        for group, reward, score, length in samples
    ).groups


def test_a_group_is_dead_when_its_rewards_are_equal():
    groups = groups_of(("a", 1.0, None, 1), ("b", 1.0, None, 1), ("a", 0.5, None, 1), ("b", 1.0 + 1e-12, None, 1))
    assert (groups.count, groups.compared, groups.dead) == (2, 2, 1)


DEAD = {
    "all right": ([1.0, 1.0], (1, 0, 0)),
    "all wrong": ([0.0, 0.0], (0, 1, 0)),
    "half right": ([0.5, 0.5], (0, 0, 1)),
    "mixed": ([1.0, 0.0], (0, 0, 1)),
    "no score": ([None, None], (0, 0, 1)),
    "one without score": ([1.0, None], (0, 0, 1)),
    "one without score before": ([None, 0.0], (0, 0, 1)),
}


@pytest.mark.parametrize(("scores", "expected"), DEAD.values(), ids=DEAD)
def test_dead_groups_are_classified_by_score(scores, expected):
    groups = groups_of(*(("g", 0.7, score, 1) for score in scores))
    assert (groups.dead_right, groups.dead_wrong, groups.dead_other) == expected


def test_a_group_of_one_is_not_dead():
    groups = groups_of(("a", 1.0, 1.0, 1), ("b", 1.0, 1.0, 1))
    assert (groups.count, groups.compared, groups.dead) == (2, 0, 0)


def test_samples_that_were_not_scored_make_no_group_dead():
    unscored = RewardOutput.unscored(Status.ERROR, "x")
    groups = summarize([(Trajectory("p", "r"), RewardOutput(1.0)), (Trajectory("p", "r"), unscored)]).groups
    assert (groups.count, groups.compared, groups.dead) == (1, 0, 0)


def test_samples_without_a_group_are_grouped_by_prompt():
    prompts = ["a", "b", "a", [{"role": "user", "content": "a"}], "\ud800"]
    groups = summarize((Trajectory(prompt, "r"), RewardOutput(1.0)) for prompt in prompts).groups
    assert (groups.count, groups.compared) == (3, 1)


def correlation(pairs):
    left, right = zip(*pairs, strict=True)
    left_mean, right_mean = sum(left) / len(left), sum(right) / len(right)
    both = sum((a - left_mean) * (b - right_mean) for a, b in pairs)
    return both / math.sqrt(sum((a - left_mean) ** 2 for a in left) * sum((b - right_mean) ** 2 for b in right))


def test_length_correlation_is_that_of_deviations_from_the_group_mean():
    rng = random.Random(3)
    samples = [(rng.randrange(8), rng.random(), None, rng.randrange(1, 100)) for _ in range(300)]
    pairs = []
    for name in range(8):
        members = [(reward, length) for group, reward, _, length in samples if group == name]
        means = [sum(column) / len(members) for column in zip(*members, strict=True)]
        pairs += [(reward - means[0], length - means[1]) for reward, length in members]
    assert groups_of(*samples).length_correlation == pytest.approx(correlation(pairs))


def test_groups_that_differ_in_length_and_reward_feign_no_correlation():
    rows = [("easy", 1.0, None, 10), ("easy", 0.0, None, 10), ("hard", 9.0, None, 90), ("hard", 5.0, None, 90)]
    assert groups_of(*rows).length_correlation is None


def test_longer_and_better_in_every_group_is_a_correlation_of_one():
    rows = [(group, float(step), None, 10 + step) for group in "ab" for step in range(3)]
    assert groups_of(*rows).length_correlation == pytest.approx(1.0)


def test_the_largest_rewards_give_no_correlation_and_no_error():
    groups = groups_of(("a", 1.7e308, None, 1), ("a", -1.7e308, None, 2), ("a", 1.0, None, 3))
    assert (groups.length_correlation, groups.dead) == (None, 0)


def test_groups_are_numbered_as_by_a_dict():
    draw, table, names = random.Random(2), SampleTable(), {}
    for _ in range(3000):
        group, step = draw.choice([draw.randrange(500), str(draw.randrange(9)), None]), draw.choice([None, -1, 0, 7])
        prompt = f"p{draw.randrange(9)}"
        name = (prompt if group is None else "", repr(group), step)
        expected = names.setdefault(name, len(names))
        row = table.add(Trajectory(prompt, "r", group=group, training_step=step), RewardOutput(1.0))
        assert table.groups[row] == expected
    assert table.samples().group_count == len(names) > 500
