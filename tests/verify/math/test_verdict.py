from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.errors import InvalidTrajectory
from plaudit.verify import MathPolicy, Method, Rejection, Source, VerdictStatus, verify_math
from plaudit.verify.math.verdict import find_committed_answer
from tests.shared_data import gsm8k_rollouts

STRICT = MathPolicy(unevaluated=False)


def is_right(response, truth, policy=STRICT):
    return verify_math(truth, response, policy).correct


@pytest.mark.parametrize(
    "response",
    [
        "4",
        "4.0",
        "It is 4.",
        "The answer is 4 because 2 + 2 = 4.",
        "The answer is 3 + 1 = 4.",
        "The answer is x = 4.",
        "The answer is $4$.",
        "The answer is (4)",
        "the ANSWER is ４!",
        r"The final answer is $\boxed{4}$. I hope it is correct.",
        r"\boxed{4 \text{ apples}}",
        r"\boxed{4}, that is, \boxed{4}",
        r"\boxed{4}, or 4.0",
        "The answer is not 5. The answer is 4.",
        "The answer is 5. Wait, that is wrong. The answer is 4.",
        "The answer is 4. Wait, let me check: 2 + 2 = 4. Yes.",
        "<think>5? no, 4</think>4",
        "The answer is 4. " + "I hope that this helps. " * 200,
        "答案是 4。",
        "La réponse est 4.",
        "Die Antwort lautet: 4",
        "La respuesta es 4.",
    ],
)
def test_right_answers_are_right_in_any_dress(response):
    assert is_right(response, "4")


ATTACKS = {
    "false equation": (r"\boxed{5=4}", "4"),
    "false equation, other side": (r"\boxed{5=4}", "5"),
    "negation": ("The answer is not 4.", "4"),
    "negated box": (r"The answer is not \boxed{4}.", "4"),
    "negation in Chinese": ("答案不是 4。", "4"),
    "hedge": ("The answer is 4 or 5.", "4"),
    "hedge in a box": (r"\boxed{4 \text{ or } 5}", "4"),
    "hedge beside a box": (r"\boxed{4}, or maybe 5", "4"),
    "hedge in German": ("Die Antwort ist 4 oder 5.", "4"),
    "hedge in French": ("La réponse est 4 ou 5.", "4"),
    "hedge in Spanish": ("La respuesta es 4 o 5.", "4"),
    "hedge in Chinese": ("答案是 4 或 5。", "4"),
    "retraction": ("The answer is 4... wait, it is 5.", "4"),
    "retracted box": (r"\boxed{4} Actually, the answer is 5.", "4"),
    "enumeration of neighbours": ("The answer is 2, 3, 4, 5, 6.", "4"),
    "enumeration in a box": (r"\boxed{2, 3, 4, 5, 6}", "4"),
    "percent times a hundred": (r"\boxed{400\%}", "4"),
    "percent for a number that is none": (r"\boxed{4\%}", "400"),
    "wrong unit": (r"\boxed{4 \text{ m}}", r"4 \text{ cm}"),
    "wrong currency": (r"\boxed{4 \text{ cents}}", r"\$4"),
    "only thought": ("<think>The answer is 4.</think>", "4"),
    "only thought, unclosed": (r"<think>\boxed{4}", "4"),
    "several boxes, right one first": (r"\boxed{4} \boxed{9}", "4"),
    "several boxes, right one last": (r"\boxed{9} \boxed{4}", "4"),
    "several boxes, right one in the middle": (r"\boxed{9} \boxed{4} \boxed{8}", "4"),
    "several boxes apart": (r"Case one gives \boxed{9}. Case two gives \boxed{4}.", "4"),
    "unevaluated copy": (r"\boxed{2+2}", "4"),
    "empty box": (r"\boxed{}", "4"),
    "echo of the prompt": ("What is 2 + 2?", "4"),
    "infinity": (r"\boxed{\infty}", "4"),
    "nan": ("nan", "4"),
    "overflow": ("1e400", "4"),
    "negative": (r"\boxed{-4}", "4"),
    "tower": (r"\boxed{9^{9^9}}", "4"),
    "more than": ("The answer is more than 4", "4"),
    "between": ("The answer is between 4 and 5", "4"),
    "million": ("The answer is 4 million", "4"),
    "an equation to be solved": ("x^2 = 4", "4"),
    "part of a fraction": (r"\frac{x}{4}", "4"),
    "part of a product": ("the sum is 2 * 4", "4"),
    "other equation": ("3x + 4 = 0", "5x - 7 = 0"),
    "other letter": ("b", "a"),
    "dollars for cents": ("$5", "5 cents"),
    "metres for centimetres": ("5 m", "5 cm"),
}


@pytest.mark.parametrize(("response", "truth"), ATTACKS.values(), ids=ATTACKS)
def test_what_only_contains_the_truth_is_not_right(response, truth):
    assert not is_right(response, truth)


@pytest.mark.parametrize(
    ("response", "rejected"),
    [
        pytest.param("The answer is 5. The answer is 4.", Rejection.CONTRADICTED, id="contradiction"),
        pytest.param("\\boxed{4}\n#### 5", Rejection.CONTRADICTED, id="a weaker mark after a stronger"),
        pytest.param(r"\boxed{4} or 5", Rejection.CONTRADICTED, id="hedge"),
        pytest.param("The answer is not 4.", Rejection.DENIED, id="negation"),
        pytest.param("The answer is 4... wait, it is 5", Rejection.CONTRADICTED, id="retraction"),
    ],
)
def test_an_answer_that_is_not_committed_to_gives_the_reason(response, rejected):
    verdict = verify_math("4", response)
    assert (verdict.correct, verdict.status, verdict.rejected) == (False, VerdictStatus.OK, rejected)
    assert rejected.value in verdict.reason
    assert find_committed_answer(response).rejected is rejected


