"""Document 002: batch rewards called with (trajectories, ground_truths)."""

from plaudit import RewardFunction, Trajectory, load, score
from plaudit.rewards import FormatReward, MathReward


def generated(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="2 + 2?", response=response) for response in responses]


def test_math_reward_gives_one_for_correct_and_zero_for_incorrect():
    truths = [Trajectory(prompt="2 + 2?", response="4")] * 3
    rewards = MathReward()(generated("The answer is 4.", r"So \boxed{4}", "The answer is 5."), truths)
    assert rewards == [1.0, 1.0, 0.0]
    assert MathReward()(generated("4", "5"), ["4", 4]) == [1.0, 0.0]


def test_math_reward_takes_dicts_as_twinkle_has_them():
    def said(text, **more):
        return {"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": text}], **more}

    assert MathReward()([said("The answer is 4."), said("5")], [said("4"), said("4")]) == [1.0, 0.0]
    assert MathReward()([said("4", user_data=[("ground_truth", "4")])]) == [1.0]


def test_format_reward_is_called_the_same_way():
    good, bad = "<think>2 and 2 make 4</think><answer>4</answer>", "<think></think><answer></answer>"
    assert FormatReward()(generated(good, bad), ["4", "4"]) == [1.0, 0.0]


class CustomReward(RewardFunction):
    def __call__(self, trajectories, ground_truths):
        return [self._evaluate(traj, gt) for traj, gt in zip(trajectories, ground_truths, strict=True)]

    def _evaluate(self, traj, gt):
        return 1.0 if traj.response.strip() == gt else 0.0


def my_reward(trajectories, ground_truths):
    return [1.0 if t == gt else 0.0 for t, gt in zip(trajectories, ground_truths, strict=True)]


def test_custom_classes_and_functions_score_wherever_a_reward_is_taken():
    samples = [
        Trajectory(prompt="2 + 2?", response=" 4 ", ground_truth="4"),
        Trajectory(prompt="2 + 2?", response="5", ground_truth="4"),
    ]
    assert [output.reward for output in score(CustomReward(), samples)] == [1.0, 0.0]
    assert CustomReward()(samples, ["4", "5"]) == [1.0, 1.0]


def test_the_function_of_the_document_compares_trajectories():
    same = generated("4")
    assert my_reward(same, generated("4")) == [1.0]
    assert load(my_reward)(same, generated("5")) == [0.0]


def test_the_function_of_the_document_loaded_from_a_file_compares_with_the_ground_truth(tmp_path):
    path = tmp_path / "my_rewards.py"
    path.write_text(
        "def my_reward(trajectories, ground_truths):\n"
        "    return [1.0 if t == gt else 0.0 for t, gt in zip(trajectories, ground_truths)]\n"
    )
    samples = [Trajectory(prompt="2 + 2?", response=r, ground_truth="4") for r in ("4", "5")]
    assert [output.reward for output in score(f"{path}:my_reward", samples)] == [1.0, 0.0]
