"""Document 002's samples, with their import lines and without Twinkle."""

import pytest

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples
from plaudit.dialects import stub_finder
from plaudit.dialects.packages.twinkle_rewards import TwinkleTrajectory
from plaudit.errors import RewardNotLoaded

CLASS = """
    from typing import List
    from twinkle.reward import Reward
    from twinkle.data_format import Trajectory

    class CustomReward(Reward):
        def __call__(self, trajectories: List[Trajectory], ground_truths: List[Trajectory]):
            return [self._evaluate(traj, gt) for traj, gt in zip(trajectories, ground_truths)]

        def _evaluate(self, traj, gt):
            return 1.0 if traj.response == gt.response else 0.0
"""

FUNCTION = """
    def my_reward(trajectories, ground_truths):
        return [1.0 if t == gt else 0.0 for t, gt in zip(trajectories, ground_truths)]
"""

REAL_CLASS = """
    class Accuracy:
        def __call__(self, trajectories, **kwargs):
            return [self._score(trajectory) for trajectory in trajectories]

        def _score(self, trajectory):
            truth = next((value for key, value in trajectory.get("user_data", []) if key == "ground_truth"), None)
            said = [message["content"] for message in trajectory["messages"] if message["role"] == "assistant"]
            return float(said[-1] == truth)
"""

BATCH = [Trajectory("2+2?", "4", ground_truth="4"), Trajectory("2+3?", "6", ground_truth="5")]


def rewards(reward, batch=BATCH):
    return [output.reward for output in score_samples(reward, batch)]


@pytest.mark.parametrize(
    ("source", "convention"),
    [
        pytest.param(CLASS, "Twinkle class", id="class"),
        pytest.param("    from __future__ import annotations\n" + CLASS, "Twinkle class", id="text annotations"),
        pytest.param(FUNCTION, "Twinkle function", id="function"),
        pytest.param(REAL_CLASS, "Twinkle class", id="class that reads dicts"),
        pytest.param(FUNCTION.replace("def", "async def"), "Twinkle function", id="async function"),
    ],
)
def test_the_right_answer_earns_one_and_the_wrong_one_zero(loaded, source, convention):
    result = loaded(source)
    assert rewards(result.reward) == [1.0, 0.0]
    assert result.convention == convention


def test_a_function_that_compares_the_response_with_a_plain_truth_works(loaded):
    result = loaded("""
        def my_reward(trajectories, ground_truths):
            return [1.0 if t.response == gt else 0.0 for t, gt in zip(trajectories, ground_truths)]
    """)
    assert rewards(result.reward) == [1.0, 0.0]


def test_a_number_as_ground_truth_equals_the_same_number_as_text(loaded):
    batch = [Trajectory("2+2?", "4", ground_truth=4), Trajectory("2+2?", "5", ground_truth=4)]
    assert rewards(loaded(FUNCTION).reward, batch) == [1.0, 0.0]


def test_a_twinkle_class_gets_its_dicts_inside_a_composite_too(loaded):
    assert rewards(0.5 * loaded(CLASS).reward + 0.25) == [0.75, 0.25]


def test_calling_a_loaded_function_passes_the_ground_truths_as_given(loaded):
    seen = loaded("""
        def my_reward(trajectories, ground_truths):
            return [float(truth == {"as": "given"}) for truth in ground_truths]
    """).reward
    assert seen(BATCH, [{"as": "given"}, "other"]) == [1.0, 0.0]


def test_calling_a_loaded_class_with_trajectories_as_truths_compares_responses(loaded):
    reward = loaded(CLASS).reward
    assert reward(BATCH, [Trajectory("", "4"), Trajectory("", "5")]) == [1.0, 0.0]


