"""Answers after words that announce them."""

import pytest

from plaudit.verify import MathPolicy, Source, extract


@pytest.mark.parametrize(
    ("response", "answer", "source"),
    [
        pytest.param("3 apples. The answer is: **4** apples.", "4** apples", Source.PHRASE, id="words"),
        pytest.param("Answer:\n\n4", "4", Source.PHRASE, id="on the next line"),
        pytest.param("**Final Answer**\n\n4", "4", Source.PHRASE, id="under a heading"),
        pytest.param("13 * 2 = 26\nA: 26", "26", Source.PHRASE, id="label"),
        pytest.param("Final answer - 12", "12", Source.PHRASE, id="dash"),
        pytest.param("Final Answer: The final answer is $(0, 1)$.", "$(0, 1)$", Source.PHRASE, id="said twice"),
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
        pytest.param("The correct option is (C).", "(C)", Source.PHRASE, id="option"),
        pytest.param("综上所述，答案是 12。", "12", Source.PHRASE, id="Chinese"),
        pytest.param("答案：$\\frac{1}{2}$", r"$\frac{1}{2}$", Source.PHRASE, id="Chinese colon"),
        pytest.param("故选：C", "C", Source.PHRASE, id="Chinese choice"),
        pytest.param("La réponse est 12.", "12", Source.PHRASE, id="French"),
        pytest.param("Réponse finale : 12", "12", Source.PHRASE, id="French label"),
        pytest.param("Die Antwort lautet 12.", "12", Source.PHRASE, id="German"),
        pytest.param("Das Ergebnis ist $3x$.", "$3x$", Source.PHRASE, id="German result"),
        pytest.param("La respuesta final es 12.", "12", Source.PHRASE, id="Spanish"),
    ],
)
def test_what_is_announced_as_the_answer_is_found(response, answer, source):
    extraction = extract(response, MathPolicy())
    assert (extraction.answer, extraction.source, extraction.rejected) == (answer, source, None)


@pytest.mark.parametrize("response", ["The answer is not 5 but 4.", "The answer is not 5, it is 4."])
def test_a_denial_that_goes_on_to_the_answer_states_it(response):
    assert extract(response, MathPolicy()).answer == "4"
    assert extract(response, MathPolicy()).rejected is None
