"""Document 004's reward files, on real tensors."""

import math
import warnings

import pytest
import torch

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples
from plaudit.dialects.systems.openrlhf import openrlhf_reward

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
            generated = query.split(prompt)[-1].strip()
            match1 = re.search(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", generated, re.IGNORECASE)
            match2 = re.search(r"####\s*(-?\d+\.?\d*)", generated)
            found = match1 or match2
            if found is None:
                rewards.append(-0.5)
                continue
            try:
                rewards.append(1.0 if abs(float(found.group(1)) - float(label)) < 1e-6 else 0.0)
            except ValueError:
                rewards.append(-0.5)
        rewards_tensor = torch.tensor(rewards).float()
        return {
            "rewards": rewards_tensor,
            "scores": (rewards_tensor + 0.5) / 1.5,
            "extra_logs": {
                "math_accuracy": (rewards_tensor == 1.0).float().mean(),
                "answer_formatted": (rewards_tensor >= 0.0).float(),
            },
        }
"""

BATCH = [Trajectory("Q1 ", "a", ground_truth="1"), Trajectory("Q2 ", "bb", ground_truth="2")]


def returning(value):
    """A reward file's function that returns `value`."""
    return openrlhf_reward(lambda queries, prompts, labels: value)


def test_the_template_gives_reward_score_and_log_per_sample(loaded):
    result = loaded(TEMPLATE)
    outputs = score_samples(result.reward, BATCH)
    assert result.convention == "OpenRLHF reward file"
    assert [output.reward for output in outputs] == [1.0, 2.0]
    assert [output.score for output in outputs] == pytest.approx([0.1, 0.2])
    assert [output.metadata for output in outputs] == [{"custom_metric": 1.0}, {"custom_metric": 2.0}]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param("The answer is: 42", 1.0, id="answer is"),
        pytest.param("6 * 7 = 42", 1.0, id="equals"),
        pytest.param("So #### 42", 1.0, id="gsm8k"),
        pytest.param("#### 41", 0.0, id="wrong"),
        pytest.param("I do not know", -0.5, id="no answer"),
    ],
)
@pytest.mark.parametrize("truth", ["42", 42, 42.0])
def test_the_math_file_scores_the_documented_formats(loaded, response, expected, truth):
    (output,) = score_samples(loaded(MATH).reward, [Trajectory("What is 6 * 7?\n", response, ground_truth=truth)])
    assert output.reward == expected
    assert output.score == pytest.approx((expected + 0.5) / 1.5)


def test_a_number_logged_for_the_batch_is_in_every_output(loaded):
    batch = [Trajectory("Q\n", "= 42", ground_truth="42"), Trajectory("Q\n", "hm", ground_truth="42")]
    outputs = score_samples(loaded(MATH).reward, batch)
    assert [output.metadata["math_accuracy"] for output in outputs] == [0.5, 0.5]
    assert [output.metadata["answer_formatted"] for output in outputs] == [1.0, 0.0]


def test_the_local_test_of_the_document_finds_no_answer_in_its_sample(loaded):
    function = loaded(MATH).reward.foreign
    told = function(["Question: 2+2?\nAnswer: 4"], ["Question: 2+2?\n"], ["4"])
    assert told["rewards"].tolist() == [-0.5]
    trajectory = Trajectory("Question: 2+2?\n", "Answer: 4", ground_truth="4")
    assert score_samples(loaded(MATH).reward, [trajectory])[0].reward == -0.5


