"""Sums, products, powers, and what stands behind a factor."""

import pytest

from plaudit.verify.math.parsing.parser import describe_parse

READ = {
    r"\frac{1}{2} + x": "add(divide(1, 2), x)",
    "-x - 2": "add(negate(x), negate(2))",
    "2xy": "multiply(2, x, y)",
    "5*r**5": "multiply(5, power(r, 5))",
    r"1\frac{1}{2}": "add(1, divide(1, 2))",
    "1 1/2": "add(1, divide(1, 2))",
    "10 000": "10000",
    "x1": "x_1",
    "x 1": "multiply(x, 1)",
    "x_1^2": "power(x_1, 2)",
    "y'_1": "y_1'",
    "5!": "factorial(5)",
    r"90^\circ": "degree(90)",
    r"50\%": "percent(50)",
    "12 cm": "unit cm(12)",
    "48 km/h": "unit km/h(48)",
    "f(x)": "f()(x)",
    "area(x)": "area()(x)",
    "C_5^2": "binomial(5, 2)",
    "4210_7": "based(7)",
    r"0.1\overline{6}": r"0.1\overline{6}",
    r"3 \pm 2": "add(3, plus-minus(2))",
}


@pytest.mark.parametrize(("text", "tree"), READ.items(), ids=READ)
def test_an_expression_is_read(text, tree):
    assert describe_parse(text) == tree


@pytest.mark.parametrize("text", ["2 +", "1 2", "/ 3", "x ^", "--4"])
def test_what_is_no_expression_is_text(text):
    assert describe_parse(text).startswith("text, since")
