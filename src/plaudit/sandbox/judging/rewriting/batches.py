"""Which calls of the tests may be sent to the program together: those of which none tells what another should give.

A program that sees a call before it has answered the ones before it may find their answers in its arguments. So a call
joins a batch only where all is written down, arguments and expectations, and no piece of its arguments (a number, a
word, three letters in a row) is in what the calls before it in the batch are expected to give. Calls that stand in a
loop, in a condition or behind anything but asserts are not looked at: each of them waits for the one before.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.sandbox.judging.rewriting.facts import SAFE_CALLS
from plaudit.sandbox.program import Call
from plaudit.sandbox.values import NotPlain

__all__ = ["Batches", "Expectation", "batch_asserts", "batch_calls"]

Batches = Mapping[int, tuple[str, ...]]  # the requests that go together, by the place of the first among all calls
MOST, MOST_CHARACTERS = 64, 20_000  # of calls in a batch, and of each request: the program reads while it is written to
GRAM = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A call, and the values that what it gives is compared with."""

    call: Call
    expected: Sequence[Any]


def batch_calls(calls: Iterable[Expectation]) -> Batches:
    """The batches of calls that are made one after the other, whatever becomes of each."""
    batches: dict[int, tuple[str, ...]] = {}
    first, requests, expected = 0, list[str](), set[str]()
    for place, each in enumerate(calls):
        try:
            request = each.call.text()
        except NotPlain:
            break
        given = _pieces([each.call.args, each.call.kwargs])
        joins = len(requests) < MOST and len(request) < MOST_CHARACTERS and not given & expected
        if not joins:
            batches[first] = tuple(requests)
            first, requests, expected = place, [], set()
        requests.append(request)
        expected |= _pieces(each.expected)
    batches[first] = tuple(requests)
    return {place: batch for place, batch in batches.items() if len(batch) > 1}


def batch_asserts(bodies: Iterable[Sequence[ast.stmt]], paths: Mapping[str, str]) -> Batches:
    """The batches of statements that run one after the other; `paths` are the program's functions by their names."""
    return batch_calls(_read_asserts(bodies, paths))


def _read_asserts(bodies: Iterable[Sequence[ast.stmt]], paths: Mapping[str, str]) -> Iterator[Expectation]:
    """What the asserts check, up to the first statement that is something else."""
    for statement in (statement for body in bodies for statement in body):
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()) | ast.Assert(ast.Constant()) | ast.FunctionDef():
                continue
            case ast.Assign(value=value) if _is_literal(value):
                continue
            case ast.Assert(test):
                found = _read_check(test, paths)
                if found is None:
                    return
                yield found
            case _:
                return


def _read_check(test: ast.expr, paths: Mapping[str, str]) -> Expectation | None:
    """The one call in a check that does nothing else but compare with literals."""
    calls: list[Call] = []
    expected: list[Any] = []
    waiting = [test]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Call(ast.Name(name), arguments, keywords) if name in paths:
                if not all(map(_is_literal, [*arguments, *(keyword.value for keyword in keywords)])):
                    return None
                named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg}
                if len(named) < len(keywords):
                    return None
                calls.append(Call(paths[name], [ast.literal_eval(argument) for argument in arguments], named))
            case ast.Call(ast.Name(name), arguments, []) if name in SAFE_CALLS:
                waiting += arguments
            case ast.Compare(left, [_], [right]):
                waiting += [left, right]
            case _ if _is_literal(node):
                expected.append(ast.literal_eval(node))
            case ast.UnaryOp():
                waiting.append(node.operand)
            case ast.BinOp() if _is_literal(node.left) is not _is_literal(node.right):
                waiting += [node.left, node.right]
            case ast.Name("float" | "int" | "str" | "bool" | "list" | "tuple" | "dict" | "set"):
                continue
            case _:
                return None
    return Expectation(calls[0], expected) if len(calls) == 1 else None


def _is_literal(node: ast.AST) -> bool:
    """Whether it is data as it stands; a set is not, since it has no order in which it would travel."""
    match node:
        case ast.Constant():
            return node.value is not ...
        case ast.UnaryOp(ast.USub() | ast.UAdd(), ast.Constant(value)):
            return type(value) in (int, float, complex)
        case ast.List() | ast.Tuple():
            return all(map(_is_literal, node.elts))
        case ast.Dict():
            return all(key is not None and _is_literal(key) for key in node.keys) and all(map(_is_literal, node.values))
    return False


def _pieces(value: Any) -> set[str]:
    """What could be recognised of a value: its numbers, its words, and any three letters in a row."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item
        else:
            found |= _pieces_of_text(_text(item))
    return found


def _text(item: Any) -> str:
    """A single value as text: what looks the same is the same."""
    if isinstance(item, bytes | bytearray):
        return item.decode("latin-1").casefold()
    if isinstance(item, float) and item.is_integer():
        return str(abs(int(item)))
    return str(item).casefold().removeprefix("-")


def _pieces_of_text(text: str) -> set[str]:
    return {text, *_WORD.findall(text), *(text[place : place + GRAM] for place in range(len(text) - GRAM + 1))}
