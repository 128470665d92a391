"""What computer algebra and programs print."""

import pytest

from plaudit.verify import verify_math
from plaudit.verify.math.parsing.constructors import CONSTRUCTORS
from plaudit.verify.math.parsing.parser import describe_parse

READ = {
    "Rational(1, 3)": "divide(1, 3)",
    "Fraction(1, 3)": "divide(1, 3)",
    "Pow(x, 2)": "power(x, 2)",
    "Add(x, Mul(2, y))": "add(x, multiply(2, y))",
    "np.float64(3.0)": "3.0",
    "Decimal('0.5')": "0.5",
    "Point2D(1, 2)": "tuple ()(1, 2)",
    "FiniteSet(1, 2)": "set(1, 2)",
    "Interval(0, 1)": "tuple [](0, 1)",
    "Interval.open(0, 1)": "tuple ()(0, 1)",
    "Interval.Lopen(0, 1)": "tuple (](0, 1)",
    "Interval.Ropen(0, 1)": "tuple [)(0, 1)",
    "Union(Interval(0, 1), FiniteSet(2))": "union(tuple [](0, 1), set(2))",
    "Complement(Reals, FiniteSet(0))": "difference(set R, set(0))",
    "Sum(k, (k, 1, n))": "series(k, 1, n, k)",
    "Integral(x, (x, 0, 1))": "integral(0, 1, add(x), x)",
    "Derivative(f(x), (x, 2))": "derivative(f()(x), x, 2)",
    "Limit(1/x, x, oo, dir='-')": "lim(relation ->(x, infinity), divide(1, x))",
    "Ne(x, 2)": "relation !=(x, 2)",
    "conjugate(z)": "overline z",
    "(x > 1) & (x < 3)": "list(relation >(x, 1), relation <(x, 3))",
    "[{x: 2, y: 3}]": "list(relation =(x, 2), relation =(y, 3))",
}


@pytest.mark.parametrize(("text", "tree"), READ.items(), ids=READ)
def test_what_programs_print_is_read(text, tree):
    assert describe_parse(text) == tree


@pytest.mark.parametrize("text", ["Pow(x)", "Interval(1)", "Derivative(x)", "Limit(x, y)", "Sum(k, n)"])
def test_a_wrong_number_of_arguments_is_text(text):
    assert describe_parse(text).startswith("text, since")


def test_names_count_only_before_a_bracket():
    assert all(describe_parse(written).count("(") == 0 for written in CONSTRUCTORS if len(written) > 3)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        (r"(-\infty,-1)\cup[2,\infty)", "Union(Interval.open(-oo, -1), Interval(2, oo))"),
        (r"\mathbb{R} \setminus \{0\}", "Union(Interval.open(-oo, 0), Interval.open(0, oo))"),
        ("-1 < x < 2", "(-1 < x) & (x < 2)"),
        ("x=2, y=3", "{x: 2, y: 3}"),
        (r"\frac{d}{dx} x^3", "Derivative(x**3, x)"),
    ],
)
def test_printed_answers_are_compared_as_mathematics(truth, answer):
    assert verify_math(truth, answer).correct


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("(0, 1)", "Interval(0, 1)"), ("z", "conjugate(z)"), (r"\frac{d}{dx} x^3", "Derivative(x**3, y)")],
)
def test_printed_answers_that_say_something_else_are_wrong(truth, answer):
    assert not verify_math(truth, answer).correct
