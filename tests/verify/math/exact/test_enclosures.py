"""Enclosures hold the true value, prove differences, and call equal only what agrees to many bits."""

import math
import threading
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.math.exact.enclosures import BITS, Comparison, compare_at, sign_at
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.math.parsing.tree import number

PLACES = {"x": Fraction(37, 91), "y": Fraction(411, 100)}
X, Y = 37 / 91, 4.11
VALUES = {
    r"x^9 - 3y + \frac{1}{7}": X**9 - 3 * Y + 1 / 7,
    r"\sqrt[3]{-8}": -2,
    r"\log y + \arcsin x - \arccos x": math.log10(Y) + math.asin(X) - math.acos(X),
    r"|3 + 4i|": 5,
    r"\lfloor y \rfloor + \lceil x \rceil": 5,
    r"\tan x + \tanh y": math.tan(X) + math.tanh(Y),
    r"y^{x - 1}": Y ** (X - 1),
    r"\max(x, y) - \min(x, y, 0)": Y,
    r"30^\circ": math.pi / 6,
    r"12\%": 0.12,
    r"\sec x + \csc y - \cot x": 1 / math.cos(X) + 1 / math.sin(Y) - 1 / math.tan(X),
    r"\operatorname{arcsinh} x + \operatorname{arccosh} y": math.asinh(X) + math.acosh(Y),
    r"\operatorname{arctanh} x + \operatorname{arccoth} y": math.atanh(X) + math.atanh(1 / Y),
    r"\operatorname{arccot} x + \operatorname{arcsec} y": math.pi / 2 - math.atan(X) + math.acos(1 / Y),
    r"\sinh x + \cosh y + \coth x": math.sinh(X) + math.cosh(Y) + 1 / math.tanh(X),
    r"e^{i\pi} + \sqrt{-4} \cdot i": -3,
}


def tree(text):
    return fold(parse(unify_notation(text)))


@pytest.mark.parametrize("text", VALUES)
def test_an_enclosure_holds_the_value_that_floats_give(text):
    near = Fraction(VALUES[text])
    bounds = (number(near - Fraction(1, 10**12)), number(near + Fraction(1, 10**12)))
    apart = [compare_at(tree(text), bound, PLACES).agree for bound in bounds]
    assert apart == [False, False]
    assert compare_at(tree(f"({text}) - ({text})"), number(0), PLACES).agree


@pytest.mark.parametrize("text", [r"\frac{1}{x - x}", "z", "f(x)", r"\ln(x - x)", r"\lfloor 1 + i \rfloor", "a_n"])
def test_what_has_no_value_is_neither_equal_nor_different(text):
    assert compare_at(tree(text), number(1), PLACES) == Comparison(None, False)


@given(st.integers(1, 2600))
def test_a_difference_of_any_size_is_no_agreement(bits):
    tiny = tree(rf"\sqrt2 + 2^{{-{bits}}}")
    assert compare_at(tiny, tree(r"\sqrt2"), {}).agree is not True


@given(st.fractions(max_denominator=10**9), st.fractions(max_denominator=10**9))
def test_signs_of_differences_of_roots_are_those_of_fractions(left, right):
    root = parse(rf"\sqrt{{{abs(left)}}} - \sqrt{{{abs(right)}}}")
    assert sign_at(fold(root), {}) == (abs(left) > abs(right)) - (abs(left) < abs(right))


def test_a_comparison_leaves_the_precision_of_flint_unchanged():
    before = ctx.prec
    compare_at(tree(r"\sqrt2"), tree(r"\sqrt3 - 1"), {})
    assert ctx.prec == before


def test_threads_do_not_disturb_each_other():
    found = []

    def work():
        found.extend(compare_at(tree(r"\sqrt6"), tree(r"\sqrt2 \sqrt3"), {}, BITS).agree for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 200
