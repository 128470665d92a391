"""The operations that an answer leaves unevaluated: "2+2", `10!`, `\\sqrt{12}`, `(x+1)^2` for `x^2+2x+1`.

An answer may leave unevaluated only what the ground truth leaves unevaluated. `docs/guides/math.md` has the table.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from plaudit.verify.math.comparison.regions import count_ends
from plaudit.verify.math.comparison.relations import is_definition, value_of
from plaudit.verify.math.comparison.scalars import is_time
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import agree_as_shown, same_value
from plaudit.verify.math.parsing.tree import CONSTANTS, Node, Op, name, nodes, number, operations, symbols

LARGEST_FACTOR = 1000  # whose powers are looked for under a root
_SCIENTIFIC = (5, -4)  # exponents of ten from which on scientific notation is the usual one
_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc")
_LOGARITHMS = ("ln", "log", "lg")
_FUNCTIONS = "a function that the ground truth does without"
_PRODUCT_OF_SUMS = "a product of sums"
_SUM_OF_FRACTIONS = "a sum of fractions"
_EQUATION = "an equation"
_ARITHMETIC = (Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER, Op.NEGATE)


def find_open_operation(truth: Node, answer: Node) -> str | None:
    """The reason why an answer that equals the truth is not in lowest form; None if it is."""
    allowed = open_operations(truth)
    if answer.op is Op.RELATION and truth.op is not Op.RELATION and set(answer.leaf.split()) <= {"=", "~"}:
        sides = [side for side in answer.args if same_value(truth, side) is True] or [value_of(answer)]
        if same_value(truth, sides[0]) is False:
            return _EQUATION  # the truth only solves it
        if "~" in answer.leaf and not all(agree_as_shown(truth, side, 0) for side in answer.args if not symbols(side)):
            return "an approximation that does not hold"
        answer = min(sides, key=lambda side: len(open_operations(side) - allowed))
        left = open_operations(answer) - allowed
    else:
        left = open_operations(answer) - allowed
        left |= {form for form, has_form in _FORMS.items() if _any_side(has_form, truth, answer)}
        if (
            answer.op is truth.op is Op.RELATION
            and truth.args[0].op is Op.NAME
            and truth.args[0].leaf in symbols(answer)
        ):
            left |= set() if truth.args[0] in answer.args else {_EQUATION}
        left |= {"a set"} if count_ends(answer) > count_ends(truth) > 0 else set()
    if _has_other_functions(truth, answer):
        left.add(_FUNCTIONS)
    if _count_unknowns(answer) > _count_unknowns(truth) >= 0:
        left.add("more unknowns than the ground truth")
    if not left and _is_in_other_notation(truth, answer):
        return "a change of notation"
    return min(left, default=None)


def open_operations(node: Node) -> set[str]:
    """The operations of a tree that can be worked out further, in words."""
    if node.op is Op.RELATION:
        return _open_in_relation(node)
    if _is_written_number(node):
        return set()
    kinds = set(_OPEN[node.op](node)) if node.op in _OPEN else set()
    if node.op in _ARITHMETIC and not kinds and node.op is not Op.NEGATE and fold(node).value is not None:
        kinds.add(_NAMES[node.op])
    for arg in node.args:
        kinds |= open_operations(arg)
    return kinds


def _open_in_relation(node: Node) -> set[str]:
    """Of `x = 2 + 2` the value counts, of `2x + 1 > 5` that it is not solved."""
    if is_definition(node):
        return open_operations(value_of(node))
    is_solved = any(arg.op in (Op.NAME, Op.INDEX, Op.TUPLE, Op.WORD) for arg in node.args)
    left = set() if is_solved else {_EQUATION}
    return left.union(*(open_operations(arg) for arg in node.args))


def _any_side(has_form: Callable[[Node], bool], truth: Node, answer: Node) -> bool:
    """Whether the truth, or a side of an equation that it is, has a form that the answer lacks."""
    sides = [node.args if node.op is Op.RELATION else (node,) for node in (truth, answer)]
    terms = [[term for side in node for term in (side, *_terms(side))] for node in sides]
    if truth.op is not Op.RELATION:
        terms = [list(node) for node in sides]
    return any(map(has_form, terms[0])) and not any(map(has_form, terms[1]))


def _has_other_functions(truth: Node, answer: Node) -> bool:
    """Whether an answer has more logarithms and trigonometric values than the truth, or a formula another number."""
    expected, count = (sum(map(_is_transcendental, nodes(side))) for side in (truth, answer))
    return count > expected or (0 < count < expected and bool(symbols(answer)))


def _count_unknowns(node: Node) -> int:
    """How often a value contains unknowns; -1 for a relation, which may be written in many ways."""
    node = value_of(node) if is_definition(node) else node
    if Op.RELATION in operations(node):
        return -1
    return sum(
        inner.op in (Op.NAME, Op.WORD) and inner.leaf not in CONSTANTS and " " not in inner.leaf
        for inner in nodes(node)
    )


def _is_transcendental(node: Node) -> bool:
    plain = node.leaf.removeprefix("arc").removesuffix("h")
    return node.op is Op.CALL and plain in (*_TRIGONOMETRIC, *_LOGARITHMS)


def _is_factored(node: Node) -> bool:
    """Whether a formula is a product with a sum of unknowns among two or more factors, or a power of such a sum."""
    if node.op is Op.POWER:
        return _is_sum_of_unknowns(node.args[0]) and _is_whole(node.args[1])
    factors = [factor for factor in node.args if symbols(factor)] if node.op is Op.MULTIPLY else []
    return len(factors) > 1 and any(_is_sum_of_unknowns(factor) or _is_factored(factor) for factor in factors)


def _is_sum_of_unknowns(node: Node) -> bool:
    return node.op is Op.ADD and bool(symbols(node))


def _is_sum_of_fractions(node: Node) -> bool:
    below = [term for term in map(_without_sign, node.args) if term.op is Op.DIVIDE and symbols(term.args[1])]
    return node.op is Op.ADD and bool(below)


def _is_in_other_notation(truth: Node, answer: Node) -> bool:
    """Whether an answer is in another base than the truth, or in degrees where the truth is in radians."""
    one, other = operations(truth), operations(answer)
    if (Op.BASED in one) != (Op.BASED in other):
        return Op.BASED in other or truth.leaf != answer.leaf  # the truth's base may be left out
    if (Op.DEGREE in one) != (Op.DEGREE in other):
        return "π" in {part.leaf for side in (truth, answer) for part in nodes(side)}
    return False


def _is_written_number(node: Node) -> bool:
    """Whether a node is a number as one writes it: 4, -4, 3/4, `1\\frac{1}{2}`, `1.5 \\times 10^8`, "4 million"."""
    if node.op is Op.NUMBER:
        return not _is_endless_nine(node)
    if node.op is Op.NEGATE:
        return Op.NEGATE not in operations(node.args[0]) and _is_written_number(node.args[0])
    if node.op is Op.ADD:
        return node.leaf == "mixed" and _is_written_number(node.args[1])
    if node.op is Op.DIVIDE:
        return _is_reduced(*node.args)
    if node.op is Op.POWER:
        return _is_scientific(number(1), node)
    return node.op is Op.MULTIPLY and len(node.args) == 2 and (_is_scientific(*node.args) or _is_scaled(*node.args))


def _is_endless_nine(node: Node) -> bool:
    """Whether a repeating decimal stands for a finite one, as only 9 does: `13.\\overline{9}`."""
    return node.leaf.endswith(("9}", "9)", "9 }")) and type(node.value) is int


def _is_reduced(above: Node, below: Node) -> bool:
    """Whether two whole numbers are a fraction in lowest terms, the sign above."""
    above = _without_sign(above)
    if not (type(above.value) is type(below.value) is int and above.op is below.op is Op.NUMBER):
        return False
    return below.value > 1 and math.gcd(above.value, below.value) == 1 and "." not in above.leaf + below.leaf


def _is_scientific(mantissa: Node, power: Node) -> bool:
    mantissa = _without_sign(mantissa)
    if power.op is not Op.POWER or power.args[0].value != 10 or mantissa.value is None:
        return False
    exponent = fold(power.args[1]).value
    if exponent is None or exponent.denominator != 1 or not 1 <= mantissa.value < 10:
        return False
    return exponent >= _SCIENTIFIC[0] or exponent <= _SCIENTIFIC[1]


def _is_scaled(count: Node, scale: Node) -> bool:
    """Whether a product stands for a number with a word of scale, which has no digits; a dozen is worked out."""
    return count.op is Op.NUMBER and scale.op is Op.NUMBER and not scale.leaf and (scale.value or 0) >= 1000


def _open_in_sum(node: Node) -> Iterable[str]:
    factors, parts = zip(*map(_split, _terms(node)), strict=True)
    if len(set(parts)) < len(parts) or 0 in factors or sum(_is_logarithm(part) for part in parts) > 1:
        yield "a sum"
    if _is_sum_of_fractions(node) and len(node.args) > 1:
        yield _SUM_OF_FRACTIONS


def _terms(node: Node) -> list[Node]:
    """The terms of a sum, those of sums in brackets and over numbers among them."""
    terms: list[Node] = []
    for term in node.args:
        bare = _without_sign(term)
        above, *below = bare.args if bare.op is Op.DIVIDE and fold(bare.args[1]).value else (bare,)
        inner = _terms(above) if above.op is Op.ADD else []
        terms += [Node(Op.DIVIDE, (one, *below)) if below else one for one in inner] or [term]
    return terms


def _is_logarithm(part: tuple[Node, ...]) -> bool:
    return len(part) == 1 and part[0].op is Op.CALL and part[0].leaf in _LOGARITHMS


def _split(term: Node) -> tuple[Fraction | int, tuple[Node, ...]]:
    """A term as a rational factor and what it multiplies, in a fixed order: 3√2 as 3 and √2."""
    if term.op in (Op.NEGATE, Op.PLUS_MINUS, Op.UNIT, Op.PERCENT, Op.DEGREE):
        return _split(term.args[0])
    if term.op is Op.DIVIDE and (below := fold(term.args[1]).value):
        above, rest = _split(term.args[0])
        return above / Fraction(below), rest
    factors = term.args if term.op is Op.MULTIPLY else (term,)
    values = [fold(factor).value for factor in factors]
    others = [factor for factor, value in zip(factors, values, strict=True) if value is None]
    return math.prod(value for value in values if value is not None), tuple(sorted(others, key=repr))


def _open_in_product(node: Node) -> Iterable[str]:
    factors = _factors(node)
    rational = [factor for factor in factors if _is_rational(factor)]
    others = [factor for factor in factors if not _is_rational(factor)]
    bases = [_base(factor) for factor in others]
    fractions = [factor for factor in factors if factor.op is Op.DIVIDE]
    if len(rational) > 1 or len(set(bases)) < len(bases) or len(fractions) > 1 or not set(rational).isdisjoint(bases):
        yield "a product"
    sums = [factor for factor in others if factor.op is Op.ADD]
    if sums and (len(others) > 1 or symbols(sums[0])):
        yield _PRODUCT_OF_SUMS
    if any(factor.op is Op.MATRIX for factor in others) and any(
        factor.op not in (Op.MATRIX, Op.DIVIDE) for factor in node.args
    ):
        yield "a product of matrices"


def _factors(node: Node) -> list[Node]:
    """The factors of a product, those of products in brackets among them."""
    return [one for factor in node.args for one in (_factors(factor) if factor.op is Op.MULTIPLY else [factor])]


def _is_rational(node: Node) -> bool:
    return node.op in (Op.PERCENT, Op.UNIT) or (not symbols(node) and fold(node).value is not None)


def _base(factor: Node) -> Node:
    """The base of a factor; all roots of numbers of one degree have the same base."""
    if factor.op is not Op.POWER:
        return factor
    base, exponent = factor.args
    if _is_root(factor) and _is_rational(base):
        return Node(Op.POWER, (exponent,), "root")
    return base


def _is_root(node: Node) -> bool:
    if node.op is not Op.POWER:
        return False
    exponent = fold(node.args[1]).value
    return exponent is not None and exponent.denominator != 1


def _is_whole(node: Node) -> bool:
    value = fold(node).value
    return value is not None and value.denominator == 1 and value not in (-1, 0, 1)


def _open_in_quotient(node: Node) -> Iterable[str]:
    above, below = node.args
    if symbols(below):
        yield "a fraction with unknowns below"
    elif any(_is_root(part) or part.leaf == "i" for part in nodes(below)):
        yield "a root in a denominator"
    shared = {_base(factor) for factor in _split(above)[1]} & {_base(factor) for factor in _split(below)[1]}
    if below.value == 1 or shared or math.gcd(_content(above) or 1, _content(below) or 1) > 1:
        yield "a fraction"
    if any(side.op is Op.DIVIDE or (side.op is Op.NUMBER and "." in side.leaf) for side in node.args):
        yield "a fraction of fractions"


def _content(node: Node) -> int | None:
    """The whole number that divides every term; None if a term has a factor that is no whole number."""
    factors = [_split(term)[0] for term in (node.args if node.op is Op.ADD else (node,))]
    if any(factor.denominator != 1 for factor in factors):
        return None
    return math.gcd(*(int(factor) for factor in factors))


def _open_in_power(node: Node) -> Iterable[str]:
    base, exponent = node.args
    power = fold(exponent).value
    if power is None:
        if "i" in {part.leaf for part in nodes(exponent)}:
            yield "a complex power"
        return
    if power.denominator == 1:
        if power in (0, 1):
            yield "a power"
        elif base.op is Op.ADD and power not in (-1, 0, 1):
            yield _PRODUCT_OF_SUMS
        elif base.op in (Op.POWER, Op.MULTIPLY, Op.DIVIDE, Op.MATRIX) or base.leaf == "i":
            yield "a power"
        return
    value = fold(base).value
    if any(
        _leaves_root(factor, power.denominator) for factor in (_factors(base) if base.op is Op.MULTIPLY else [base])
    ):
        yield "a root"
    if any(_is_root(part) for part in nodes(base)):
        yield "a root of roots"
    if value is not None and (value.denominator != 1 or power < 0):
        yield "a root in a denominator"
    elif value is not None and (power.numerator != 1 or (value < 0 and power.denominator % 2 == 0)):
        yield "a root"


def _leaves_root(factor: Node, degree: int) -> bool:
    """Whether a factor under a root can be taken out of it, whole or in part."""
    value = fold(factor).value
    if value is not None:
        return value.denominator == 1 and _has_power(int(value), degree)
    exponent = fold(factor.args[1]).value if factor.op is Op.POWER else None
    return exponent is not None and exponent >= degree


def _has_power(value: int, degree: int) -> bool:
    """Whether a whole number has a factor that its root takes out: 12 = 4 · 3."""
    if degree > value.bit_length():
        return False
    for factor in range(2, min(LARGEST_FACTOR, abs(value)) + 1):
        if value % factor**degree == 0:
            return True
        value = value if value % factor else value // factor
    return value != 1 and fold(Node(Op.POWER, (number(value), number(Fraction(1, degree))))).value is not None


def _open_in_call(node: Node) -> Iterable[str]:
    if node.leaf.endswith("()") or node.leaf in _NOTATIONS:
        return
    is_length = node.leaf in _LENGTHS
    if not (is_length and symbols(node)):
        yield _FUNCTIONS if _is_transcendental(node) else f"a value of {node.leaf!r}"
    inside = node.args[0] if is_length or node.leaf in _TRIGONOMETRIC else number(0)
    has_angle = Op.DEGREE in operations(inside) or name("π") in nodes(inside)
    if inside.op is Op.NEGATE or (inside.op is Op.ADD and symbols(inside) and has_angle):
        yield "a function of a negative or shifted value"


_LENGTHS = ("abs", "norm")
_NOTATIONS = ("prime", "star", "overline", "not", "dim")  # marks on a name, nothing to work out


def _open_in_ratio(node: Node) -> Iterable[str]:
    values = [fold(arg).value for arg in node.args]
    if not is_time(node) and all(value is not None for value in values):
        whole = [int(value) for value in values if value is not None and value.denominator == 1]
        if len(whole) < len(values) or math.gcd(*whole) > 1:
            yield "a ratio"
        if values[1:] == [1]:
            yield "a ratio to 1"


def _open_in_sets(node: Node) -> Iterable[str]:
    is_usual = node.op is Op.DIFFERENCE and node.args[0].leaf == "set R"
    is_open = node.op is not Op.UNION or sum(arg.op in (Op.SET, Op.EMPTY) for arg in node.args) > 1
    if not is_usual and (is_open or Op.EMPTY in operations(node)):
        yield f"a set {node.op}"


def _is_negative(node: Node) -> bool:
    """Whether a term or the numerator of a fraction begins with a minus sign."""
    return node.op is Op.NEGATE or (node.op is Op.DIVIDE and node.args[0].op is Op.NEGATE)


def _open_in_negation(node: Node) -> Iterable[str]:
    if _is_negative(node.args[0]):
        yield "a double sign"
    if _is_sum_of_unknowns(node.args[0]):
        yield "a sign before a sum"


def _without_sign(node: Node) -> Node:
    return node.args[0] if node.op in (Op.NEGATE, Op.PLUS_MINUS) else node


_FORMS = {_PRODUCT_OF_SUMS: _is_factored, _SUM_OF_FRACTIONS: _is_sum_of_fractions}
"""Forms of formulas that a problem may ask for."""
_NAMES = {Op.ADD: "a sum", Op.MULTIPLY: "a product", Op.DIVIDE: "a fraction", Op.POWER: "a power"}
_OPEN: dict[Op, Callable[[Node], Iterable[str]]] = {
    Op.ADD: _open_in_sum,
    Op.NUMBER: lambda node: ["an endless nine"] if _is_endless_nine(node) else [],
    Op.NEGATE: _open_in_negation,
    Op.MULTIPLY: _open_in_product,
    Op.DIVIDE: _open_in_quotient,
    Op.POWER: _open_in_power,
    Op.CALL: _open_in_call,
    Op.SERIES: lambda node: [f"a series ({node.leaf})"],
    Op.RATIO: _open_in_ratio,
    Op.UNION: _open_in_sets,
    Op.INTERSECTION: _open_in_sets,
    Op.DIFFERENCE: _open_in_sets,
}
