r"""LaTeX commands and functions: fractions, roots, binomials, sums, decorated letters, matrices, `\sin 2x`."""

from collections.abc import Callable
from fractions import Fraction

from plaudit.verify.math.parsing.cursor import Cursor, group, parse_absolute, parse_bracket, parse_rounding
from plaudit.verify.math.parsing.notation import NEW_NAMES, WITHOUT_MEANING
from plaudit.verify.math.parsing.tokens import FUNCTIONS, GREEK, SIGNS, Kind
from plaudit.verify.math.parsing.tree import Node, Op, Unreadable, call, name, nodes, number

HALF = number(Fraction(1, 2))
_ENVIRONMENTS = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array"}
_LINES = {"cases", "aligned", "align", "align*", "gathered", "equation", "equation*", "split", "gather", "gather*"}
_INVERSES = {
    function: f"arc{function}"
    for function in ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch")
}
_ARITY = {"binomial": 2, "mod": 2, "max": 0, "min": 0, "gcd": 0, "lcm": 0}  # others take one argument, 0 is any number
_SAME_DECORATION = {"bar": "overline", "overrightarrow": "vec", "widehat": "hat"}
_DIFFERENTIALS = (name("d"), name("∂"))
_MINUS_ONE = Node(Op.NEGATE, (number(1, "1"),))


def parse_command(cursor: Cursor) -> Node:
    """Parse the next command."""
    parse = _COMMANDS.get(cursor.token.text)
    if parse is None:
        raise Unreadable(f"unknown command \\{cursor.token.text}")
    cursor.take()
    return parse(cursor)


def parse_function(cursor: Cursor) -> Node:
    r"""A function with its argument, bracketed or not: `\sin^2 x`, `\log_2(8)`, `sqrt3`."""
    named = cursor.take().text
    if cursor.token.kind in (Kind.CLOSE, Kind.END):
        return name(named)
    base, power = _scripts(cursor)
    if power == _MINUS_ONE and named in _INVERSES:
        named, power = _INVERSES[named], None
    applied = _apply(named, _arguments(cursor), base)
    return applied if power is None else Node(Op.POWER, (applied, power))


def _scripts(cursor: Cursor) -> tuple[Node | None, Node | None]:
    """The subscript and the superscript, in either order."""
    scripts: dict[str, Node] = {}
    while cursor.at("_", "^"):
        sign = cursor.take().text
        scripts[sign] = group(cursor)
    return scripts.get("_"), scripts.get("^")


def _apply(named: str, arguments: tuple[Node, ...], base: Node | None) -> Node:
    if named == "log" and len(arguments) == 2 and base is None:
        base, arguments = name("e") if arguments[1] == name("E") else arguments[1], arguments[:1]
    count = _ARITY.get(named, 1)
    if count and len(arguments) != count:
        raise Unreadable(f"{named} takes {count} arguments, not {len(arguments)}")
    applied = call(named, *arguments)
    if named in ("sqrt", "cbrt"):
        return Node(Op.POWER, (arguments[0], HALF if named == "sqrt" else number(Fraction(1, 3))))
    if named == "exp":
        return Node(Op.POWER, (name("e"), arguments[0]))
    if named == "log" and base is not None:
        top = call("ln", *arguments)
        return top if base == name("e") else Node(Op.DIVIDE, (top, call("ln", base)))
    return applied if base is None else call(f"{named}_", base, *arguments)


def _arguments(cursor: Cursor) -> tuple[Node, ...]:
    """A bracket, or the factors up to the next sign, function or bracket."""
    if cursor.token.kind is Kind.OPEN:
        inner = parse_bracket(cursor)
        return inner.args if inner.op in (Op.TUPLE, Op.SET) else (inner,)
    negative = cursor.accept("-")
    if cursor.at("|"):
        factors = [parse_absolute(cursor)]
    else:
        factors = [cursor.inside(cursor.grammar.factor)]
        while _continues(cursor):
            factors.append(cursor.inside(cursor.grammar.factor))
    argument = factors[0] if len(factors) == 1 else Node(Op.MULTIPLY, tuple(factors))
    return (Node(Op.NEGATE, (argument,)) if negative else argument,)


