"""Document 003's custom functions, with their import lines and without Agent-Tunix."""

import pytest

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples

CUSTOM = """
    from agent_tunix.rewards import evaluate_completeness, evaluate_correctness, evaluate_format

    def custom_reward_function(response: str, prompt: str, metadata: dict) -> float:
        format_score = evaluate_format(response, metadata.get("format"))
        correctness_score = evaluate_correctness(response, metadata.get("answer", ""))
        completeness_score = evaluate_completeness(response)
        return 0.3 * format_score + 0.5 * correctness_score + 0.2 * completeness_score
"""

SEEN = """
    seen = []
    def remember({parameters}):
        seen.append(({parameters}))
        return 1.0
"""


def test_the_custom_function_of_the_document_prefers_the_right_answer(loaded):
    result = loaded(CUSTOM)
    right = Trajectory("What is 2 + 2?", "2 + 2 = 4. The answer is 4.", ground_truth="4")
    wrong = Trajectory("What is 2 + 2?", "2 + 2 = 9. The answer is 9.", ground_truth="4")
    first, second = (output.reward for output in score_samples(result.reward, [right, wrong]))
    assert result.convention == "Agent-Tunix function"
    assert first - second == pytest.approx(0.5)


def test_the_documented_checks_are_answered_for(loaded):
    result = loaded("""
        from agent_tunix.rewards import check_answer, match_format_exactly

        def total(response, metadata):
            format_reward = match_format_exactly(response, metadata["expected_format"])
            return 0.3 * format_reward + 0.7 * check_answer(response, metadata["answer"])
    """)
    trajectory = Trajectory(
        "What is 2 + 2?",
        "2 + 2 = 4. The answer is 4.",
        ground_truth="4",
        columns={"expected_format": "The answer is [NUM]."},
    )
    assert score_samples(result.reward, [trajectory])[0].reward == pytest.approx(1.0)


@pytest.mark.parametrize(
    "parameters", ["response, prompt, metadata", "metadata, response", "prompt, metadata, response"]
)
def test_the_three_arguments_are_recognised_in_any_order(loaded, parameters):
    result = loaded(SEEN.format(parameters=parameters))
    messages = [{"role": "user", "content": "What?"}]
    score_samples(result.reward, [Trajectory(messages, "This.", metadata={"format": "x"}, ground_truth=4)])
    seen = dict(zip(parameters.split(", "), result.reward.foreign.__globals__["seen"][0], strict=True))
    assert result.convention == "Agent-Tunix function"
    assert seen["response"] == "This."
    assert seen["metadata"] == {"format": "x", "answer": 4}
    assert seen.get("prompt", "What?") == "What?"


def test_an_answer_in_the_data_is_not_replaced_by_the_ground_truth(loaded):
    result = loaded("def custom(response, metadata): return float(metadata['answer'])")
    trajectory = Trajectory("Hi", "Ho", ground_truth="5", columns={"answer": "7"})
    assert score_samples(result.reward, [trajectory])[0].reward == 7.0


def test_the_function_cannot_change_the_metadata_of_a_sample(loaded):
    result = loaded("def custom(response, metadata): return float(metadata.pop('level'))")
    trajectory = Trajectory("Hi", "Ho", metadata={"level": 2})
    assert [output.reward for output in score_samples(result.reward, [trajectory, trajectory])] == [2.0, 2.0]


def test_a_function_that_also_asks_for_the_ground_truth_is_bound_by_name_instead(loaded):
    result = loaded("def mine(response, metadata, ground_truth=None): return float(ground_truth)")
    assert result.convention == "plaudit function"
    assert score_samples(result.reward, [Trajectory("Hi", "Ho", ground_truth=3)])[0].reward == 3.0


def test_the_batch_form_gets_lists_of_prompts_completions_answers_and_columns(loaded):
    result = loaded("""
        from agent_tunix.data import SOLUTION_START

        def correct(prompts, completions, answer, **kw):
            assert prompts == ["2+2?", "2+3?"]
            assert kw["level"][:1] == [1]
            return [float(said == right) for said, right in zip(completions, answer)]
    """)
    batch = [
        Trajectory("2+2?", "4", ground_truth="4", columns={"level": 1}),
        Trajectory([{"role": "user", "content": "2+3?"}], "6", ground_truth="5"),
    ]
    assert result.convention == "Agent-Tunix function"
    outputs = score_samples(result.reward, batch)
    assert [output.reward for output in outputs] == [1.0, 0.0], outputs[0].reason


def test_an_exception_in_the_function_is_an_error_with_its_line(loaded):
    result = loaded("def custom(response, metadata):\n    return metadata['absent']")
    (output,) = score_samples(result.reward, [Trajectory("Hi", "Ho")])
    assert output.status is Status.ERROR
    assert "KeyError" in output.reason
    assert "my_rewards.py:2" in output.reason


BATCHED = """
    from agent_tunix.rewards import check_answer, check_numbers, match_format_approximately, match_format_exactly

    def total(prompts, completions, answer, **kwargs):
        columns = [check(prompts, completions, answer=answer, **kwargs) for check in (
            match_format_exactly, match_format_approximately, check_answer, check_numbers)]
        return [sum(values) for values in zip(*columns)]
"""


@pytest.mark.parametrize(
    ("response", "truth", "expected"),
    [
        ("<reasoning>two and two</reasoning><answer>4</answer>", "4", 3.0 + 2.0 + 3.0 + 1.5),
        ("<reasoning>two and two</reasoning><answer> 4 </answer>", "4", 3.0 + 2.0 + 1.5 + 1.5),
        ("<reasoning>about</reasoning><answer>105</answer>", "100", 3.0 + 2.0 + 0.5),
        ("<reasoning>about</reasoning><answer>118</answer>", "100", 3.0 + 2.0 + 0.25),
        ("<reasoning>about</reasoning><answer>7</answer>", "100", 3.0 + 2.0 - 1.0),
        ("<reasoning>about</reasoning><answer>many</answer>", "100", 3.0 + 2.0 - 0.5),
        ("four", "4", -2.0),
    ],
)
def test_the_batch_functions_of_the_code_have_its_scale(loaded, response, truth, expected):
    (output,) = score_samples(loaded(BATCHED, "total").reward, [Trajectory("2+2?", response, ground_truth=truth)])
    assert output.reward == pytest.approx(expected)
