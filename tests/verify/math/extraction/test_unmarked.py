"""Answers of responses that mark none."""

import pytest

from plaudit.verify import MathPolicy, Source, extract


@pytest.mark.parametrize(
    ("response", "answer", "source"),
    [
        pytest.param("We get\n\\begin{align*} x=9 \\end{align*}", "x=9", Source.MATH, id="environment"),
        pytest.param("First add.\n\nSo she has **12 apples** now.", "12 apples", Source.BOLD, id="bold"),
        pytest.param("**Step 2:** 3 * 4 is 12", "12", Source.NUMBER, id="a bold label is no answer"),
        pytest.param("2 plus 2 equals 4.", "4", Source.EQUATION, id="equation"),
        pytest.param("So 3 * 4 = 12 apples for 3 friends.", "12", Source.EQUATION, id="equation of the last sentence"),
        pytest.param(r"We see that $x \ge 3$.", r"x \ge 3", Source.MATH, id="last formula"),
        pytest.param("The roots are $1$ and $2$.", "1, 2", Source.MATH, id="formulas side by side"),
        pytest.param("She had 3. She makes $26 a day", "$26", Source.NUMBER, id="money is not a formula"),
        pytest.param(
            "```output\n5\n```\nThere were 5 cars in 15 minutes.", "5", Source.NUMBER, id="what a program printed"
        ),
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
def test_an_answer_that_nothing_marks_is_found(response, answer, source):
    extraction = extract(response, MathPolicy())
    assert (extraction.answer, extraction.source, extraction.rejected) == (answer, source, None)
