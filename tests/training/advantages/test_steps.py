"""Credit of steps: discounted returns, steps compared in the same state or turn, episodes in their group."""

import pytest

from plaudit import RewardOutput, Status, Step, Tokens, Trajectory
from plaudit.training import BatchCredit
from plaudit.training.advantages.credit import find_steps
from plaudit.training.advantages.estimators import StepAdvantage, advantage, step_returns


def episode(*steps, state=None, group=0):
    """An episode of steps (said, earned) with one token each and a token of feedback between them."""
    listed, ids = [], []
    for place, (said, earned) in enumerate(steps):
        metadata = {"tokens": [len(ids), len(ids) + 1], **({"state": state} if state else {})}
        listed.append(Step("?" if place else "ask", said, earned, metadata))
        ids += [1, 0]
    ids = ids[:-1]
    tokens = Tokens(ids, mask=list(ids))
    return Trajectory("ask", "?".join(said for said, _ in steps), tokens=tokens, steps=listed, group=group)


def scored(*episodes):
    return [(each, RewardOutput(sum(step.reward or 0.0 for step in each.steps))) for each in episodes]


def test_a_step_earns_its_own_reward_and_a_discounted_part_of_the_later_ones():
    [(trajectory, output)] = scored(episode(("a", 1.0), ("b", 2.0), ("c", 4.0)))
    assert step_returns(find_steps(trajectory, output), 0.5) == [3.0, 4.0, 4.0]
    assert step_returns(find_steps(trajectory, output), 1.0) == [7.0, 6.0, 4.0]


def test_a_reward_without_step_rewards_is_given_to_the_last_step():
    steps = find_steps(episode(("a", None), ("b", None)), RewardOutput(1.0))
    assert [step.reward for step in steps] == [0.0, 1.0]


def test_steps_in_the_same_state_are_compared_and_others_are_not():
    """Both say "a" first, so their second steps share a state; the third episode goes elsewhere."""
    batch = BatchCredit.of(
        scored(episode(("a", 0.0), ("x", 1.0)), episode(("a", 0.0), ("y", 0.0)), episode(("b", 0.0), ("z", 0.0)))
    )
    by_state = StepAdvantage(episode_weight=0.0, scaled=False).estimate(batch)
    assert [values[2] for values in by_state] == [0.5, -0.5, 0.0]
    assert [values[0] for values in by_state] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    by_turn = StepAdvantage(by="turn", episode_weight=0.0, scaled=False).estimate(batch)
    assert [values[2] for values in by_turn] == pytest.approx([2 / 3, -1 / 3, -1 / 3])


def test_a_state_that_the_environment_names_joins_different_histories():
    named = [episode(("a", 0.0), ("x", 1.0), state="door"), episode(("b", 0.0), ("y", 0.0), state="door")]
    values = StepAdvantage(episode_weight=0.0, scaled=False).estimate(BatchCredit.of(scored(*named)))
    assert [own[2] for own in values] == [0.5, -0.5]


def test_gigpo_adds_the_advantage_of_the_episode_and_groups_stay_apart():
    pairs = scored(episode(("a", 1.0)), episode(("a", 0.0)), episode(("a", 5.0), group=1), episode(("a", 5.0), group=1))
    values = advantage("gigpo").estimate(BatchCredit.of(pairs))
    assert values[0][0] == pytest.approx(2 * 0.5**0.5, rel=1e-4)
    assert values[1][0] == pytest.approx(-2 * 0.5**0.5, rel=1e-4)
    assert values[2] == values[3] == [0.0]


def test_an_episode_without_a_reward_has_no_advantage_and_counts_nowhere():
    pairs = [
        *scored(episode(("a", 1.0)), episode(("a", 0.0))),
        (episode(("a", 9.0)), RewardOutput.unscored(Status.ERROR, "x")),
    ]
    values = advantage("turns").estimate(BatchCredit.of(pairs))
    assert values[2] is None
    assert values[0][0] == pytest.approx(-values[1][0])