def test_queries_are_prompt_and_response_and_labels_are_text():
    calls = []

    def reward_func(queries, prompts, labels, **kwargs):
        calls.append({"queries": queries, "prompts": prompts, "labels": labels})
        return [0.0] * len(queries)

    batch = [
        Trajectory("Q: ", "A", ground_truth=4),
        Trajectory([{"role": "user", "content": "Hi "}], "Ho", ground_truth={"tests": []}),
        Trajectory("Q: ", "A", ground_truth=0.5),
        Trajectory("Q: ", "A"),
    ]
    with pytest.warns(UserWarning, match="the prompts are chats"):
        score_samples(openrlhf_reward(reward_func), batch)
    seen = calls[0]
    assert seen["queries"] == ["Q: A", "Hi Ho", "Q: A", "Q: A"]
    assert seen["prompts"] == ["Q: ", "Hi ", "Q: ", "Q: "]
    assert seen["labels"] == ["4", {"tests": []}, "0.5", None]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"rewards": torch.tensor([1.0, 2.0])}, id="(B,)"),
        pytest.param({"rewards": torch.tensor([[1.0], [2.0]])}, id="(B, 1)"),
        pytest.param({"rewards": torch.tensor([1.0, 2.0], requires_grad=True)}, id="with gradient"),
        pytest.param({"rewards": torch.tensor([1, 2], dtype=torch.int64)}, id="whole numbers"),
        pytest.param({"rewards": [torch.tensor(1.0), torch.tensor([2.0])]}, id="list of tensors"),
        pytest.param({"rewards": [1.0, 2]}, id="list"),
        pytest.param({"rewards": (1.0, 2.0), "scores": None, "extra_logs": None}, id="tuple and nothing else"),
        pytest.param(torch.tensor([1.0, 2.0]), id="bare tensor"),
        pytest.param([1.0, 2.0], id="bare list"),
    ],
)
def test_rewards_of_every_documented_shape_are_read(value):
    assert [output.reward for output in score_samples(returning(value), BATCH)] == [1.0, 2.0]


@pytest.mark.parametrize("value", [torch.tensor(0.5), torch.tensor([0.5]), torch.tensor([[0.5]]), 0.5, [0.5]])
def test_a_single_sample_may_be_answered_by_a_scalar(value):
    (output,) = score_samples(returning({"rewards": value, "scores": value}), BATCH[:1])
    assert (output.reward, output.score) == (0.5, 0.5)


def test_one_number_for_several_samples_is_an_error_that_names_the_remedy():
    calls = []

    def reward_func(queries, prompts, labels):
        calls.append(len(queries))
        return {"rewards": torch.tensor(float(len(queries[0])))}

    outputs = score_samples(openrlhf_reward(reward_func), BATCH)
    assert calls == [2]
    assert {output.status for output in outputs} == {Status.ERROR}
    assert "rewards has a float for 2 samples" in outputs[0].reason
    assert "max_batch=1 (--max-batch 1)" in outputs[0].reason


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param(torch.tensor([1.0]), "rewards has 1 values for 2 samples", id="too few"),
        pytest.param([1.0, 2.0, 3.0], "rewards has 3 values for 2 samples", id="too many"),
        pytest.param({"rewards": [1.0, 2.0], "scores": [1.0]}, "scores has 1 values for 2 samples", id="scores"),
        pytest.param(
            {"rewards": [1.0, 2.0], "extra_logs": {"x": torch.zeros(3)}},
            "extra_logs['x'] has 3 values for 2 samples",
            id="logs",
        ),
        pytest.param({"reward": [1.0, 2.0]}, "rename 'reward' to 'rewards'", id="no rewards"),
        pytest.param(None, "returned no 'rewards'", id="nothing"),
    ],
)
def test_a_result_without_one_value_per_sample_is_an_error_with_the_reason(value, told):
    outputs = score_samples(returning(value), BATCH)
    assert {output.status for output in outputs} == {Status.ERROR}
    assert all(told in output.reason for output in outputs)


def test_one_nan_or_none_leaves_the_other_samples_scored():
    batch = [*BATCH, Trajectory("Q3 ", "c")]
    value = {"rewards": [math.nan, None, 1.0], "extra_logs": {"loss": torch.tensor([math.nan, 2.0, 3.0])}}
    outputs = score_samples(returning(value), batch)
    assert [output.status for output in outputs] == [Status.ERROR, Status.SKIPPED, Status.OK]
    assert [output.reward for output in outputs] == [None, None, 1.0]
    assert [output.metadata["loss"] for output in outputs] == [None, 2.0, 3.0]


