"""Text cut into tokens."""

import pytest

from plaudit.verify.math.parsing.tokens import Kind, tokenize
from plaudit.verify.math.parsing.tree import MAX_LENGTH, OverBudget

CUT = {
    "2xy": [(Kind.NUMBER, "2"), (Kind.NAME, "x"), (Kind.NAME, "y")],
    "sinx": [(Kind.FUNCTION, "sin"), (Kind.NAME, "x")],
    "since": [(Kind.WORD, "since")],
    "asin(x)": [(Kind.FUNCTION, "arcsin"), (Kind.OPEN, "("), (Kind.NAME, "x"), (Kind.CLOSE, ")")],
    "Union": [(Kind.WORD, "Union")],
    r"\pi": [(Kind.NAME, "π")],
    r"x \leq": [(Kind.NAME, "x"), (Kind.COMMAND, "leq")],
    "a and b": [(Kind.NAME, "a"), (Kind.SIGN, "and"), (Kind.NAME, "b")],
    "two roots": [(Kind.WORD, "two roots")],
    r"\text{cm}": [(Kind.WORD, "cm")],
    "1,234": [(Kind.NUMBER, "1234")],
    "(1,234": [(Kind.OPEN, "("), (Kind.NUMBER, "1"), (Kind.SIGN, ","), (Kind.NUMBER, "234")],
    "2e3": [(Kind.NUMBER, "2e3")],
    "x**2": [(Kind.NAME, "x"), (Kind.SIGN, "^"), (Kind.NUMBER, "2")],
}


@pytest.mark.parametrize(("text", "tokens"), CUT.items(), ids=CUT)
def test_text_is_cut(text, tokens):
    assert [(token.kind, token.text) for token in tokenize(text)] == tokens


def test_a_text_too_long_is_over_the_budget():
    with pytest.raises(OverBudget, match="characters"):
        tokenize("x" * (MAX_LENGTH + 1))
