"""LaTeX commands and functions."""

import pytest

from plaudit.verify import verify_math
from plaudit.verify.math.parsing.parser import describe_parse

READ = {
    r"\frac12x": "multiply(divide(1, 2), x)",
    r"\sqrt[3]{8}": "power(8, divide(1, 3))",
    r"\binom{5}{2}": "binomial(5, 2)",
    r"\sin^{-1} x": "arcsin(x)",
    r"\sin^2 x": "power(sin(x), 2)",
    r"\log_2 8": "divide(ln(8), ln(2))",
    r"\log(x, E)": "ln(x)",
    r"\sum_{k=1}^{n} k": "series(k, 1, n, k)",
    r"\int_0^1 x \, dx": "integral(0, 1, multiply(x, d, x))",
    r"\frac{d}{dx} x^2": "derivative(d, multiply(d, x), power(x, 2))",
    r"\frac{d^2 y}{dx^2}": "derivative(multiply(power(d, 2), y), multiply(d, power(x, 2)))",
    r"\frac{\partial f}{\partial x}": "derivative(multiply(∂, f), multiply(∂, x))",
    r"\frac{d}{x}": "divide(d, x)",
    r"\lim_{x \to 0} \frac{1}{x}": "lim(relation ->(x, 0), divide(1, x))",
    r"\overline{x+y}": "overline(add(x, y))",
    r"\bar{z}": "overline z",
    r"\overline{AB}": "multiply(A, B)",
    r"\begin{pmatrix}1&2\\3&4\end{pmatrix}": "matrix(row(1, 2), row(3, 4))",
    r"\begin{vmatrix}1&2\\3&4\end{vmatrix}": "det(matrix(row(1, 2), row(3, 4)))",
    r"\angle ABC": "angle ABC",
}


@pytest.mark.parametrize(("text", "tree"), READ.items(), ids=READ)
def test_a_command_is_read(text, tree):
    assert describe_parse(text) == tree


@pytest.mark.parametrize("text", [r"\unknown{x}", r"\begin{pmatrix}1&2\\3\end{pmatrix}", r"\lfloor x", r"\frac{1}"])
def test_what_no_command_takes_is_text(text):
    assert describe_parse(text).startswith("text, since")


def test_a_bar_over_a_sum_is_no_bar_over_a_product():
    assert not verify_math(r"\overline{xy}", r"\overline{x+y}").correct
