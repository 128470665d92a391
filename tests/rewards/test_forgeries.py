"""Programs that cheat earn nothing."""

import pytest

from plaudit import Trajectory
from plaudit.rewards import CodeReward
from tests.rewards.forgery_list import ASSERTS, CALLS, FILE, FORGERIES, STREAM

HONEST = """
def total(numbers):
    return sum(n * n for n in numbers)

if __name__ == "__main__":
    print(total(map(int, input().split())))
"""


def sample(source, truth):
    return Trajectory(prompt="Sum the squares.", response=f"```python\n{source}```", ground_truth=truth)


@pytest.fixture(scope="module")
def outputs():
    reward = CodeReward(cpu_s=0.3)
    scored = reward.compute_rewards([sample(forgery.source, forgery.truth) for forgery in FORGERIES])
    return {forgery.name: output for forgery, output in zip(FORGERIES, scored, strict=True)}


@pytest.mark.parametrize("name", [forgery.name for forgery in FORGERIES])
def test_a_forgery_earns_nothing(outputs, name):
    assert outputs[name].reward == 0.0, outputs[name].reason
    assert outputs[name].score == 0.0


@pytest.mark.parametrize("truth", [ASSERTS, FILE, STREAM, CALLS], ids=["asserts", "test file", "streams", "calls"])
def test_an_honest_program_passes_the_tests_that_the_forgeries_fail(truth):
    [output] = CodeReward().compute_rewards([sample(HONEST, truth)])
    assert output.reward == 1.0, output.reason


def test_names_of_forgeries_are_unique_and_there_are_enough():
    names = [forgery.name for forgery in FORGERIES]
    assert len(set(names)) == len(names) >= 100
