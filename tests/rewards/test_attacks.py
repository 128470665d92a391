"""Every row of the attack catalogue that concerns answers, format, length, repetition and keywords."""

import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit import Trajectory
from plaudit.rewards import (
    BUILT_INS,
    CheckNumbersReward,
    FormatReward,
    KeywordReward,
    LengthReward,
    MathReward,
    RepetitionPenalty,
    StructuredOutputReward,
    TemplateReward,
    WordReward,
)
from plaudit.verify.card import kinds

PROMPT = "Tom has 2 apples and buys 2 more. How many apples does he have?"
SETTINGS = {
    "keyword": {"required": ["because"], "bonus": ["therefore"], "penalty": ["maybe"]},
    "template": {"expected_format": "The answer is [NUM]."},
    "match_format_exactly": {"expected_format": "The answer is [NUM]."},
    "words": {"good_tokens": ["because"]},
    "soft_overlong": {"limit": 100, "buffer": 20, "unit": "word"},
    "cosine_length": {"limit": 100},
}
# The truth of `code` is tests, not an answer: test_code_reward.py has its attacks. Models have theirs in tests/models,
# judges in tests/judges, verifiers, which need columns of their own, in tests/verify/test_verifiers.py.
MODELS = {"pipeline", "reward_model", "process_reward_model", "similarity", "likelihood"}
ELSEWHERE = {"code", "judge", "rubric", "auto", *kinds()} | MODELS
REWARDS = {name: build(**SETTINGS.get(name, {})) for name, build in BUILT_INS.items() if name not in ELSEWHERE}
REWARDS |= {f"structured {kind}": StructuredOutputReward(kind) for kind in ("xml", "markdown", "code")}
REWARDS |= {f"length {shape}": LengthReward(20, shape=shape) for shape in ("gaussian", "target")}
REWARDS["format partial"] = FormatReward(partial=True)
REWARDS["math no answer"] = MathReward(no_answer=-0.5)
every_reward = pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS)

JUDGES = {
    "math": MathReward(),
    "check_answer": MathReward(partial=0.5),
    "close": MathReward(partial=1.0, tolerance=0.0),
}
every_judge = pytest.mark.parametrize("reward", JUDGES.values(), ids=JUDGES)


def output(reward, response, truth="4"):
    return reward.compute_reward(Trajectory(prompt=PROMPT, response=response, ground_truth=truth))


def earned(reward, response, truth="4"):
    return output(reward, response, truth).reward


# Answers.

ORACLE_ATTACKS = {
    "right box first": r"\boxed{4} \boxed{9}",
    "right box last": r"\boxed{9} \boxed{4}",
    "right box in the middle": r"\boxed{9} \boxed{4} \boxed{8}",
    "hedge": "The answer is 4 or 9.",
    "hedge in a box": r"\boxed{4 \text{ or } 9}",
    "hedge in tags": "<answer>4 or 9</answer>",
    "hedge across tags": "<answer>4</answer><answer>9</answer>",
    "enumeration": "The answer is 2, 3, 4, 5, 6.",
    "enumeration in a box": r"\boxed{2, 3, 4, 5, 6}",
    "enumeration without marks": "It could be 3, 4 or 5",
    "range": "The answer is between 3 and 5",
    "negation": "The answer is not 4.",
    "negated box": r"The answer is not \boxed{4}.",
    "retraction": "The answer is 4... wait, it is 9.",
    "retracted box": r"\boxed{4} Actually, the answer is 9.",
    "false equation": r"\boxed{9=4}",
    "false equation the other way": r"\boxed{4=9}",
    "unevaluated": r"\boxed{2+2}",
    "percent": r"\boxed{400\%}",
    "sign": r"\boxed{-4}",
    "only thought": "<think>The answer is 4.</think>",
    "only thought, unclosed": "<think>The answer is 4.",
    "thought right, said wrong": "<think>4</think><answer>9</answer>",
    "prompt echoed": PROMPT + " 2 apples",
    "right among the working": "2 + 2 = 4. The answer is 9.",
    "inverted": r"\boxed{1/4}",
    "power": r"\boxed{4^{4}}",
    "million": "The answer is 4 million.",
    "inequality": r"\boxed{x > 4}",
    "question": "Is the answer 3? Is it 5?",
    "invisible digits beside it": "The answer is 4\u200b4.",
    "empty box": r"\boxed{}",
}


@every_judge
@pytest.mark.parametrize("response", ORACLE_ATTACKS.values(), ids=ORACLE_ATTACKS)
def test_knowing_the_truth_without_committing_to_it_earns_nothing(reward, response):
    assert earned(reward, response) == 0.0


