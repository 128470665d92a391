import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import gsm8k_rollouts, labelled_answers

from plaudit.errors import InvalidTrajectory
from plaudit.verify.answers import How, Trouble, final_answer
from plaudit.verify.comparison import Verdict, judge, read_truth


def verdict(response, truth):
    return judge(response, read_truth(truth)).verdict


@pytest.mark.parametrize(
    ("response", "text", "how"),
    [
        pytest.param(r"so \boxed{\text{about } 4}", r"\text{about } 4", How.BOXED, id="box"),
        pytest.param(r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", How.BOXED, id="braces in a box"),
        pytest.param(r"\boxed{4} <answer>4</answer>", "4", How.BOXED, id="a box is stronger than a tag"),
        pytest.param("#### 4\n<answer>5</answer>", "5", How.TAGGED, id="a tag is stronger than hashes"),
        pytest.param("The answer is 5.\n#### 4", "4", How.HASHES, id="hashes are stronger than words"),
        pytest.param("3 apples. The answer is: **4** apples.", "4** apples", How.PHRASE, id="words"),
        pytest.param("Answer:\n\n4", "4", How.PHRASE, id="on the next line"),
        pytest.param("13 * 2 = 26\nA: 26", "26", How.PHRASE, id="label"),
        pytest.param("Final answer - 12", "12", How.PHRASE, id="dash"),
        pytest.param("The answer, we see, are 3. The answer is 4.", "4", How.PHRASE, id="only what is stated"),
        pytest.param("2 plus 2 equals 4.", "4", How.EQUATION, id="equation"),
        pytest.param("So 3 * 4 = 12 apples for 3 friends.", "12", How.EQUATION, id="the equation of the last sentence"),
        pytest.param("She had 3. She makes $26 a day", "$26", How.LAST_NUMBER, id="last number"),
        pytest.param("Paris", "Paris", How.WHOLE, id="no number at all"),
        pytest.param("#### Step 1: add\n2 + 2 = 4", "4", How.EQUATION, id="a heading is no answer"),
    ],
)
def test_the_strongest_mark_gives_the_answer(response, text, how):
    answer = final_answer(response)
    assert (answer.text, answer.how, answer.trouble) == (text, how, None)


@pytest.mark.parametrize(
    ("response", "trouble"),
    [
        pytest.param(r"\boxed{3} or \boxed{4}", Trouble.CONTRADICTED, id="two boxes"),
        pytest.param("<answer>4</answer><answer>5</answer>", Trouble.CONTRADICTED, id="two tags"),
        pytest.param("The answer is 5. The answer is 4.", Trouble.CONTRADICTED, id="two statements"),
        pytest.param("\\boxed{4}\n#### 5", Trouble.CONTRADICTED, id="a weaker mark after a stronger"),
        pytest.param("The answer is 4, 5 or 6", Trouble.HEDGED, id="list"),
        pytest.param(r"\boxed{4} or 5", Trouble.HEDGED, id="a choice after a box"),
        pytest.param("The answer is 4. Or maybe 5.", Trouble.HEDGED, id="a choice after the statement"),
        pytest.param("It is either 4 or 5.", Trouble.HEDGED, id="a choice without marks"),
        pytest.param("The answer is not 4.", Trouble.NEGATED, id="negation"),
        pytest.param("The answer isn't 4.", Trouble.NEGATED, id="contraction"),
        pytest.param("The answer is certainly not 4.", Trouble.NEGATED, id="negation with an adverb"),
        pytest.param(r"The answer is not \boxed{4}", Trouble.NEGATED, id="negated box"),
        pytest.param(r"\boxed{4} is wrong", Trouble.NEGATED, id="denied box"),
        pytest.param("4 is not the answer", Trouble.NEGATED, id="denied number"),
        pytest.param("The answer is 4... wait, it is 5", Trouble.RETRACTED, id="retraction"),
        pytest.param(r"\boxed{4} Actually, it should be 5.", Trouble.RETRACTED, id="retracted box"),
        pytest.param("#### 4\nNo, that is wrong.", Trouble.RETRACTED, id="taken back without another"),
        pytest.param("The answer is Paris. Wait, it is London.", Trouble.RETRACTED, id="retracted text"),
        pytest.param(r"\boxed{5=4}", Trouble.FALSE_EQUATION, id="false equation"),
    ],
)
def test_an_answer_that_cannot_be_trusted_says_why(response, trouble):
    assert final_answer(response).trouble is trouble


@pytest.mark.parametrize(
    "response",
    [
        "4",
        "4.0",
        "The answer is 4 because 2 + 2 = 4.",
        "The answer is 3 + 1 = 4.",
        "The answer is x = 4.",
        "The answer is $4$.",
        "The answer is (4)",
        "the ANSWER is ４!",
        r"The final answer is $\boxed{4}$. I hope it is correct.",
        r"\boxed{4 \text{ apples}}",
        r"\boxed{4}, that is, \boxed{4}",
        "The answer is not 5. The answer is 4.",
        "The answer is 4. Wait, let me check: 2 + 2 = 4. Yes.",
        "<think>5? no, 4</think>4",
        "The answer is 4. " + "I hope that this helps. " * 200,
    ],
)
def test_right_answers_are_right_in_any_dress(response):
    assert verdict(response, "4") is Verdict.RIGHT


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{2+2}",
        r"\boxed{9^{9^9}}",
        "The answer is 9^{9^9}",
        "The answer is 4 million",
        "The answer is more than 4",
        "The answer is between 4 and 5",
        "The answer is -4",
        "The answer is 400%",
        r"\boxed{4 or 5}",
        "x + y = 4",
        r"\frac{x}{4}",
        "the sum is 2 * 4",
    ],
)
def test_what_only_contains_the_truth_is_not_right(response):
    assert verdict(response, "4") is not Verdict.RIGHT


