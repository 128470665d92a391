r"""Sums, products, powers and suffixes of factors: `2\sqrt{3}`, `1\frac{1}{2}`, `x_1^2`, `5!`, `90°`, `12 cm`.

Two things side by side are multiplied, except a whole number and a fraction (one and a half) and a number and its unit.
"""

from collections.abc import Callable

from plaudit.verify.math.parsing.commands import parse_command, parse_function
from plaudit.verify.math.parsing.cursor import Cursor, Rule, group, parse_absolute, parse_bracket, parse_number
from plaudit.verify.math.parsing.tokens import Kind
from plaudit.verify.math.parsing.tree import CONSTANTS, Node, Op, Unreadable, call, name, nodes, number
from plaudit.verify.math.parsing.units import may_be_unit
from plaudit.verify.number_words import scale_of

_PREFIXES = {"dollar", "euro", "yuan", "pound sterling", "USD", "EUR", "RMB"}
_ORDINALS = {"st", "nd", "rd", "th"}
_CONDITIONS = ("for", "where", "with", "such that", "as ", "in which")
_APPLIED = "fgh"
_SETS = (Op.SET, Op.BUILDER, Op.TUPLE)
_SUM_SIGNS = frozenset("+-±∓")
_PRODUCT_SIGNS = frozenset({"*", "/", "mod", "∘"})
_STARTING = frozenset({Kind.NUMBER, Kind.NAME, Kind.FUNCTION, Kind.OPEN})
_ENDING = frozenset({Kind.END, Kind.CLOSE})
_MARKED = (Op.PERCENT, Op.DEGREE, Op.UNIT)


def total(cursor: Cursor) -> Node:
    """Terms with signs between them."""
    first = _parse_product(cursor)
    if cursor.token.kind is not Kind.SIGN or not _at_sum(cursor):
        return first
    terms = [first]
    while _at_sum(cursor):
        sign = cursor.take().text
        right = _parse_product(cursor)
        if sign == "-" and right.op in _SETS and terms[-1].op in _SETS:
            return Node(Op.DIFFERENCE, (terms[-1], right))
        terms.append(_apply_sign(sign, right))
    return Node(Op.ADD, tuple(terms))


def _at_sum(cursor: Cursor) -> bool:
    token = cursor.token
    return token.kind is Kind.SIGN and token.text in _SUM_SIGNS


def _apply_sign(sign: str, term: Node) -> Node:
    if sign == "+":
        return term
    if sign == "-" and term.op in _MARKED:
        return term._replace(args=(Node(Op.NEGATE, term.args),))
    return Node(Op.NEGATE, (term,)) if sign == "-" else Node(Op.PLUS_MINUS, (term,), sign)


def _apply_leading_sign(sign: str, term: Node) -> Node:
    """`-7 mod 5` is the remainder of -7."""
    if sign == "-" and term.op is Op.CALL and term.leaf == "mod":
        return term._replace(args=(Node(Op.NEGATE, term.args[:1]), *term.args[1:]))
    return _apply_sign(sign, term)


def _parse_product(cursor: Cursor) -> Node:
    if cursor.token.kind is Kind.SIGN and _at_sum(cursor):
        sign = cursor.take().text
        if _at_sum(cursor):
            raise Unreadable("two signs in a row")
        return _apply_leading_sign(sign, _parse_product(cursor))
    left = factor(cursor)
    while (kind := cursor.token.kind) not in _ENDING:
        if kind is Kind.SIGN and cursor.token.text in _PRODUCT_SIGNS:
            left = _join(left, cursor.take().text, _parse_signed_factor(cursor))
        elif kind in _STARTING or _starts_factor(cursor):
            left = _parse_side_by_side(left, cursor)
        elif kind is Kind.WORD:
            return _parse_amount(left, cursor)
        else:
            break
    return left


def _join(left: Node, sign: str, right: Node) -> Node:
    if sign == "/":
        return Node(Op.DIVIDE, (left, right))
    if sign == "*":
        return Node(Op.MULTIPLY, (*left.args, right) if left.op is Op.MULTIPLY else (left, right))
    return call("mod" if sign == "mod" else "compose", left, right)


def _parse_signed_factor(cursor: Cursor) -> Node:
    if cursor.at("-", "+"):
        return _apply_sign(cursor.take().text, factor(cursor))
    return factor(cursor)


def _starts_factor(cursor: Cursor) -> bool:
    """Whether a command or a bar begins another factor."""
    token = cursor.token
    if token.kind is Kind.COMMAND:
        return token.text not in ("rfloor", "rceil", "end", "pmod")
    return token.kind is Kind.SIGN and (token.text == "..." or (token.text in "|‖" and not cursor.bars))