def _continues(cursor: Cursor) -> bool:
    token = cursor.token
    return token.kind in (Kind.NAME, Kind.NUMBER) or (
        token.kind is Kind.COMMAND and token.text in ("frac", "sqrt", "pi", "mathbf")
    )


def _fraction(cursor: Cursor) -> Node:
    above, below = group(cursor), group(cursor)
    return _derivative(cursor, above, below) or Node(Op.DIVIDE, (above, below), "frac")


def _derivative(cursor: Cursor, above: Node, below: Node) -> Node | None:
    r"""`\frac{d}{dx} x^2`, `\frac{d^2 y}{dx^2}`, `\frac{\partial f}{\partial x}`; None for any other fraction."""
    sign, *body = above.args if above.op is Op.MULTIPLY else (above,)
    sign = sign.args[0] if sign.op is Op.POWER else sign
    if sign not in _DIFFERENTIALS or below.op is not Op.MULTIPLY or below.args[0] != sign:
        return None
    if not body and cursor.token.kind in (Kind.END, Kind.CLOSE):
        return None
    return call("derivative", above, below, *([] if body else [_body(cursor)]))


def _plain_product(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Node(Op.MULTIPLY, tuple(factors))


def _root(cursor: Cursor) -> Node:
    index = None
    if cursor.token == (Kind.OPEN, "[", cursor.token.spaced):
        index = parse_bracket(cursor)
    token = cursor.token
    body = cursor.inside(cursor.grammar.factor) if token.kind is Kind.NUMBER else group(cursor)
    return Node(Op.POWER, (body, HALF if index is None else Node(Op.DIVIDE, (number(1), index))))


def _decorate(decoration: str) -> Callable[[Cursor], Node]:
    def parse(cursor: Cursor) -> Node:
        inner = group(cursor)
        if inner.op not in (Op.NAME, Op.NUMBER, Op.MULTIPLY, Op.INDEX):
            return call(decoration, inner)
        letters = "".join(each.leaf for each in nodes(inner))
        if decoration == "overline" and letters.isdigit():
            raise Unreadable("digits under a bar")
        if decoration == "overline" and len(letters) > 1 and letters.isupper():
            return inner  # the segment AB, with or without its bar
        return name(f"{_SAME_DECORATION.get(decoration, decoration)} {letters}")

    return parse


def _limit(cursor: Cursor) -> Node:
    approach = group(cursor) if cursor.accept("_") else number(0)
    return call("lim", approach, _body(cursor))


def _body(cursor: Cursor) -> Node:
    """The product inside a sum, a limit or an integral."""
    factors = [cursor.inside(cursor.grammar.factor)]
    while cursor.token.kind in (Kind.NAME, Kind.NUMBER, Kind.FUNCTION, Kind.COMMAND, Kind.OPEN) or cursor.at("*", "/"):
        divides = cursor.at("/")
        cursor.accept("*", "/")
        factor = cursor.inside(cursor.grammar.factor)
        factors.append(Node(Op.POWER, (factor, number(-1))) if divides else factor)
    return _plain_product(factors)


def _series(kind: str) -> Callable[[Cursor], Node]:
    def parse(cursor: Cursor) -> Node:
        low, high = _scripts(cursor)
        body = _body(cursor)
        if low is None or high is None or low.op is not Op.RELATION or low.leaf != "=" or low.args[0].op is not Op.NAME:
            return call(kind, *(part for part in (low, high, body) if part is not None))
        return Node(Op.SERIES, (low.args[0], low.args[1], high, body), kind)

    return parse


def _integral(cursor: Cursor) -> Node:
    bounds = [bound for bound in _scripts(cursor) if bound is not None]
    return call("integral", *bounds, cursor.inside(cursor.grammar.total))


def _begin(cursor: Cursor) -> Node:
    environment = _braced_letters(cursor)
    if environment == "array" and cursor.token.text == "{":
        _braced_letters(cursor)
    if environment not in _ENVIRONMENTS | _LINES:
        raise Unreadable(f"unknown environment {environment}")
    rows = cursor.inside(_rows)
    _braced_letters(cursor)
    if environment in _LINES:
        return Node(Op.LIST, tuple(row.args[0] if len(row.args) == 1 else row for row in rows.args), ",")
    if len({len(row.args) for row in rows.args}) != 1:
        raise Unreadable("rows of different length")
    return call("det", rows) if environment == "vmatrix" else rows


def _rows(cursor: Cursor) -> Node:
    """The rows of a matrix, up to its end."""
    rows: list[Node] = []
    cells: list[Node] = []
    while True:
        if not _at_end(cursor) and not cursor.at("&", "row"):
            cells.append(cursor.grammar.items(cursor))
        if cursor.accept("&"):
            continue
        if cells:
            rows.append(Node(Op.ROW, tuple(cells)))
            cells = []
        if _at_end(cursor):
            cursor.take()
            return Node(Op.MATRIX, tuple(rows))
        if not cursor.accept("row"):
            raise cursor.refuse()


def _at_end(cursor: Cursor) -> bool:
    return cursor.token.kind is Kind.COMMAND and cursor.token.text == "end"


def _braced_letters(cursor: Cursor) -> str:
    if cursor.take().text != "{":
        raise Unreadable("expected the name of an environment")
    letters = ""
    while cursor.token.kind is not Kind.CLOSE:
        if cursor.token.kind is Kind.END:
            raise cursor.refuse()
        letters += cursor.take().text
    cursor.take()
    return letters


def _shape(word: str) -> Callable[[Cursor], Node]:
    """`\\angle ABC`, `\\triangle ABC`: one name for the figure."""

    def parse(cursor: Cursor) -> Node:
        letters = ""
        while cursor.token.kind is Kind.NAME:
            letters += cursor.take().text
        return name(f"{word} {letters}")

    return parse


_COMMANDS: dict[str, Callable[[Cursor], Node]] = {
    "frac": _fraction,
    "sqrt": _root,
    "binom": lambda cursor: call("binomial", group(cursor), group(cursor)),
    "lfloor": lambda cursor: parse_rounding(cursor, "floor", "rfloor"),
    "lceil": lambda cursor: parse_rounding(cursor, "ceil", "rceil"),
    "sum": _series("sum"),
    "prod": _series("product"),
    "int": _integral,
    "iint": _series("double integral"),
    "bigcup": _series("bigcup"),
    "bigcap": _series("bigcap"),
    "lim": _limit,
    "begin": _begin,
    "infty": lambda _: Node(Op.INFINITY),
    "emptyset": lambda _: Node(Op.EMPTY),
    "mathbb": lambda cursor: name(f"set {group(cursor).leaf}"),
    "angle": _shape("angle"),
    "triangle": _shape("triangle"),
    "partial": lambda _: name("∂"),
    "nabla": lambda _: name("∇"),
    "star": lambda _: name("*"),
    "checkmark": lambda _: Node(Op.WORD, (), "yes"),
    "not": lambda cursor: call("not", cursor.grammar.factor(cursor)),
    "neg": lambda cursor: call("not", cursor.grammar.factor(cursor)),
} | {
    "boxed": group, "mathbf": group, "boldsymbol": group, "bm": group, "mathcal": group, "mathit": group,
    "mathsf": group, "mathfrak": group, "underline": group, "phantom": group, "ensuremath": group,
} | {
    decoration: _decorate(decoration)
    for decoration in ("overline", "bar", "vec", "hat", "tilde", "dot", "ddot", "widehat", "overrightarrow")
}  # fmt: skip

KNOWN_COMMANDS = frozenset({
    *_COMMANDS, *FUNCTIONS, *GREEK, *NEW_NAMES, *WITHOUT_MEANING, *(sign[1:] for sign in SIGNS if sign[0] == "\\"),
    "text", "mathrm", "end", "quad", "qquad", "pmod", "item", "cancel", "bcancel", "xcancel", "large", "Large", "huge",
    "centering", "Longleftrightarrow", "underbrace", "overbrace", "longmapsto", "stackrel", "overset", "underset", "bf",
} - {"phantom"})  # fmt: skip
"""The commands that are read in formulas, or that only format a text."""