def test_the_builtin_math_reward_of_the_document_gives_one_and_zero(loaded):
    result = loaded("""
        from twinkle.reward import MathReward
        reward_fn = MathReward()
    """)
    batch = [
        Trajectory("2+2?", r"The answer is \boxed{4}", ground_truth="4"),
        Trajectory("2+2?", r"The answer is \boxed{5}", ground_truth="4"),
    ]
    assert result.reward(batch, ["4", "4"]) == [1.0, 0.0]


def test_a_reward_class_without_a_call_is_refused_when_named(loaded):
    with pytest.raises(ImportError, match="is the class Empty, not a reward"):
        loaded("from twinkle.reward import Reward\nclass Empty(Reward): pass", "Empty")


def test_too_few_values_are_an_error_with_both_numbers(loaded):
    result = loaded("def my_reward(trajectories, ground_truths): return [1.0]")
    outputs = score_samples(result.reward, BATCH)
    assert {output.status for output in outputs} == {Status.ERROR}
    assert "1 values for 2 samples" in outputs[0].reason


def test_rewards_are_given_dicts_with_messages_and_user_data():
    plain = Trajectory("Hi", "Hello", ground_truth="Hey", metadata={"level": 3}, columns={"source": "web"}, id=7)
    twinkle = TwinkleTrajectory.of(plain)
    assert isinstance(twinkle, dict)
    assert twinkle["messages"] == plain.messages
    assert (twinkle["messages"][-1]["content"], twinkle.messages[-1].content) == ("Hello", "Hello")
    assert dict(twinkle["user_data"]) == {"ground_truth": "Hey", "source": "web", "level": 3}
    assert (twinkle["level"], twinkle.get("source"), twinkle["id"]) == (3, "web", 7)
    assert twinkle.get("absent", "default") == "default"
    assert "absent" not in twinkle
    with pytest.raises(KeyError, match="absent"):
        twinkle["absent"]
    with pytest.raises(AttributeError, match="absent"):
        twinkle.absent  # noqa: B018


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        pytest.param("Hello", True, id="same text"),
        pytest.param("hello", False, id="other text"),
        pytest.param(Trajectory("Another prompt", "Hello"), True, id="trajectory with the same response"),
        pytest.param(TwinkleTrajectory.saying("Bye"), False, id="truth with another text"),
        pytest.param(None, False, id="none"),
    ],
)
def test_a_trajectory_equals_what_has_or_is_its_response(other, equal):
    twinkle = TwinkleTrajectory.of(Trajectory("Hi", "Hello"))
    assert (twinkle == other, twinkle != other) == (equal, not equal)


def test_equal_trajectories_fall_together_in_a_set():
    assert len({TwinkleTrajectory.of(Trajectory(prompt, "same")) for prompt in "ab"}) == 1


RECIPE = r"""
    import re

    from twinkle import DeviceMesh, get_logger
    from twinkle.advantage import GRPOAdvantage
    from twinkle.dataloader import DataLoader
    from twinkle.reward import GSM8KAccuracyReward
    from twinkle.reward.base import Reward
    from twinkle.sampler import vLLMSampler

    logger = get_logger()

    class BoxedReward(Reward):
        def __call__(self, trajectories, **kwargs):
            said = [trajectory.get("messages", [])[-1].get("content", "") for trajectory in trajectories]
            return [1.0 if "boxed" in text else 0.0 for text in said]

    def compute_rewards(trajectories):
        right, boxed = GSM8KAccuracyReward()(trajectories), BoxedReward()(trajectories)
        return [one + other for one, other in zip(right, boxed)], boxed, right

    def main():
        loader = DataLoader(batch_size=2)
"""


def test_a_training_recipe_loads_and_its_total_is_the_reward(loaded):
    result = loaded(RECIPE, "compute_rewards")
    batch = [Trajectory("2+2?", r"\boxed{4}", ground_truth="4"), Trajectory("2+3?", "#### 5", ground_truth="5")]
    outputs = score_samples(result.reward, batch)
    assert [output.reward for output in outputs] == [2.0, 1.0]
    assert [output.metadata for output in outputs] == [{"parts": [1.0, 1.0]}, {"parts": [0.0, 1.0]}]
    assert result.convention == "Twinkle function"
    assert rewards(loaded(RECIPE, "BoxedReward").reward, batch) == [1.0, 0.0]