def _parse_side_by_side(left: Node, cursor: Cursor) -> Node:
    token = cursor.token
    if token.kind is Kind.NUMBER and left.op is Op.NUMBER:
        return _parse_two_numbers(left, cursor)
    is_bare = token.kind is Kind.COMMAND and cursor.tokens[cursor.index - 1].kind is Kind.NUMBER  # no brackets
    right = factor(cursor)
    if right.op is Op.RELATION:  # a remark in brackets, "(k ∈ Z)"
        return left
    if is_bare and _is_proper(right) and right.leaf == "frac" and left.op is Op.NUMBER and left.leaf.isdecimal():
        return Node(Op.ADD, (left, right), "mixed")
    return _join(left, "*", right)


def _parse_two_numbers(left: Node, cursor: Cursor) -> Node:
    """`1 1/2` is a mixed number and `10 000` has its thousands apart; nothing else makes sense."""
    right = factor(cursor)
    if right.op is Op.NUMBER and cursor.at("/") and cursor.following.kind is Kind.NUMBER and left.leaf.isdecimal():
        cursor.take()
        part = Node(Op.DIVIDE, (right, factor(cursor)))
        if _is_proper(part):
            return Node(Op.ADD, (left, part), "mixed")
    digits = left.leaf + right.leaf
    if len(right.leaf.partition(".")[0]) == 3 and right.leaf[0].isdecimal() and left.leaf.isdecimal():
        return parse_number(digits)
    raise Unreadable(f"two numbers side by side: {left.leaf} {right.leaf}")


def _is_proper(node: Node) -> bool:
    if node.op is not Op.DIVIDE or not all(arg.op is Op.NUMBER and arg.leaf.isdecimal() for arg in node.args):
        return False
    above, below = (arg.value or 0 for arg in node.args)
    return 0 < above < below


def _parse_amount(left: Node, cursor: Cursor) -> Node:
    """A value with the words after it: "12 cm", "48 km / h", "3 apples"."""
    words = cursor.take().text
    if words.lower().startswith(_CONDITIONS) and cursor.depth == 0 and may_be_unit(cursor.tokens[-4].text):
        cursor.skip()
        return left
    while scale := scale_of(words.partition(" ")[0]):
        left, words = Node(Op.MULTIPLY, (left, number(scale))), words.partition(" ")[2]
        if not words:
            return left
    if not may_be_unit(words):
        raise Unreadable(f"a remark behind a number: {words}")
    while True:
        if cursor.at("/", "-", "*") and cursor.following.kind in (Kind.WORD, Kind.NAME):
            words += f"{cursor.take().text}{cursor.take().text}"
        elif cursor.at("^"):
            cursor.take()
            words += f"^{''.join(each.leaf for each in nodes(group(cursor)))}"
        elif cursor.token.kind is Kind.WORD:
            words += f" {cursor.take().text}"
        else:
            return Node(Op.UNIT, (left,), words)


def factor(cursor: Cursor) -> Node:
    """One factor with its power, index, factorial, percent or degree sign."""
    node = _PRIMARY[cursor.token.kind](cursor)
    while True:
        kind, text, _ = cursor.token
        if kind is Kind.SIGN:
            behind = _BEHIND.get(text)
            if behind is None:
                return node
            cursor.take()
            node = behind(cursor, node)
        elif kind is Kind.OPEN and text == "(" and _is_applied(node, cursor):
            node = _apply(node, cursor)
        else:
            return node


def _parse_power(cursor: Cursor, base: Node) -> Node:
    if cursor.accept("'"):
        return _prime(cursor, base)
    if cursor.accept("*"):
        return call("star", base)
    exponent = _parse_whole_number(cursor)
    if exponent is None:
        is_signed = cursor.at("-", "+") or cursor.token.text == "("
        exponent = cursor.inside(_parse_signed_factor) if is_signed else group(cursor)
    if exponent.op is Op.WORD and exponent.leaf in _ORDINALS:
        return base
    return _combinations(base, exponent) or Node(Op.POWER, (base, exponent))


def _combinations(base: Node, exponent: Node) -> Node | None:
    """`C_n^k` and `C_{10}^3` for the number of ways to choose k of n."""
    if base.op is Op.INDEX and base.args[0] == name("C") and exponent.op in (Op.NAME, Op.NUMBER):
        return call("binomial", base.args[1], exponent)
    letter, _, index = base.leaf.partition("_")
    if base.op is Op.NAME and letter == "C" and index.isdecimal() and exponent.value is not None:
        above = parse_number(index)
        return call("binomial", above, exponent) if 2 < (above.value or 0) >= exponent.value else None
    return None


def _parse_index(cursor: Cursor, base: Node) -> Node:
    below = _parse_whole_number(cursor) or group(cursor)
    if base.op is Op.POWER:  # v^2_0
        return base._replace(args=(_add_index(base.args[0], below), base.args[1]))
    return _add_index(base, below)


def _add_index(base: Node, below: Node) -> Node:
    if base.op is Op.NUMBER and below.op is Op.NUMBER:
        return Node(Op.BASED, (below,), base.leaf)
    if base.op is Op.NAME and below.op in (Op.NUMBER, Op.WORD) and not below.args:
        letters = base.leaf.rstrip("'")  # y'_1 is y_1'
        return name(f"{letters}_{below.leaf}{base.leaf[len(letters) :]}")
    return Node(Op.INDEX, (base, below))


