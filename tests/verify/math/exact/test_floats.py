"""Floats keep within the error that they state, seen from decimals of many digits."""

from fractions import Fraction

import pytest

from plaudit.verify.math.exact.balls import Balls
from plaudit.verify.math.exact.evaluation import Undefined, evaluate
from plaudit.verify.math.exact.floats import bound, bound_number
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.parser import parse

PLACES = {"x": Fraction(37, 91), "y": Fraction(411, 100)}
FLOATS = {name: bound_number(value) for name, value in PLACES.items()}
REACHED = [
    r"x^9 - 3y + \frac{1}{7}", r"\sqrt{x - y}", r"\sqrt[3]{-8}", r"(1 + 2i)^5", r"e^{i\pi x}", r"\ln(x - y)",
    r"\log y + \arcsin x - \arccos x", r"|3 + 4i|", r"\lfloor y \rfloor", r"\tan x + \tanh y", r"y^{x - 1}",
    r"\max(x, y)", r"30^\circ", r"12\%",
]  # fmt: skip


@pytest.mark.parametrize("text", REACHED)
def test_a_float_is_within_its_bound(text):
    tree = fold(parse(unify_notation(text)))
    value, error = bound(tree, FLOATS.get)
    true = evaluate(tree, Balls(60, PLACES))
    gap = abs(complex(Fraction(value.real) - Fraction(true.real), Fraction(value.imag) - Fraction(true.imaginary)))
    assert gap <= error < 1e-9


@pytest.mark.parametrize("text", [r"\frac{1}{x - x}", "9^{9^9}", r"\arcsin 1", "z", r"f(x)", r"\lfloor 3x/x \rfloor"])
def test_what_floats_cannot_tell_is_undefined(text):
    with pytest.raises(Undefined):
        bound(parse(unify_notation(text)), FLOATS.get)