@pytest.mark.parametrize("response", ["", " \n", "\u200b", "<think>4", "<think>4</think>", r"\boxed{}", "..."])
def test_nothing_said_is_no_answer(response):
    assert verdict(response, "4") is Verdict.NO_ANSWER


@pytest.mark.parametrize(
    ("response", "truth"),
    [
        ("The answer is (B).", "B"),
        ("The answer is Paris, France", "paris"),
        ("The answer is 4 or 5", "4 or 5"),
        ("The answer is 4, 5", "4, 5"),
        ("does not exist", "Does not exist."),
        ("0.5", 0.5),
        ("$18", "18 dollars"),
        ("5 cm", "5 centimeters"),
        ("50%", "50"),
        ("12", "3 * 4 = 12\n#### 12"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("True", True),
    ],
)
def test_truths_of_every_kind_are_met(response, truth):
    assert verdict(response, truth) is Verdict.RIGHT


@pytest.mark.parametrize(
    ("response", "truth"), [("5 m", "5 cm"), ("$5", "5 cents"), ("3x + 4 = 0", "5x - 7 = 0"), ("b", "a")]
)
def test_answers_that_only_look_alike_are_wrong(response, truth):
    assert verdict(response, truth) is not Verdict.RIGHT


@pytest.mark.parametrize("truth", [None, "", " ", [4], {"a": 1}, float("nan"), float("inf"), b"4"])
def test_a_truth_that_cannot_be_compared_is_an_error_and_not_a_wrong_answer(truth):
    with pytest.raises(InvalidTrajectory, match="must be text or a finite number"):
        read_truth(truth)


@given(st.text(st.characters(codec=None)))
def test_any_response_gets_a_verdict(response):
    assert verdict(response, "4") in Verdict


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_a_number_meets_itself_in_every_mark(number):
    for mark in ("{}", "The answer is {}.", "#### {}", "<answer>{}</answer>", "\\boxed{{{}}}", "A: {}"):
        assert verdict(mark.format(f"{number:,f}" if not isinstance(number, int) else number), number) is Verdict.RIGHT


@given(st.integers(), st.integers())
def test_another_number_is_wrong_in_every_mark(number, other):
    for mark in ("{}", "The answer is {}.", "#### {}", "<answer>{}</answer>", "\\boxed{{{}}}", "A: {}"):
        assert (verdict(mark.format(other), number) is Verdict.RIGHT) == (number == other)


def test_verdicts_agree_with_the_labels_of_real_rollouts():
    labelled = gsm8k_rollouts()
    agreed = sum(
        (verdict(row["response"], row["ground_truth"]) is Verdict.RIGHT) == row["metadata"]["labelled_correct"]
        for row in labelled
    )
    assert agreed >= 0.995 * len(labelled)


@pytest.mark.parametrize(
    "part", ["gsm8k_model_outputs", "tora_gsm8k_outputs", "qwen_math_short", "perturb_neg", "shuffle_neg"]
)
def test_verdicts_agree_with_the_labels_of_other_real_outputs(part):
    labelled = labelled_answers(part, 800)
    agreed = sum((verdict(response, truth) is Verdict.RIGHT) == correct for response, truth, correct in labelled)
    assert agreed >= 0.995 * len(labelled)