def _parse_whole_number(cursor: Cursor) -> Node | None:
    """`4210_7` and `a_12`: digits without braces are read together."""
    return parse_number(cursor.take().text) if cursor.token.kind is Kind.NUMBER else None


def _factorial(cursor: Cursor, base: Node) -> Node:
    if cursor.at("!"):
        raise Unreadable("a factorial by steps")
    return call("factorial", base)


def _mark(op: Op) -> Callable[[Cursor, Node], Node]:
    """A percent or degree sign; a second one says the same as the first, as in the escape `%%`."""
    return lambda _, base: base if base.op is op else Node(op, (base,))


def _prime(_: Cursor, base: Node) -> Node:
    return name(f"{base.leaf}'") if base.op is Op.NAME else call("prime", base)


_BEHIND = {
    "^": _parse_power,
    "_": _parse_index,
    "!": _factorial,
    "%": _mark(Op.PERCENT),
    "°": _mark(Op.DEGREE),
    "'": _prime,
}


def _is_applied(node: Node, cursor: Cursor) -> bool:
    """Whether `f(x)` is a function of x: the usual letters, indexed and inverse ones, capitals, or a lone argument."""
    if node.op is Op.POWER and node.args[1] == Node(Op.NEGATE, (number(1, "1"),)):
        node = node.args[0]
    if node.op is Op.INDEX or (node.op is Op.NAME and ("_" in node.leaf or "'" in node.leaf)):
        return True
    if node.op is not Op.NAME or cursor.token.spaced or node.leaf in ("e", "i", "π"):
        return False
    if node.leaf in _APPLIED or node.leaf.isupper():
        return True
    before, ahead = cursor.tokens[cursor.index - 1], cursor.tokens[cursor.index + 1 : cursor.index + 3]
    if len(ahead) == 2 and ahead[0].kind is Kind.NAME and ahead[1].text == ")":
        return before.kind is Kind.NAME
    return _is_side(cursor)


def _is_side(cursor: Cursor) -> bool:
    """Whether a letter with the bracket after it is one side of an equation, `p(3) = 7`."""
    if cursor.index > 1 and cursor.tokens[cursor.index - 2].text not in ("=", ",", ";", "and"):
        return False
    depth = 0
    for index in range(cursor.index, len(cursor.tokens)):
        token = cursor.tokens[index]
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth == 0:
            return cursor.tokens[index + 1].text == "=" if token.kind is Kind.CLOSE else False
    return False


def _apply(node: Node, cursor: Cursor) -> Node:
    inner = parse_bracket(cursor)
    arguments = inner.args if inner.op is Op.TUPLE else (inner,)
    if node == name("C") and len(arguments) == 2:
        return call("binomial", *arguments)
    if node.op is Op.NAME:
        return Node(Op.CALL, arguments, f"{node.leaf}()")
    return Node(Op.CALL, (node, *arguments), "()")


def _parse_name(cursor: Cursor) -> Node:
    """A letter, with the digits right behind it as its index: `x1` is `x_1`."""
    letter, following = cursor.take().text, cursor.token
    if following.kind is not Kind.NUMBER or following.spaced or letter in CONSTANTS or not following.text.isdecimal():
        return name(letter)
    cursor.take()
    return name(f"{letter}_{following.text}")


def _parse_word(cursor: Cursor) -> Node:
    word = cursor.take().text
    if cursor.token.kind is Kind.OPEN and cursor.token.text in "([" and not cursor.token.spaced and word.isalpha():
        inner = parse_bracket(cursor)  # a function that is not known, but has a name
        return Node(Op.CALL, inner.args if inner.op is Op.TUPLE else (inner,), f"{word.lower()}()")
    if word in _PREFIXES and (cursor.token.kind in (Kind.NUMBER, Kind.COMMAND) or cursor.at("-")):
        return Node(Op.UNIT, (_parse_signed_factor(cursor),), word)
    return Node(Op.WORD, (), word)


def _parse_sign(cursor: Cursor) -> Node:
    if cursor.at("|", "‖") and not cursor.bars:
        return parse_absolute(cursor)
    if cursor.accept("..."):
        return Node(Op.DOTS)
    raise cursor.refuse()


def _parse_inside(rule: Rule) -> Rule:
    return lambda cursor: cursor.inside(rule)


_PRIMARY: dict[str, Rule] = {
    Kind.NUMBER: lambda cursor: parse_number(cursor.take().text),
    Kind.NAME: _parse_name,
    Kind.OPEN: parse_bracket,
    Kind.FUNCTION: _parse_inside(parse_function),
    Kind.COMMAND: _parse_inside(parse_command),
    Kind.WORD: _parse_word,
    Kind.SIGN: _parse_sign,
    Kind.CLOSE: _parse_sign,
    Kind.END: _parse_sign,
}