def test_a_value_that_cannot_be_read_is_an_error_of_its_sample_alone():
    class Unprintable:
        def __repr__(self):
            raise ValueError("no text here")

    outputs = score_samples(returning({"rewards": [Unprintable(), 1.0]}), BATCH)
    assert [output.reward for output in outputs] == [None, 1.0]
    assert "no text here" in outputs[0].reason


def test_a_score_outside_zero_to_one_is_kept_as_metadata_with_a_note():
    outputs = score_samples(returning({"rewards": [1.0, 0.5], "scores": [-0.5, 0.5]}), BATCH)
    assert (outputs[0].score, outputs[0].metadata) == (None, {"scores": -0.5})
    assert "outside [0, 1]" in outputs[0].reason
    assert (outputs[1].score, outputs[1].metadata, outputs[1].reason) == (0.5, {}, "")


def test_an_async_reward_file_is_awaited():
    async def reward_func(queries, prompts, labels):
        return {"rewards": torch.ones(len(queries))}

    assert [output.reward for output in score_samples(openrlhf_reward(reward_func), BATCH)] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def reward_func(queries, prompts): return [len(q) - len(p) for q, p in zip(queries, prompts)]",
                     [1.0, 2.0], id="without labels"),
        pytest.param("def reward_func(queries, batch): return [len(row['answer']) + row['level'] for row in batch]",
                     [2.0, 3.0], id="rows of the data"),
        pytest.param("def reward_func(queries, prompts, labels, **kwargs): return [float(len(labels))] * len(queries)",
                     [2.0, 2.0], id="further keywords"),
        pytest.param("def reward_func(queries, prompts, labels):\n    return {'rewards': [1.0, 0.0], "
                     "'extra_logs': {'mean': [0.5], 'best': 1.0}}", [1.0, 0.0], id="one log for the batch"),
    ],
)  # fmt: skip
def test_the_argument_lists_and_logs_of_forks_are_taken(loaded, source, expected):
    batch = [
        Trajectory("Q", "a", ground_truth="4", columns={"level": 1}),
        Trajectory("Q", "bb", ground_truth="5", columns={"level": 2}),
    ]
    result = loaded(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of them look at the batch
        outputs = score_samples(result.reward, batch)
    assert [output.reward for output in outputs] == expected, outputs[0].reason
    assert result.convention == "OpenRLHF reward file"
    if "mean" in source:
        assert outputs[1].metadata == {"mean": 0.5, "best": 1.0}


GRADED = r"""
    from openrlhf.utils import extract_boxed_answer, grade_answer

    def reward_func(queries, prompts, labels, **kwargs):
        answers = [extract_boxed_answer(query[len(prompt):]) for query, prompt in zip(queries, prompts)]
        return {"rewards": [float(grade_answer(answer, label)) for answer, label in zip(answers, labels)]}
"""


@pytest.mark.parametrize(
    ("response", "truth", "expected"),
    [
        (r"\boxed{4}", "4", 1.0),
        (r"\boxed{\frac{1}{2}}", "1/2", 1.0),
        (r"\boxed{5} then \boxed{4}", "4", 1.0),
        (r"\boxed{1,000}", "1000", 1.0),
        (r"\boxed{5}", "4", 0.0),
        ("4", "4", 0.0),
        (r"\boxed{4", "4", 0.0),
        (r"\boxed{4}", None, 0.0),
    ],
)
def test_the_math_helpers_of_the_package_are_answered_for(loaded, response, truth, expected):
    (output,) = score_samples(loaded(GRADED).reward, [Trajectory("Q ", response, ground_truth=truth)])
    assert output.reward == expected
