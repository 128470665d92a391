"""How a decision is made, and what is over the budget."""

import pytest

from plaudit.verify import Method, decide
from tests.verify.math.answer_pairs import DEFAULT

METHODS = {
    Method.TEXT: ("white", "White"),
    Method.NUMBER: ("1/2", "0.5"),
    Method.ALGEBRA: ("(x+1)^2", "x^2+2x+1"),
    Method.SET: ("1, 2", "2, 1"),
    Method.INTERVAL: ("x > 1", r"(1, \infty)"),
    Method.MATRIX: (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2.0\end{bmatrix}"),
    Method.EQUATION: ("x + y = 2", "2x + 2y = 4"),
    Method.CHOICE: ("B", "(B)"),
}


@pytest.mark.parametrize(("method", "pair"), METHODS.items(), ids=METHODS)
def test_a_decision_names_its_method(method, pair):
    decision = decide(*pair, DEFAULT)
    assert (decision.equal, decision.method) == (True, method)


@pytest.mark.parametrize(
    "text",
    ["9" * 30_000, "(1+" * 100 + "x" + ")" * 100, "+".join(["1"] * 20_000), "x^{" * 200 + "2" + "}" * 200],
    ids=["digits", "brackets", "a long sum", "a tower"],
)
def test_what_is_over_the_budget_is_undecided_not_wrong(text):
    decision = decide("7", text, DEFAULT)
    assert (decision.equal, decision.unparsed) == (None, "answer")
