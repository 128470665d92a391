"""An index into a list of tokens, shared by the parts of the parser.

The parts call each other in a circle (a bracket holds a list, a list holds brackets); the cursor carries the way back.
"""

from collections.abc import Callable
from typing import NamedTuple

from plaudit.verify.math.parsing.budget import MAX_DEPTH, MAX_NODES, OverBudget, Unreadable
from plaudit.verify.math.parsing.tokens import Kind, Token
from plaudit.verify.math.parsing.tree import Node

__all__ = ["Cursor", "Grammar", "Rule"]

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
