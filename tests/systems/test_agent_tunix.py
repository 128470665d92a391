"""Document 003: checks, patterns, shaping and testing, with the values it gives."""

import pytest

from plaudit import Trajectory, reward, score
from plaudit.checks import (
    check_answer,
    check_correctness,
    check_format,
    check_numbers,
    close_match,
    evaluate_clarity,
    evaluate_completeness,
    evaluate_conciseness,
    evaluate_correctness,
    evaluate_format,
    evaluate_relevance,
    exact_match,
    extract_number,
    has_hallucination,
    has_reasoning_steps,
    is_correct,
    is_partially_correct,
    match_format_exactly,
)
from plaudit.rewards import (
    ContinuousReward,
    GraduatedReward,
    MathReward,
    MultiAspectReward,
    TemplateReward,
)
from plaudit.rollouts import Rollout
from plaudit.shaping import HallucinationPenalty, LengthPenalty, ReasoningBonus
from plaudit.training import build_pairs

WORKED = "2 + 2 = 4. The answer is 4."
EXPECTED_FORMAT = "The answer is [NUM]."


def value(rewarding, response, **fields):
    [output] = score(
        rewarding, [Trajectory(prompt=fields.pop("prompt", "What is 2 + 2?"), response=response, **fields)]
    )
    assert output.ok, output.reason
    return output.reward


def test_format_reward():
    assert match_format_exactly("The answer is 4.", EXPECTED_FORMAT) == 1.0
    assert match_format_exactly(WORKED, EXPECTED_FORMAT) == 1.0


def test_correctness_reward():
    assert check_answer(WORKED, "4") == 1.0
    assert check_answer("The answer is 4.3.", "4") == 0.5
    assert check_answer("The answer is 5.", "4") == 0.0


def test_number_extraction():
    assert check_numbers(WORKED, [4]) == {"extracted": [4], "matches": [True], "score": 1.0}


@pytest.mark.parametrize(
    ("response", "expected"), [(WORKED, 1.0), ("2 plus 2 equals 4.", 0.7)], ids=["right", "right, other format"]
)
def test_the_two_test_cases_under_the_documents_own_formula(response, expected):
    """The document says 0.5 for the second one; its formula, 0.3 · 0 + 0.7 · 1, gives 0.7."""
    total = 0.3 * match_format_exactly(response, EXPECTED_FORMAT) + 0.7 * check_answer(response, "4")
    assert total == pytest.approx(expected)
    combined = 0.3 * TemplateReward(expected_format=EXPECTED_FORMAT) + 0.7 * MathReward(partial=0.5)
    assert value(combined, response, ground_truth="4") == pytest.approx(expected)


def custom_reward_function(response: str, prompt: str, metadata: dict) -> float:
    expected = metadata.get("answer", "")
    format_score = evaluate_format(response, metadata.get("format"))
    correctness_score = evaluate_correctness(response, expected)
    completeness_score = evaluate_completeness(response)
    return 0.3 * format_score + 0.5 * correctness_score + 0.2 * completeness_score


def test_the_custom_function_sees_right_answers_above_wrong_ones_above_nothing():
    metadata = {"answer": "4", "format": EXPECTED_FORMAT}
    right, wrong, empty = (
        value(custom_reward_function, response, metadata=metadata)
        for response in (WORKED, "2 + 2 = 5. The answer is 5.", "")
    )
    assert 1.0 >= right > wrong > empty >= 0.0


def test_the_custom_function_orders_responses_into_the_pairs_of_a_reward_model():
    """The document's last topic is reward-model training: pairs are where it begins."""
    metadata = {"answer": "4", "format": EXPECTED_FORMAT}
    samples = [
        Trajectory(prompt="What is 2 + 2?", response=response, metadata=metadata)
        for response in ("2 + 2 = 5. The answer is 5.", WORKED)
    ]
    outputs = score(custom_reward_function, samples)
    [pair] = build_pairs([Rollout(sample, output) for sample, output in zip(samples, outputs, strict=True)]).pairs
    assert (pair.chosen.response, pair.rejected.response) == (WORKED, "2 + 2 = 5. The answer is 5.")


