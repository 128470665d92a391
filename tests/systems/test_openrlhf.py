"""Document 004: reward files, with its lost backslashes restored; training, agents and code execution come later."""

import textwrap

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.loading import resolve
from plaudit.rewards import MathReward

TEMPLATE = """
    import torch

    def reward_func(queries, prompts, labels):
        rewards = torch.tensor([float(len(query) - len(prompt)) for query, prompt in zip(queries, prompts)])
        return {"rewards": rewards, "scores": rewards / 10, "extra_logs": {"custom_metric": rewards}}
"""

MATH = r"""
    import re
    import torch

    def reward_func(queries, prompts, labels):
        rewards = []
        for query, prompt, label in zip(queries, prompts, labels):
            answer = query[len(prompt):].strip()
            said = re.search(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", answer, re.IGNORECASE)
            said = said or re.search(r"####\s*(-?\d+\.?\d*)", answer)
            if said is None:
                rewards.append(-0.5)
            else:
                rewards.append(1.0 if abs(float(said.group(1)) - float(label)) < 1e-6 else 0.0)
        rewards = torch.tensor(rewards).float()
        return {
            "rewards": rewards,
            "scores": (rewards + 0.5) / 1.5,
            "extra_logs": {"answer_rate": (rewards >= 0.0).float().mean()},
        }
"""

FILTERED = """
    import torch

    def reward_func(queries, prompts, labels):
        rewards = torch.tensor([1.0 if label in query else -1.0 for query, label in zip(queries, labels)])
        scores = (rewards > 0.0).float()
        return {"rewards": rewards, "scores": scores, "extra_logs": {"filtered_ratio": scores.mean()}}
"""

NORMALISED = """
    import torch

    def reward_func(queries, prompts, labels):
        raw_rewards = torch.tensor([float(len(query)) for query in queries])
        rewards = (raw_rewards - raw_rewards.mean()) / (raw_rewards.std() + 1e-9)
        return {"rewards": rewards, "extra_logs": {"avg_reward": rewards.mean(), "max_reward": rewards.max()}}
"""


@pytest.fixture
def file(tmp_path):
    def write(source):
        path = tmp_path / "reward_func.py"
        path.write_text(textwrap.dedent(source))
        return str(path)

    return write


def answers(*responses, label="42"):
    return [Trajectory(prompt="What is 6 x 7?", response=response, ground_truth=label) for response in responses]


def test_the_template_gives_rewards_scores_and_extra_logs(file):
    loaded = resolve(file(TEMPLATE))
    assert "OpenRLHF" in loaded.convention
    outputs = score(loaded.reward, answers("four", "12"))
    assert [(o.reward, o.score, o.metadata["custom_metric"]) for o in outputs] == [
        (4.0, pytest.approx(0.4), 4.0),
        (2.0, pytest.approx(0.2), 2.0),
    ]


RESPONSES = ["The answer is: 42", "so 6 x 7 = 42", "#### 42", "The answer is: 41", "I cannot say."]
EXPECTED = [1.0, 1.0, 1.0, 0.0, -0.5]


def test_the_math_example_scores_as_documented(file):
    outputs = score(load(file(MATH)), answers(*RESPONSES))
    assert [output.reward for output in outputs] == EXPECTED
    assert outputs[0].score == 1.0
    assert outputs[4].score == 0.0
    assert outputs[0].metadata["answer_rate"] == pytest.approx(0.8)


def test_math_reward_has_the_same_scale_by_option():
    assert [output.reward for output in score(MathReward(no_answer=-0.5), answers(*RESPONSES))] == EXPECTED


def test_the_response_is_the_query_without_its_prompt_as_a_prefix(file):
    """A response that repeats the prompt would lose its beginning to `split`."""
    [output] = score(load(file(TEMPLATE)), answers("What is 6 x 7? 42"))
    assert output.reward == len("What is 6 x 7? 42")


def test_scores_for_filtering_are_zero_or_one(file):
    outputs = score(load(file(FILTERED)), answers("it is 42", "no idea"))
    assert [(o.reward, o.score, o.metadata["filtered_ratio"]) for o in outputs] == [(1.0, 1.0, 0.5), (-1.0, 0.0, 0.5)]


def test_best_practice_one_normalised_rewards_load_unchanged(file):
    outputs = score(load(file(NORMALISED)), answers("a", "abc"))
    assert [output.reward for output in outputs] == pytest.approx([-0.7071, 0.7071], abs=1e-4)
    assert outputs[0].metadata["max_reward"] == pytest.approx(0.7071, abs=1e-4)


def test_best_practice_two_an_error_is_a_status_and_not_a_neutral_zero(file):
    outputs = score(load(file(MATH)), answers("The answer is: 42", label="forty-two"))
    assert outputs[0].status is Status.ERROR
    assert outputs[0].reward is None
    assert "ValueError" in outputs[0].reason


def test_the_local_test_of_the_document(file):
    result = load(file(MATH))([Trajectory(prompt="Question: 2+2?\n", response="Answer: = 4", ground_truth="4")])
    assert result == [1.0]