def test_loading_a_recipe_names_the_package_members_it_needs(loaded):
    with pytest.raises(RewardNotLoaded, match=r"'DataLoader' of twinkle.dataloader is needed.*install twinkle"):
        loaded(RECIPE + "    def needy(trajectories): return DataLoader(trajectories)\n", "needy")


MATH = "from twinkle.reward import MathReward\nreward_fn = MathReward()\n"


@pytest.mark.parametrize(
    ("said", "truth", "reward"),
    [
        (r"so \boxed{\frac{1}{2}}", r"\frac12", 1.0),
        (r"so \boxed{ 1/2 }", "1/2", 1.0),
        ("# Answer 5", "5", 1.0),
        (r"\boxed{6}", "5", 0.0),
        (r"x = 5 and \boxed{6}", "5", 0.0),
        ("x+1", "x-1", 0.0),
        ("", "4", 0.0),
    ],
)
def test_the_math_reward_gives_the_numbers_of_twinkle(loaded, said, truth, reward):
    """The numbers of twinkle-kit 0.5.1."""
    assert rewards(loaded(MATH, "reward_fn").reward, [Trajectory("q", said, ground_truth=truth)]) == [reward]


@pytest.mark.parametrize(
    ("said", "truth"),
    [
        (r"\boxed{\frac{1}{2}}", "0.5"),
        ("The answer is 4.", "4"),
        ("$4$", "4"),
        ("(1,2)", "(1, 2)"),
        (r"\boxed{1e3}", 1000),
    ],
)
def test_the_math_reward_calls_equal_answers_right_whatever_version_of_antlr_is_installed(loaded, said, truth):
    assert rewards(loaded(MATH, "reward_fn").reward, [Trajectory("q", said, ground_truth=truth)]) == [1.0]


@pytest.mark.parametrize("name", ["MathReward", "GSM8KAccuracyReward"])
def test_a_sample_without_a_ground_truth_is_not_scored_by_twinkles_rewards(loaded, name):
    result = loaded(f"from twinkle.reward import {name}\nreward_fn = {name}()\n", "reward_fn")
    outputs = score_samples(result.reward, [Trajectory("q", "4"), Trajectory("q", r"\boxed{4}", ground_truth="4")])
    assert [output.status for output in outputs] == [Status.SKIPPED, Status.OK]


def test_ground_truths_are_given_one_per_trajectory_or_one_per_prompt():
    with stub_finder():
        from twinkle.reward import MathReward
    said = [Trajectory("q", text) for text in ("1", "2", "3", "4")]
    assert MathReward()(said, ["1", "4"]) == [1.0, 0.0, 0.0, 1.0]
    for truths in (["1", "2", "3"], [], ["1"] * 5):
        with pytest.raises(ValueError, match=f"4 trajectories but {len(truths)} ground truths"):
            MathReward()(said, truths)


def test_user_data_reads_as_pairs_and_as_the_dict_of_older_files(loaded):
    result = loaded("""
        def first(trajectories, ground_truths):
            data = [each["user_data"] for each in trajectories]
            return [float(each[0].get("target") == 24 and dict(each)["nums"] == [4, 6]) for each in data]
    """, "first")  # fmt: skip
    assert rewards(result.reward, [Trajectory("q", "a", columns={"target": 24, "nums": [4, 6]})]) == [1.0]


def test_a_batch_reward_that_returns_nothing_is_reported(loaded):
    result = loaded("def first(trajectories, ground_truths): pass", "first")
    (output,) = score_samples(result.reward, BATCH[:1])
    assert "it returned None for 1 samples; return one list" in output.reason
