import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify import MathPolicy, Rejection, Source, extract

POLICY = MathPolicy()


def found(response, **switches):
    return extract(response, MathPolicy(**switches))


@pytest.mark.parametrize(
    ("response", "answer", "source"),
    [
        pytest.param(r"so \boxed{\text{about } 4}", r"\text{about } 4", Source.BOXED, id="box"),
        pytest.param(r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}", Source.BOXED, id="braces in a box"),
        pytest.param(r"\fbox{4}", "4", Source.BOXED, id="fbox"),
        pytest.param(r"\\boxed{004}", "004", Source.BOXED, id="doubled backslash"),
        pytest.param(r"\boxed 7 apples", "7", Source.BOXED, id="box without braces"),
        pytest.param(r"\boxed{\(\boxed{70}\)}", "70", Source.BOXED, id="box in a box"),
        pytest.param(r"\boxed{x \in \{1, 2\}}", r"x \in \{1, 2\}", Source.BOXED, id="escaped braces"),
        pytest.param(r"\boxed{1} and \boxed{2}", "1, 2", Source.BOXED, id="boxes side by side"),
        pytest.param(r"$\boxed{1}$, $\boxed{2}$", "1, 2", Source.BOXED, id="formulas with boxes side by side"),
        pytest.param(r"7 + \boxed{\phantom{2}} = 11, so \boxed{4}", "4", Source.BOXED, id="a blank is no answer"),
        pytest.param(r"\boxed{4} <answer>4</answer>", "4", Source.BOXED, id="a box is stronger than a tag"),
        pytest.param("#### 4\n<answer>5</answer>", "5", Source.TAG, id="a tag is stronger than hashes"),
        pytest.param("The answer is 5.\n#### 4", "4", Source.HASHES, id="hashes are stronger than words"),
        pytest.param("3 apples. The answer is: **4** apples.", "4** apples", Source.PHRASE, id="words"),
        pytest.param("Answer:\n\n4", "4", Source.PHRASE, id="on the next line"),
        pytest.param("**Final Answer**\n\n4", "4", Source.PHRASE, id="under a heading"),
        pytest.param("13 * 2 = 26\nA: 26", "26", Source.PHRASE, id="label"),
        pytest.param("Final answer - 12", "12", Source.PHRASE, id="dash"),
        pytest.param("Final Answer: The final answer is $(0, 1)$. Bye.", "$(0, 1)$", Source.PHRASE, id="said twice"),
        pytest.param("Final answer: the number of points is 19.", "19", Source.PHRASE, id="behind the last verb"),
        pytest.param("The answer is $x = 1 . $ Bye.", "$x = 1 . $ Bye", Source.PHRASE, id="stop in a formula"),
        pytest.param("The answer, we see, are 3. The answer is 4.", "4", Source.PHRASE, id="only what is stated"),
        pytest.param("## Final Answer\n\n12 apples", "12 apples", Source.PHRASE, id="under a Markdown heading"),
        pytest.param('{"steps": [1, 2], "answer": "12"}', "12", Source.PHRASE, id="JSON"),
        pytest.param("The answer is therefore, simply, 12.", "12", Source.PHRASE, id="adverbs"),
        pytest.param("The answer is (C) 12", "(C) 12", Source.PHRASE, id="a choice with its text"),
        pytest.param(r"\text{Answer: } 12", "12", Source.PHRASE, id="label in LaTeX text"),
        pytest.param(
            "Answer \\begin{equation} 9 \\end{equation}",
            "9",
            Source.PHRASE,
            id="answer in an environment",
        ),
        pytest.param("We get\n\\begin{align*} x=9 \\end{align*}", "x=9", Source.MATH, id="environment"),
        pytest.param("The correct option is (C).", "(C)", Source.PHRASE, id="option"),
        pytest.param("综上所述，答案是 12。", "12", Source.PHRASE, id="Chinese"),
        pytest.param("答案：$\\frac{1}{2}$", r"$\frac{1}{2}$", Source.PHRASE, id="Chinese colon"),
        pytest.param("故选：C", "C", Source.PHRASE, id="Chinese choice"),
        pytest.param("La réponse est 12.", "12", Source.PHRASE, id="French"),
        pytest.param("Réponse finale : 12", "12", Source.PHRASE, id="French label"),
        pytest.param("Die Antwort lautet 12.", "12", Source.PHRASE, id="German"),
        pytest.param("Das Ergebnis ist $3x$.", "$3x$", Source.PHRASE, id="German result"),
        pytest.param("La respuesta final es 12.", "12", Source.PHRASE, id="Spanish"),
        pytest.param("First add.\n\nSo she has **12 apples** now.", "12 apples", Source.BOLD, id="bold"),
        pytest.param("**Step 2:** 3 * 4 is 12", "12", Source.NUMBER, id="a bold label is no answer"),
        pytest.param("2 plus 2 equals 4.", "4", Source.EQUATION, id="equation"),
        pytest.param("So 3 * 4 = 12 apples for 3 friends.", "12", Source.EQUATION, id="equation of the last sentence"),
        pytest.param(r"We see that $x \ge 3$.", r"x \ge 3", Source.MATH, id="last formula"),
        pytest.param("The roots are $1$ and $2$.", "1, 2", Source.MATH, id="formulas side by side"),
        pytest.param("She had 3. She makes $26 a day", r"\$26", Source.NUMBER, id="money is no formula"),
        pytest.param("```output\n5\n```\n5 cars came in 15 minutes.", "5", Source.NUMBER, id="what a program printed"),
        pytest.param("Thus, we get 1 <= x < 2.", "1 <= x < 2", Source.WHOLE, id="a relation in a sentence"),
        pytest.param("Paris", "Paris", Source.WHOLE, id="no number at all"),
        pytest.param(r"\frac{34}{16}+\frac{\sqrt{3}}{2}", r"\frac{34}{16}+\frac{\sqrt{3}}{2}", Source.WHOLE, id="bare"),
        pytest.param("n=2, 3, and 4", "n=2, 3, and 4", Source.WHOLE, id="bare list"),
        pytest.param("Minimum: 1, Maximum: 3", "1,  3", Source.WHOLE, id="labelled values"),
        pytest.param("#### Step 1: add\n2 + 2 = 4", "4", Source.EQUATION, id="a heading is no answer"),
        pytest.param("<think>The answer is 5</think>4", "4", Source.WHOLE, id="thoughts do not count"),
        pytest.param("5</think>It is 4", "4", Source.NUMBER, id="thoughts opened in the prompt"),
    ],
)
def test_the_strongest_mark_gives_the_answer(response, answer, source):
    extraction = found(response)
    assert (extraction.answer, extraction.source, extraction.rejected) == (answer, source, None)


