"""Twinkle: its rewards and its advantages."""

from suite import Shipped, load_shim
from twinkle.advantage import GRPOAdvantage
from twinkle.reward import MathReward

SYSTEM, DISTRIBUTION = "twinkle", "twinkle-kit"
RAN = "trajectories through the reward and GRPOAdvantage; its MathReward"


def trajectories(rollouts):
    return [
        {
            "messages": [
                {"role": "user", "content": each.prompt},
                {"role": "assistant", "content": each.response},
            ],
            "user_data": [("solution", each.truth)],
        }
        for each in rollouts
    ]


def rewards(shim, rollouts):
    values = load_shim(shim).reward(trajectories(rollouts))
    advantages = GRPOAdvantage()(values, num_generations=3, scale="group")
    if not all(abs(float(each)) < 10 for each in advantages):
        raise AssertionError(f"advantages {advantages}")
    return values


FORMS = {"twinkle": rewards}


def shipped():
    def home(rollouts):
        truths = [
            {"messages": [{"role": "user", "content": each.prompt}, {"role": "assistant", "content": each.truth}]}
            for each in rollouts
        ]
        return MathReward()(trajectories(rollouts), truths)

    yield Shipped("twinkle.reward:MathReward", home)
