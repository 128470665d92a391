import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import checks
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
from plaudit.errors import InvalidTrajectory
from tests.shared_data import gsm8k_rollouts

TEMPLATE = "The answer is [NUM]."
PROMPT = "Natalia sold clips to 48 of her friends in April. How many clips did she sell?"


# The values that document 003 gives.


def test_documented_format_example_is_perfect():
    assert match_format_exactly("The answer is 4.", TEMPLATE) == 1.0


def test_documented_correctness_example_is_right():
    assert check_answer("2 + 2 = 4. The answer is 4.", "4") == 1.0


def test_documented_number_extraction_is_reproduced():
    found = check_numbers("2 + 2 = 4. The answer is 4.", [4])
    assert found == {"extracted": [4], "matches": [True], "score": 1.0}
    assert type(found["extracted"][0]) is int


@pytest.mark.parametrize(
    ("response", "total"),
    [("2 + 2 = 4. The answer is 4.", 1.0), ("2 plus 2 equals 4.", 0.7)],
    ids=["both", "form is wrong"],
)
def test_documented_test_cases_give_what_the_formula_gives(response, total):
    assert 0.3 * match_format_exactly(response, TEMPLATE) + 0.7 * check_answer(response, "4") == pytest.approx(total)


def test_documented_custom_reward_runs_with_and_without_a_format():
    def custom_reward_function(response, prompt, metadata):
        format_score = evaluate_format(response, metadata.get("format"))
        correctness_score = evaluate_correctness(response, metadata.get("answer", ""))
        return 0.3 * format_score + 0.5 * correctness_score + 0.2 * evaluate_completeness(response)

    assert custom_reward_function("The answer is 4.", "2+2?", {"answer": "4", "format": TEMPLATE}) == pytest.approx(1.0)
    assert custom_reward_function("It is 4.", "2+2?", {"answer": "4"}) == pytest.approx(1.0)
    assert custom_reward_function("It is 4.", "2+2?", {"answer": "4", "format": TEMPLATE}) < 0.8


def test_documented_shaping_adds_and_subtracts():
    def shaped_reward(response, ground_truth):
        base_reward = check_correctness(response, ground_truth)
        length_penalty = -0.1 * len(response.split()) / 100
        reasoning_bonus = 0.1 if has_reasoning_steps(response) else 0.0
        hallucination_penalty = -0.2 if has_hallucination(response) else 0.0
        return base_reward + length_penalty + reasoning_bonus + hallucination_penalty

    assert shaped_reward("4", "4") == pytest.approx(1.0 - 0.001)
    assert shaped_reward("16 - 3 = 13. 13 * 2 = 26. So 26", "26") == pytest.approx(1.1 - 0.012)
    assert shaped_reward("13 * 2 = 27. The answer is 26.", "26") == pytest.approx(0.8 - 0.009)


def test_documented_robust_reward_pays_nothing_without_the_form():
    def robust_reward(response, ground_truth, expected_format):
        correctness = check_correctness(response, ground_truth)
        return 0.0 if check_format(response, expected_format) < 0.8 else correctness

    assert robust_reward("The answer is 4.", "4", TEMPLATE) == 1.0
    assert robust_reward("4", "4", TEMPLATE) == 0.0


# Correctness.


@pytest.mark.parametrize(
    ("response", "truth", "value"),
    [
        ("The answer is 100", 100, 1.0),
        ("The answer is 110", "100", 0.5),
        ("The answer is 90", 100, 0.5),
        ("The answer is 110.1", 100, 0.0),
        ("The answer is -105", "-100", 0.5),
        ("The answer is 0.001", 0, 0.0),
        ("The answer is 0", 0, 1.0),
        ("The answer is not 100", 100, 0.0),
        ("The answer is 95 or 105", 100, 0.0),
        (r"\boxed{95} \boxed{105}", 100, 0.0),
        ("Paris", "Paris", 1.0),
        ("Pariss", "Paris", 0.0),
        ("", 100, 0.0),
    ],
)
def test_near_misses_earn_half_and_only_near_misses(response, truth, value):
    assert check_answer(response, truth) == evaluate_correctness(response, truth) == value
    assert check_correctness(response, truth) == float(value == 1.0)
    assert is_correct(response, truth) == exact_match(response, truth) == (value == 1.0)
    assert is_partially_correct(response, truth) == (value >= 0.5)