@pytest.mark.parametrize("response", ["", " \n", "\u200b", "<think>4", "<think>4</think>", r"\boxed{}", "...", "$$"])
def test_nothing_said_is_no_answer(response):
    assert found(response).answer is None
    assert found(response).rejected is Rejection.NONE_FOUND


def test_thoughts_count_where_the_policy_says_so():
    assert found("<think>The answer is 4</think>", read_think=True).answer == "4"


def test_the_last_number_counts_unless_the_policy_says_no():
    assert found("She makes 26 a day for her work").answer == "26"
    assert found("She makes 26 a day for her work", last_number=False).source is Source.WHOLE


@pytest.mark.parametrize(
    "response",
    [
        "The answer is not 4.",
        "The answer isn't 4.",
        "The answer is certainly not 4.",
        r"The answer is not \boxed{4}",
        r"\boxed{4} is wrong",
        "4 is not the answer we want",
        "答案不是 4。",
        "La réponse n'est pas 4.",
        "Die Antwort ist nicht 4.",
        "La respuesta no es 4.",
    ],
)
def test_what_is_denied_is_negated(response):
    assert found(response).rejected is Rejection.NEGATED


@pytest.mark.parametrize(
    "response", ["#### 4\nNo, that is wrong.", "The answer is Paris. Wait, it is London.", "#### 4\nScratch that."]
)
def test_what_is_taken_back_without_another_number_is_retracted(response):
    assert found(response).rejected is Rejection.RETRACTED


@pytest.mark.parametrize(
    ("response", "rival", "why"),
    [
        pytest.param("<answer>4</answer><answer>5</answer>", "4", Rejection.CONTRADICTED, id="two tags"),
        pytest.param("The answer is 5. The answer is 4.", "5", Rejection.CONTRADICTED, id="two statements"),
        pytest.param("\\boxed{4}\n#### 5", "5", Rejection.CONTRADICTED, id="a weaker mark after a stronger"),
        pytest.param(r"\boxed{5}, hence \boxed{4}", "5", Rejection.CONTRADICTED, id="two boxes"),
        pytest.param("The answer is 4, 5 or 6", "6", Rejection.HEDGED, id="list"),
        pytest.param(r"\boxed{4} or 5", "5", Rejection.HEDGED, id="a choice after a box"),
        pytest.param("The answer is 4. Or maybe 5.", "5", Rejection.HEDGED, id="a choice after the statement"),
        pytest.param("It is maybe either 4 or 5 then.", "4", Rejection.HEDGED, id="a choice without marks"),
        pytest.param(r"\boxed{4} oder 5.", "5", Rejection.HEDGED, id="a choice in German"),
        pytest.param("The answer is 4... wait, it is 5", "5", Rejection.RETRACTED, id="retraction"),
        pytest.param(r"\boxed{4} Actually, it should be 5.", "5", Rejection.RETRACTED, id="retracted box"),
    ],
)
def test_what_else_is_offered_is_a_rival(response, rival, why):
    extraction = found(response)
    assert (rival, why) in [(other.text, other.why) for other in extraction.rivals]


@pytest.mark.parametrize(
    "response",
    [
        r"The final answer is $\boxed{4}$. I hope it is correct.",
        "The answer is 4. " + "I hope that this helps. " * 200,
        "The answer is not 5. The answer is 4.",
        "The answer is 5. Wait, I made a mistake. The answer is 4.",
        r"\boxed{5}. No, that is wrong. So \boxed{4}",
        r"\boxed{4}, that is, \boxed{4}",
        r"\boxed{2\sqrt{3}} or approximately 3.46",
    ],
)
def test_an_answer_that_stands_has_no_rival(response):
    assert (found(response).rejected, found(response).rivals) == (None, ())


PIECES = [
    "\\boxed{", "}", "$", "\\(", "\\)", "answer is", "4", "or", "####", "<answer>", "</answer>", "**", "\n", "not",
    "wait", ":",
]  # fmt: skip


@given(st.text(st.characters(codec=None)) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_any_response_gets_an_extraction(response):
    extraction = extract(response, POLICY)
    assert (extraction.answer is None) == (extraction.rejected is Rejection.NONE_FOUND)