def test_binary_graduated_and_continuous_patterns():
    def binary_reward(response, ground_truth):
        return 1.0 if is_correct(response, ground_truth) else 0.0

    def graduated_reward(response, ground_truth):
        if is_correct(response, ground_truth):
            return 1.0
        return 0.5 if is_partially_correct(response, ground_truth) else 0.0

    def continuous_reward(response, ground_truth):
        return max(0.0, 1.0 - abs(extract_number(response) - ground_truth) / 100)

    for response, binary, graduated, continuous in [
        ("The answer is 40.", 1.0, 1.0, 1.0),
        ("The answer is 42.", 0.0, 0.5, 0.98),
        ("The answer is 90.", 0.0, 0.0, 0.5),
        ("The answer is 400.", 0.0, 0.0, 0.0),
    ]:
        assert value(binary_reward, response, ground_truth="40") == value(MathReward(), response, ground_truth="40")
        assert value(binary_reward, response, ground_truth="40") == binary
        assert value(graduated_reward, response, ground_truth="40") == graduated
        assert value(GraduatedReward(), response, ground_truth="40") == graduated
        assert value(continuous_reward, response, ground_truth=40) == pytest.approx(continuous)
        assert value(ContinuousReward(max_error=100), response, ground_truth=40) == pytest.approx(continuous)


def test_multi_aspect_pattern():
    def composite_reward(response, prompt, ground_truth):
        return (
            0.4 * evaluate_correctness(response, ground_truth)
            + 0.3 * evaluate_relevance(response, prompt)
            + 0.2 * evaluate_clarity(response)
            + 0.1 * evaluate_conciseness(response)
        )

    prompt = "How many apples does Ann have when she buys two more apples?"
    response = "Ann had two apples and bought two more, so she has 4 apples. The answer is 4."
    by_hand = value(composite_reward, response, prompt=prompt, ground_truth="4")
    assert by_hand == pytest.approx(value(MultiAspectReward(), response, prompt=prompt, ground_truth="4"))
    assert by_hand > value(composite_reward, "The sky is blue.", prompt=prompt, ground_truth="4")


def test_shaped_reward():
    def shaped_reward(response, ground_truth):
        base_reward = check_correctness(response, ground_truth)
        length_penalty = -0.1 * len(response.split()) / 100
        reasoning_bonus = 0.1 if has_reasoning_steps(response) else 0.0
        hallucination_penalty = -0.2 if has_hallucination(response) else 0.0
        return base_reward + length_penalty + reasoning_bonus + hallucination_penalty

    shaped = MathReward() + LengthPenalty() + ReasoningBonus() + HallucinationPenalty()
    reasoned = "First, 2 and 2 are two pairs, so we add them. Then 2 + 2 = 4. Therefore the answer is 4."
    for response in (WORKED, reasoned, "The answer is 5."):
        assert value(shaped, response, ground_truth="4") == pytest.approx(
            value(shaped_reward, response, ground_truth="4")
        )
    assert value(shaped, reasoned, ground_truth="4") == pytest.approx(1.0 - 0.1 * len(reasoned.split()) / 100 + 0.1)


def test_improved_stable_and_robust_rewards():
    def improved_reward(response, ground_truth):
        if exact_match(response, ground_truth):
            return 1.0
        return 0.5 if close_match(response, ground_truth, tolerance=0.1) else 0.0

    assert value(improved_reward, "The answer is 4.3.", ground_truth="4") == 0.5
    assert value(improved_reward, "4", ground_truth="4") == 1.0

    stable = MathReward().floor(0.1)
    assert value(stable, "The answer is 5.", ground_truth="4") == 0.1
    assert value(stable, WORKED, ground_truth="4") == 1.0

    robust = MathReward().gate(on=TemplateReward(expected_format=EXPECTED_FORMAT), at=0.8)
    assert value(robust, WORKED, ground_truth="4") == 1.0
    assert value(robust, "2 plus 2 equals 4.", ground_truth="4") == 0.0
    assert check_format("2 plus 2 equals 4.", EXPECTED_FORMAT) < 0.8 <= check_format(WORKED, EXPECTED_FORMAT)


def test_plain_functions_of_the_document_are_rewards_unchanged():
    assert value(reward(custom_reward_function), WORKED, metadata={"answer": "4"}) > 0.5