def test_the_tolerance_is_a_share_of_the_truth():
    assert close_match("The answer is 102", 100, tolerance=0.02)
    assert not close_match("The answer is 102.1", 100, tolerance=0.02)
    assert close_match("0.3", 0.1 + 0.2, tolerance=0.0) is False  # exactly compared, as floats are written
    with pytest.raises(ValueError, match="tolerance"):
        close_match("1", 1, tolerance=-1)


@pytest.mark.parametrize("check", [check_answer, check_correctness, is_correct, exact_match, is_partially_correct])
@pytest.mark.parametrize("truth", [None, "", [1, 2]], ids=["none", "empty", "list"])
def test_without_a_truth_nothing_is_wrong_but_the_sample(check, truth):
    with pytest.raises(InvalidTrajectory, match="ground truth"):
        check("4", truth)


@pytest.mark.parametrize(
    ("response", "expected", "extracted", "matches", "score"),
    [
        pytest.param("3 and 0.5", [0.5, 3], [3, 0.5], [True, True], 1.0, id="all numbers without a position"),
        pytest.param("4 * 3 = 12. The answer is 12.", 12, [12], [True], 1.0, id="a single number"),
        pytest.param(
            "2 + 2 = 4, 4 * 3 = 12. #### 12", ["12", "4"], [4, 12], [True, True], 1.0, id="working and result"
        ),
        pytest.param("x = 1, x = 2, x = 3, x = 4", [4], [1, 2, 3, 4], [True], 0.25, id="a list of candidates"),
        pytest.param("1 2 3 4", [4], [1, 2, 3, 4], [True], 0.25, id="a bare list of candidates"),
        pytest.param("The answer is not 4.", [4], [], [False], 0.0, id="a denied number"),
        pytest.param("It is not 4.", [4], [], [False], 0.0, id="a denied number without a position"),
        pytest.param("<think>4</think>", [4], [], [False], 0.0, id="only thought"),
        pytest.param("4", [], [4], [], 0.0, id="nothing expected, nothing earned"),
    ],
)
def test_numbers_in_answer_position_are_matched(response, expected, extracted, matches, score):
    assert check_numbers(response, expected) == {"extracted": extracted, "matches": matches, "score": score}


@pytest.mark.parametrize(
    ("response", "number"),
    [("The answer is 42.", 42.0), ("$1,234.50", 1234.5), ("four", None), ("4 or 5", None), ("1e400", None), ("", None)],
)
def test_a_number_is_extracted_only_where_one_is_given(response, number):
    assert extract_number(response) == number


def test_check_answer_agrees_with_the_labels_of_real_rollouts():
    labelled = gsm8k_rollouts()
    agreed = sum(
        (check_answer(row["response"], row["ground_truth"]) == 1.0) == row["metadata"]["labelled_correct"]
        for row in labelled
    )
    assert agreed >= 0.995 * len(labelled)


# Reasoning.


@pytest.mark.parametrize(
    "response",
    [
        "Step 1: Count the red apples. Step 2: Add the green ones.",
        "She has 16 - 3 = 13 eggs. 13 * 2 = 26 dollars.",
        "First we add the two numbers. Then we double the sum because it was asked.",
        "1. Count the red apples\n2. Add the green ones",
    ],
)
def test_different_linked_statements_are_reasoning(response):
    assert has_reasoning_steps(response)


@pytest.mark.parametrize(
    "response",
    [
        "",
        "4",
        "The answer is 4.",
        "Step 1: Step 2: Step 3: Step 4:",
        "Step 1: think. Step 2: think. Step 3: done.",
        "Step 1: we think about it carefully. Step 2: we think about it carefully.",
        "Step 1: we think about it 1 time. Step 2: we think about it 2 time.",
        "therefore because thus hence so then",
        "1.\n2.\n3.\n4.",
    ],
)
def test_ladders_without_content_are_no_reasoning(response):
    assert not has_reasoning_steps(response)


