"""Brackets of all kinds."""

import pytest

from plaudit.verify.math.parsing.parser import describe_parse

READ = {
    "(1,2)": "tuple ()(1, 2)",
    "[1,2)": "tuple [)(1, 2)",
    "]0,1[": "tuple ()(0, 1)",
    r"\left]0;1\right]": "tuple (](0, 1)",
    r"]-\infty, 2] \cup [3, \infty[": "union(tuple (](negate(infinity), 2), tuple [)(3, infinity))",
    r"\{1,2\}": "set(1, 2)",
    r"\{x \mid x>0\}": "builder(x, relation >(x, 0))",
    r"\{x : x>0\}": "builder(x, relation >(x, 0))",
    r"\{\}": "empty",
    "|x|": "abs(x)",
    r"\|v\|": "norm(v)",
    r"\lfloor x \rfloor": "floor(x)",
    r"\lceil x \rceil": "ceil(x)",
    "((1))": "1",
    "2(x+1)": "multiply(2, add(x, 1))",
}


@pytest.mark.parametrize(("text", "tree"), READ.items(), ids=READ)
def test_a_bracket_is_read(text, tree):
    assert describe_parse(text) == tree


@pytest.mark.parametrize("text", ["(1", "x]", "|x", "()", "[1, 2"])
def test_brackets_that_do_not_close_are_text(text):
    assert describe_parse(text).startswith("text, since")