@every_judge
@pytest.mark.parametrize("truth", ["4", "5"])
def test_a_false_equation_is_wrong_for_both_of_its_sides(reward, truth):
    assert earned(reward, r"\boxed{5=4}", truth) == 0.0


@every_judge
@pytest.mark.parametrize(
    "response", ["inf", "nan", "-inf", "Infinity", "1e400", r"\boxed{\infty}", "9^{9^9}", "(10^7)!", ""]
)
def test_numbers_without_end_are_never_right(reward, response):
    assert earned(reward, f"The answer is {response}") == 0.0
    assert math.isfinite(earned(reward, response))


@every_judge
@pytest.mark.parametrize("response", ["The answer is ４.", "The answer is ٤.", "The answer is 4.0"])
def test_digits_of_other_scripts_are_numbers(reward, response):
    assert earned(reward, response) == 1.0


@every_judge
@pytest.mark.parametrize("response", ["The answer is −-4.", "The answer is - -4", r"\boxed{--4}"])
def test_double_signs_are_no_numbers(reward, response):
    assert earned(reward, response) == 0.0


@every_judge
def test_minus_zero_is_zero(reward):
    assert earned(reward, "The answer is -0", "0") == 1.0


@every_judge
@pytest.mark.parametrize(
    "edit",
    [str.upper, lambda text: f"**{text}**", lambda text: text.replace(" ", "\n  "), lambda text: f"\u200b{text}\ufeff"],
    ids=["case", "markdown", "whitespace", "zero-width"],
)
def test_edits_that_keep_the_meaning_change_nothing(reward, edit):
    assert earned(reward, edit("The answer is 4.")) == 1.0
    assert earned(reward, edit("The answer is 9.")) == 0.0


@every_judge
def test_long_filler_after_the_answer_does_not_make_it_wrong(reward):
    assert earned(reward, "The answer is 4.\n\n" + "Let me know if anything is unclear. " * 500) == 1.0


def test_a_strategy_that_never_sees_the_truth_earns_chance_at_most():
    guesses = ["1", "The answer is 1, 2, 3 or 4", r"\boxed{1}\boxed{2}\boxed{3}\boxed{4}", "1 = 2 = 3 = 4", PROMPT]
    truths = [str(number) for number in range(1, 21)]
    for reward in JUDGES.values():
        for guess in guesses:
            assert sum(output(reward, guess, truth).score for truth in truths) <= 1.0


def test_listing_candidates_does_not_pay_in_number_checks():
    honest = earned(CheckNumbersReward(), "The answer is 4.", [4])
    listed = earned(CheckNumbersReward(), " ".join(f"The answer is {n}." for n in range(20)), [4])
    assert honest == 1.0
    assert listed <= 0.05


# Format.

FORMAT_ATTACKS = {
    "empty blocks": "<think></think><answer></answer>",
    "empty think": "<think></think><answer>4</answer>",
    "blank think": "<think> \n </think><answer>4</answer>",
    "zero-width think": "<think>\u200b\u200d</think><answer>4</answer>",
    "punctuation think": "<think>...</think><answer>4</answer>",
    "filler letters": "<think>\u3164</think><answer>4</answer>",
    "repeated think": "<think>a</think><think>b</think><answer>4</answer>",
    "repeated answer": "<think>a</think><answer>4</answer><answer>5</answer>",
    "reversed blocks": "<answer>4</answer><think>a</think>",
    "reversed tags": "</think>a<think></answer>4<answer>",
    "answer in think": "<think>a<answer>4</answer></think>",
    "answer in think and outside": "<think>a<answer>5</answer></think><answer>4</answer>",
    "think in answer": "<think>a</think><answer><think>b</think>4</answer>",
    "crossed tags": "<think>a<answer></think>4</answer>",
    "trailing garbage": "<think>a</think><answer>4</answer> and more",
    "unclosed": "<think>a</think><answer>4",
    "only closing tags": "a</think>4</answer>",
}


@pytest.mark.parametrize("response", FORMAT_ATTACKS.values(), ids=FORMAT_ATTACKS)
def test_broken_sections_earn_no_format_reward(response):
    assert earned(FormatReward(), response) == 0.0


@pytest.mark.parametrize("response", FORMAT_ATTACKS.values(), ids=FORMAT_ATTACKS)
def test_broken_sections_never_earn_full_marks_in_parts(response):
    assert earned(FormatReward(partial=True), response) <= 0.5


def test_a_template_copied_with_its_placeholder_is_not_filled():
    assert earned(TemplateReward("The answer is [NUM]."), "The answer is [NUM].") == 0.0