def test_most_right_rollouts_reason_and_few_state_false_sums():
    right = [row["response"] for row in gsm8k_rollouts() if row["metadata"]["labelled_correct"]]
    assert sum(map(has_reasoning_steps, right)) > 0.8 * len(right)
    assert sum(map(has_hallucination, right)) < 0.02 * len(right)


@pytest.mark.parametrize(
    ("response", "false"), [("13 * 2 = 27", True), ("13 * 2 = <<13*2=26>>27", True), ("13 * 2 = <<13*2=26>>26", False)]
)
def test_false_arithmetic_is_hallucination(response, false):
    assert has_hallucination(response) is false


# Quality.


def test_completeness_is_full_for_a_finished_answer_and_falls_with_each_gap():
    assert evaluate_completeness("2 + 2 = 4. The answer is 4.") == 1.0
    assert evaluate_completeness("The answer is 4 because two and") == pytest.approx(2 / 3)
    assert evaluate_completeness("```python\nx") == 0.0
    assert evaluate_completeness("<think>so much") == 0.0
    assert evaluate_completeness("") == 0.0


def test_relevance_pays_for_taking_up_the_question():
    own = "Natalia sold 48 clips in April, so that is the total her friends got."
    assert evaluate_relevance(own, PROMPT) == 1.0
    assert evaluate_relevance("I like tea and cake.", PROMPT) == 0.0


@pytest.mark.parametrize(
    "response", [PROMPT, f"{PROMPT} {PROMPT}", "natalia sold clips friends april sell 48", "", PROMPT.upper() + "!"]
)
def test_relevance_does_not_pay_for_the_words_of_the_prompt_alone(response):
    assert evaluate_relevance(response, PROMPT) == 0.0


def test_clarity_falls_with_endless_sentences_and_repetition():
    assert evaluate_clarity("Two and two make four. That is the sum.") == 1.0
    assert evaluate_clarity("word and " * 40) < 0.1
    assert evaluate_clarity("This is it. " * 20) < 0.2
    assert evaluate_clarity("") == 0.0


def test_conciseness_is_full_up_to_a_hundred_words_and_gone_at_five_hundred():
    assert evaluate_conciseness(" ".join(f"w{n}" for n in range(100))) == 1.0
    assert evaluate_conciseness(" ".join(f"w{n}" for n in range(300))) == pytest.approx(0.5)
    assert evaluate_conciseness(" ".join(f"w{n}" for n in range(500))) == 0.0
    assert evaluate_conciseness("") == 0.0


@pytest.mark.parametrize("measure", [evaluate_completeness, evaluate_clarity, evaluate_conciseness])
@pytest.mark.parametrize("padding", [" " * 500, "\u200b" * 500, " The answer is 4." * 30, " ..." * 50, "\n- \n" * 50])
def test_padding_never_raises_a_quality(measure, padding):
    assert measure("The answer is 4." + padding) <= measure("The answer is 4.")


QUALITIES = {
    "completeness": evaluate_completeness,
    "relevance": lambda response: evaluate_relevance(response, PROMPT),
    "clarity": evaluate_clarity,
    "conciseness": evaluate_conciseness,
    "format": lambda response: evaluate_format(response, TEMPLATE),
    "answer": lambda response: check_answer(response, "4"),
    "numbers": lambda response: check_numbers(response, [4])["score"],
    "reasoning": lambda response: float(has_reasoning_steps(response)),
    "hallucination": lambda response: float(has_hallucination(response)),
}


@pytest.mark.parametrize("measure", QUALITIES.values(), ids=QUALITIES)
@given(st.text(st.characters(codec=None)))
def test_any_response_is_measured_within_bounds(measure, response):
    assert 0.0 <= measure(response) <= 1.0


def test_every_documented_name_is_public():
    documented = {
        "match_format_exactly", "check_answer", "check_numbers", "extract_number", "exact_match", "close_match",
        "is_correct",
        "is_partially_correct", "check_correctness", "check_format", "has_reasoning_steps", "has_hallucination",
        "evaluate_format", "evaluate_correctness", "evaluate_completeness", "evaluate_relevance", "evaluate_clarity",
        "evaluate_conciseness",
    }  # fmt: skip
    assert documented <= set(checks.__all__)
    assert all(getattr(checks, name).__doc__ for name in documented)
