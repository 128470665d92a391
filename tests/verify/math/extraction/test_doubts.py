"""Answers that are denied, taken back, hedged or contradicted."""

import pytest

from plaudit.verify import MathPolicy, Rejection, extract


def found(response, **switches):
    return extract(response, MathPolicy(**switches))


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
