"""Trees, and what can be asked of them."""

from fractions import Fraction

from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.math.parsing.tree import Op, name, nodes, number, operations, substitute, symbols


def read(text):
    return parse(unify_notation(text))


def test_whole_numbers_are_kept_as_ints():
    assert type(number(Fraction(4, 2)).value) is int
    assert number(Fraction(1, 2)).value == Fraction(1, 2)


def test_symbols_are_unknowns_without_constants_and_counters():
    assert symbols(read(r"e^{i\pi} + x + f(y)")) == {"x", "y", "f()"}
    assert symbols(read(r"\sum_{k=1}^{n} k")) == {"n"}


def test_nodes_and_operations_cover_the_whole_tree():
    tree = read("2x + 1")
    assert len(nodes(tree)) == 5
    assert operations(tree) == {Op.ADD, Op.MULTIPLY, Op.NUMBER, Op.NAME}


def test_names_are_replaced_everywhere():
    assert substitute(read("x + x^2"), {"x": name("y")}) == read("y + y^2")