# Length, repetition, keywords.

PADDINGS = {
    "spaces": " " * 50,
    "newlines": "\n" * 50,
    "zero-width": "\u200b" * 50,
    "zero-width words": " \u200b" * 50,
    "fillers": " \u3164" * 50,
    "dots": " ." * 50,
    "dashes": " - -- —" * 20,
}


@pytest.mark.parametrize("shape", ["linear", "gaussian", "target"])
@pytest.mark.parametrize("padding", PADDINGS.values(), ids=PADDINGS)
def test_padding_that_says_nothing_is_no_length(shape, padding):
    reward = LengthReward(50, shape=shape)
    assert earned(reward, "Ten words are not enough for a reward of fifty" + padding) == earned(
        reward, "Ten words are not enough for a reward of fifty"
    )


@pytest.mark.parametrize("shape", ["linear", "gaussian", "target"])
def test_length_reward_never_rises_again_beyond_its_peak(shape):
    reward = LengthReward(20, shape=shape)
    doses = [earned(reward, " ".join(f"w{n}" for n in range(count))) for count in range(20, 200, 5)]
    assert doses == sorted(doses, reverse=True)
    assert doses[0] == 1.0


def test_repeating_a_paragraph_costs_more_with_every_dose():
    paragraph = "Two apples and two more apples make four apples in all. "
    doses = [earned(RepetitionPenalty(), paragraph * times) for times in (1, 2, 4, 8)]
    assert doses == sorted(doses, reverse=True)
    assert doses[-1] < -0.8


def test_changing_case_or_punctuation_does_not_hide_repetition():
    varied = "Count the apples. count THE apples! Count the, apples? (count the apples)"
    assert earned(RepetitionPenalty(), varied) < -0.6


KEYWORD_FLOODS = {
    "one keyword": "because " * 50,
    "all keywords": "because therefore example " * 20,
    "keywords with a little text": "so because therefore example because therefore example it because therefore is",
}


@pytest.mark.parametrize("response", KEYWORD_FLOODS.values(), ids=KEYWORD_FLOODS)
def test_keyword_floods_do_not_pay(response):
    words = ["because", "therefore", "example"]
    assert earned(KeywordReward(bonus=words), response) == 0.0
    assert earned(KeywordReward(required=words), response) == 0.0
    assert earned(WordReward(words), response) == 0.0


def test_keywords_pay_no_more_for_being_repeated():
    reward = KeywordReward(bonus=["because"])
    text = "It is four {} two and two make four, and nothing else in the world does so."
    assert earned(reward, text.format("because")) == earned(reward, text.format("because because because"))


# Any input at all.


@every_reward
@settings(max_examples=60)
@given(
    st.text(st.characters(codec=None))
    | st.lists(st.sampled_from(["<think>", "</answer>", "\\boxed{", "4", "=", "#", "\x00"])).map("".join)
)
def test_any_response_is_scored_within_bounds(reward, response):
    value = earned(reward, response)
    assert math.isfinite(value)
    if reward.bounds is not None:
        low, high = reward.bounds
        assert low <= value <= high


LONGER_THAN_ANY_LIMIT = 105_000  # characters; texts of more than 100,000 are not parsed, nor searched for code
LONG = {
    name: part * (1 + LONGER_THAN_ANY_LIMIT // len(part))
    for name, part in {
        "one word": "a",
        "words": "because ",
        "digits": "9",
        "numbers": "9 ",
        "spaces": " ",
        "brackets": "{[(",
        "boxes": "\\boxed{",
        "tags": "<think>",
        "phrases": "answer is ",
        "equations": "1=1 ",
        "surrogates": "\ud800",
        "NUL": "\x00",
        "right to left": "\u202eשלום ",
        "fences": "```\n",
    }.items()
}


SAME_PATH = {
    "exact_match",
    "close_match",
    "binary",
    "graduated",
    "continuous",
    "check_answer",
    "math no answer",
}  # as math


@pytest.mark.parametrize("response", LONG.values(), ids=LONG)
def test_a_long_response_of_anything_is_scored(response):
    for name in set(REWARDS) - SAME_PATH:
        assert math.isfinite(earned(REWARDS[name], response)), name


@every_reward
def test_scoring_changes_nothing_and_survives_a_journey_to_another_process(reward):
    trajectory = Trajectory(prompt=PROMPT, response="<think>2 + 2</think> The answer is 4.", ground_truth="4")
    before = trajectory.to_json()
    first = reward.compute_reward(trajectory)
    again = pickle.loads(pickle.dumps(reward)).compute_reward(trajectory)
    assert first == again
    assert trajectory.to_json() == before
