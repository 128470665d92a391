"""An index into a list of tokens, shared by the parts of the parser, and brackets of all kinds.

The parts call each other in a circle (a bracket holds a list, a list holds brackets); the cursor carries the way back.
`(1,2)` may be a point or an interval: the tree keeps the brackets and the comparison decides.
"""

from collections.abc import Callable
from typing import NamedTuple

from plaudit.verify.math.parsing.tokens import Kind, Token
from plaudit.verify.math.parsing.tree import MAX_DEPTH, MAX_NODES, Node, Op, OverBudget, Unreadable, call, name, number
from plaudit.verify.numbers import MAX_DIGITS, decimal_value

Rule = Callable[["Cursor"], Node]
_END = Token(Kind.END, "")


class Grammar(NamedTuple):
    """The rules that parts of the reader call back: a whole list, one sum, one factor."""

    items: Rule
    total: Rule
    factor: Rule


class Cursor:
    """Reads tokens from left to right, with bounds on depth and work."""

    __slots__ = ("bars", "depth", "grammar", "index", "token", "tokens")

    def __init__(self, tokens: list[Token], grammar: Grammar) -> None:
        if len(tokens) > MAX_NODES:
            raise OverBudget(f"more than {MAX_NODES} signs and symbols")
        self.tokens, self.grammar = [*tokens, _END, _END, _END], grammar
        self.index = self.depth = 0
        self.token = self.tokens[0]
        self.bars = False  # whether a bar closes what is being read, rather than opens an absolute value

    @property
    def following(self) -> Token:
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is then behind."""
        token = self.token
        if token is not _END:
            self.index += 1
            self.token = self.tokens[self.index]
        return token

    def shorten(self, text: str) -> None:
        """Leave only a part of the next token to be read."""
        self.token = self.tokens[self.index] = self.token._replace(text=text)

    def skip(self, count: int | None = None) -> None:
        """Leave out so many tokens, or all that follow."""
        self.index = len(self.tokens) - 1 if count is None else self.index + count
        self.token = self.tokens[self.index]

    def at(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        token = self.token
        return token.kind is Kind.SIGN and token.text in signs

    def accept(self, *signs: str) -> bool:
        """Take the next token if it is one of these signs."""
        token = self.token
        if token.kind is not Kind.SIGN or token.text not in signs:
            return False
        self.take()
        return True

    def inside(self, rule: Rule, *, bars: bool = False) -> Node:
        """Read by a rule one level deeper."""
        before, self.bars = self.bars, bars
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise OverBudget(f"brackets more than {MAX_DEPTH} deep")
        node = rule(self)
        self.depth -= 1
        self.bars = before
        return node

    def close(self, *texts: str) -> str:
        """Take a closing bracket."""
        token = self.take()
        if token.kind is not Kind.CLOSE or token.text not in texts:
            raise Unreadable(f"expected {' or '.join(texts)}, found {token.text or 'the end'!r}")
        return token.text

    def refuse(self) -> Unreadable:
        """The error for a token that fits nowhere."""
        return Unreadable(f"did not expect {self.token.text or 'the end'!r}")


def parse_number(text: str) -> Node:
    """A number as written; raises OverBudget for one of thousands of digits."""
    value = decimal_value(text)
    if value is None:
        raise OverBudget(f"a number of more than {MAX_DIGITS:,} digits")
    return number(value, text)


def parse_bracket(cursor: Cursor) -> Node:
    """Parse the next bracket."""
    opening = cursor.take().text
    if cursor.token.kind is Kind.CLOSE:
        return _empty(opening, cursor.take().text)
    if opening in ("{", "\\{"):
        return _braces(cursor, opening)
    body = cursor.inside(cursor.grammar.items)
    brackets = opening + cursor.close(")", "]")
    if brackets == "[)" or brackets == "(]" or body.op is Op.LIST:
        return Node(Op.TUPLE, _items(body), brackets)
    return body


def group(cursor: Cursor) -> Node:
    """A LaTeX argument: what stands in braces, or the next digit or symbol."""
    token = cursor.token
    if token.kind is Kind.OPEN and token.text == "{":
        return parse_bracket(cursor)
    if token.kind is Kind.NUMBER and token.text.isdecimal():
        if len(token.text) > 1:
            cursor.shorten(token.text[1:])
        else:
            cursor.take()
        return parse_number(token.text[0])
    if token.kind is Kind.NAME:
        return name(cursor.take().text)
    return cursor.inside(cursor.grammar.factor)


def parse_absolute(cursor: Cursor) -> Node:
    """Parse the expression between two bars."""
    bar = cursor.take().text
    body = cursor.inside(cursor.grammar.items, bars=True)
    if body.op is Op.LIST or not cursor.accept(bar):
        raise cursor.refuse()
    return call("abs" if bar == "|" else "norm", body)


def parse_rounding(cursor: Cursor, function: str, closing: str) -> Node:
    r"""`\lfloor … \rfloor` and `\lceil … \rceil`."""
    body = cursor.inside(cursor.grammar.items)
    if cursor.token.kind is not Kind.COMMAND or cursor.take().text != closing:
        raise Unreadable(f"expected \\{closing}")
    return call(function, body)


def _braces(cursor: Cursor, opening: str) -> Node:
    condition = _has_condition(cursor)
    body = cursor.inside(cursor.grammar.items, bars=condition)
    if condition and cursor.accept("|", ":"):
        rule = cursor.inside(cursor.grammar.items)
        cursor.close("}", "\\}")
        return Node(Op.BUILDER, (body, rule))
    cursor.close("}", "\\}")
    if opening == "{" and body.op is not Op.LIST:
        return body
    if body.op is Op.RATIO and opening == "\\{" and body.args[1].op is Op.RELATION:
        return Node(Op.BUILDER, body.args)
    return Node(Op.SET, _items(body))


def _has_condition(cursor: Cursor) -> bool:
    """Whether the open braces contain a single bar: `{x | x > 0}`, not `{|x|}`."""
    depth, bars, colons = 1, 0, []
    for index, token in enumerate(cursor.tokens[cursor.index :], cursor.index):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth == 0:
            break
        if depth == 1 and token.kind is Kind.SIGN:
            bars += token.text == "|"
            colons += [index] if token.text == ":" else []
    if bars == 0 and len(colons) == 1 and _is_element(cursor, colons[0]):
        cursor.tokens[colons[0]] = Token(Kind.SIGN, "|")  # `{x : x > 0}` is `{x | x > 0}`, no ratio
        return True
    return bars % 2 == 1


def _is_element(cursor: Cursor, colon: int) -> bool:
    """Whether an unknown stands before a colon, alone or with its domain."""
    before = cursor.tokens[cursor.index : colon]
    return bool(before) and before[0].kind is Kind.NAME and (len(before) == 1 or before[1].text == "in")


def _items(body: Node) -> tuple[Node, ...]:
    return body.args if body.op is Op.LIST else (body,)


def _empty(opening: str, closing: str) -> Node:
    if opening == "\\{" and closing == "\\}":
        return Node(Op.EMPTY)
    raise Unreadable("empty brackets")
