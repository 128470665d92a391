"""What a reward holds decides in how many processes it may live."""

import pytest
from torch import nn

from plaudit import CompositeReward, FunctionReward, RewardFunction, reward
from plaudit.compose import TaskReward
from plaudit.contract.contents import copies_of, count_workers, rewards_within, warm_up
from plaudit.rewards import LengthReward

classifier = nn.Linear(2, 1)


class Heavy(RewardFunction):
    copies = 1

    def __init__(self):
        self.warm = 0

    def warm_up(self):
        self.warm += 1

    def compute_reward(self, trajectory):
        return 1.0


class Foreign(RewardFunction):
    """Loads its model when it is made, as in document 000."""

    def __init__(self):
        self.classifier = nn.Linear(2, 1)

    def compute_reward(self, trajectory):
        return 1.0


def uses_a_global(response):
    return float(classifier.weight[0, 0] > 0)


def helps(response):
    return uses_a_global(response)


@pytest.mark.parametrize(
    ("held", "copies"),
    [
        (LengthReward(), None),
        (Heavy(), 1),
        (0.5 * LengthReward() + 0.5 * Heavy(), 1),
        ((LengthReward() + Heavy()).clip().normalized("group"), 1),
        (((Heavy() + 1).gate(on=LengthReward(), at=0.5).clip().sigmoid() * LengthReward()).floor(0.1), 1),
        (TaskReward({"chat": Heavy()}, default=LengthReward()), 1),
        (TaskReward({"math": LengthReward()}, default=Heavy().sigmoid()), 1),
        (Foreign(), 1),
        (CompositeReward([(Foreign(), 1.0)]), 1),
        (FunctionReward(uses_a_global), 1),
        (FunctionReward(helps), 1),
        (reward(lambda response: 1.0), None),
    ],
    ids=repr,
)
def test_a_model_anywhere_within_limits_the_processes(held, copies):
    assert copies_of(held) == copies
    assert count_workers(held, 8) == (copies or 8)


def test_a_reward_that_declares_more_copies_gets_more_workers():
    heavy = Heavy()
    heavy.copies = 3
    assert count_workers(heavy, 8) == 3
    assert count_workers(heavy, 2) == 2


def test_everything_within_is_warmed_up_once():
    heavy = Heavy()
    total = heavy + 0.5 * heavy + LengthReward()
    warm_up(total)
    assert heavy.warm == 1
    assert {type(each).__name__ for each in rewards_within(total)} == {"CompositeReward", "Heavy", "LengthReward"}
