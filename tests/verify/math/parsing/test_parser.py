"""Lists of relations between sets or values."""

import pytest

from plaudit.verify.math.parsing.parser import describe_parse

READ = {
    "1, 2 and 3": "list(1, 2, 3)",
    "x < 1 or x > 2": "list(relation <(x, 1), relation >(x, 2))",
    "3:4": "ratio(3, 4)",
    "x = 2 = 1 + 1": "relation = =(x, 2, add(1, 1))",
    r"(0,1) \cup \{2\}": "union(tuple ()(0, 1), set(2))",
    r"A \cap B": "intersection(A, B)",
    "Minimum: 1": "1",
    "= 5": "5",
    r"2x = 4 \Rightarrow x = 2": "relation =(x, 2)",
    r"x \equiv 2 \pmod 5": "relation ≡ mod(x, 2, 5)",
    "1,234": "1234",
    "(1,234)": "tuple ()(1, 234)",
    "two roots": "two roots",
}


@pytest.mark.parametrize(("text", "tree"), READ.items(), ids=READ)
def test_a_statement_is_read(text, tree):
    assert describe_parse(text) == tree


def test_what_is_too_long_is_only_measured():
    assert describe_parse("1" * 30_000) == "text of 30,000 characters"