@pytest.mark.parametrize(
    "response", ["", " \n", "\u200b", "<think>4", "<think>4</think>", r"\boxed{}", "...", "I do not know"]
)
def test_nothing_said_is_no_answer(response):
    assert verify_math("4", response).status is VerdictStatus.NO_ANSWER


@pytest.mark.parametrize(
    ("response", "truth"),
    [
        ("The answer is (B).", "B"),
        ("The answer is 4 or 5", "4 or 5"),
        ("The answer is 4, 5", "4, 5"),
        ("does not exist", "Does not exist."),
        ("0.5", 0.5),
        ("$18", "18 dollars"),
        ("5 cm", "5 centimeters"),
        ("50%", "50"),
        ("12", "3 * 4 = 12\n#### 12"),
        ("12", r"We multiply: $3 \cdot 4 = \boxed{12}$."),
        ("12", "The answer is 12."),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{1}\boxed{2}", "1, 2"),
        ("True", True),
    ],
)
def test_a_right_response_passes_for_every_kind_of_truth(response, truth):
    assert is_right(response, truth)


@pytest.mark.parametrize("truth", [None, "", " ", [4], {"a": 1}, float("nan"), float("inf"), b"4"])
def test_a_truth_that_cannot_be_compared_is_an_error_and_not_a_wrong_answer(truth):
    with pytest.raises(InvalidTrajectory, match="must be text or a finite number"):
        verify_math(truth, "4")


PROMPT = "How many are there?\n(A) 12\n(B) 13\n(C) 14\n(D) none of these"


@pytest.mark.parametrize(
    ("truth", "response", "prompt", "correct"),
    [
        pytest.param("B", "The answer is 13.", PROMPT, True, id="text for a letter"),
        pytest.param("B", r"\boxed{12}", PROMPT, False, id="text of another option"),
        pytest.param("13", "The answer is (B)", PROMPT, True, id="letter for a text"),
        pytest.param("13", "The answer is C", PROMPT, False, id="letter of another option"),
        pytest.param("B", r"\boxed{\textbf{(B)}\ 13}", PROMPT, True, id="letter and text"),
        pytest.param("B", r"\boxed{\text{B}}", PROMPT, True, id="letter in text"),
        pytest.param("D", "The answer is none of these.", PROMPT, True, id="words"),
        pytest.param("B", "13", "A. 12 B. 13 C. 14", True, id="options in a line"),
        pytest.param("B", "13", r"$\textbf{(A)}\ 12\qquad\textbf{(B)}\ 13\qquad\textbf{(C)}\ 14$", True, id="LaTeX"),
        pytest.param("B", PROMPT, PROMPT, False, id="echo of the options"),
        pytest.param("B", "(A) 12 (B) 13 (C) 14", PROMPT, False, id="all options"),
        pytest.param("B", "The answer is A or B.", PROMPT, False, id="two options"),
        pytest.param("B", "13", None, False, id="without the options"),
        pytest.param("B", "13", "A man has 13 apples.", False, id="a prompt without options"),
    ],
)
def test_options_of_the_prompt_join_letters_and_texts(truth, response, prompt, correct):
    assert verify_math(truth, response, prompt=prompt).correct is correct


@pytest.mark.parametrize(
    ("response", "truth"), [("The answer is -0", "0"), ("The answer is ٤.", "4"), ("The answer is ４", "4")]
)
def test_odd_ways_to_write_a_number_are_read(response, truth):
    assert is_right(response, truth)


def test_of_four_and_four_hundred_percent_at_most_one_answers_four():
    assert sum(is_right(answer, "4") for answer in (r"\boxed{4\%}", r"\boxed{400\%}")) <= 1


def test_a_verdict_says_what_was_found_and_how_it_was_decided():
    verdict = verify_math("0.5", r"So we get \boxed{\frac{1}{2}}.")
    assert (verdict.correct, verdict.status) == (True, VerdictStatus.OK)
    assert (verdict.answer, verdict.source, verdict.method) == (r"\frac{1}{2}", Source.BOXED, Method.NUMBER)
    assert verdict.ground_truth == "0.5"
    assert verdict.reason


def test_verdicts_are_the_same_from_any_thread():
    responses = [rf"\boxed{{\frac{{{number}}}{{7}}}}" for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        correct = list(pool.map(lambda response: is_right(response, "3/7"), responses))
    assert [place for place, right in enumerate(correct) if right] == [3]


@given(st.text(st.characters(codec=None)))
def test_any_response_gets_a_verdict(response):
    assert verify_math("4", response).status in VerdictStatus


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_a_number_meets_itself_in_every_mark(number):
    for mark in ("{}", "The answer is {}.", "#### {}", "<answer>{}</answer>", "\\boxed{{{}}}", "A: {}"):
        assert is_right(mark.format(f"{number:,f}" if not isinstance(number, int) else number), number)


@given(st.integers(), st.integers())
def test_another_number_is_wrong_in_every_mark(number, other):
    for mark in ("{}", "The answer is {}.", "#### {}", "<answer>{}</answer>", "\\boxed{{{}}}", "A: {}"):
        assert is_right(mark.format(other), number) == (number == other)


def test_verdicts_agree_with_the_labels_of_real_rollouts():
    labelled = gsm8k_rollouts()
    agreed = sum(
        is_right(row["response"], row["ground_truth"]) == row["metadata"]["labelled_correct"] for row in labelled
    )
    assert agreed >= 0.998 * len(labelled)
