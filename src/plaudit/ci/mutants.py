"""Small changes to the source of a reward, one at a time: comparisons, constants, conditions, operators, statements.

Only code that the reward uses is changed: its function or class, and what these use of the same file. Text that no
score depends on is left out: docstrings, annotations, decorators, messages of errors, f-strings, reasons.
"""

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

__all__ = ["Mutant", "make_mutants"]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
NOT_CHANGED = (ast.JoinedStr, ast.keyword, ast.arg)
UNUSED_FIELDS = ("annotation", "returns", "decorator_list", "type_params")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
REMOVED = (ast.Expr, ast.AugAssign, ast.Assert, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed source: what kind of change, in which line, and the whole text with the change."""

    kind: str
    line: int
    text: str
    diff: str


def make_mutants(text: str, name: str | None = None) -> tuple[list[Mutant], int]:
    """The mutants of a source, of all definitions or of those that `name` uses, and how many were equivalent.

    Equivalent are those that compile to the same instructions as the source or as an earlier mutant.
    """
    tree = ast.parse(text)
    known = {_instructions(compile(text, "reward", "exec"))}
    mutants, equivalent = [], 0
    for kind, node, changed in (change for part in _used(tree, name) for change in _changes(part, part)):
        mutated = _replace(text, node, changed)
        instructions = _instructions(compile(mutated, "reward", "exec"))
        if instructions in known:
            equivalent += 1
            continue
        known.add(instructions)
        lines = difflib.unified_diff(text.splitlines(), mutated.splitlines(), "reward", "mutant", lineterm="", n=0)
        mutants.append(Mutant(kind, node.lineno, mutated, "\n".join(list(lines)[3:])))
    return mutants, equivalent


def _used(tree: ast.Module, name: str | None) -> list[ast.stmt]:
    """The definitions of a file that a name needs, in their order; all of them without a name."""
    definitions = [(statement, _defined(statement)) for statement in tree.body if isinstance(statement, DEFINITIONS)]
    if name not in {each for _, names in definitions for each in names}:
        return [statement for statement, _ in definitions]
    needed, waiting = set[str](), {name}
    while waiting:
        needed |= waiting
        used = [statement for statement, names in definitions if names & waiting]
        waiting = {node.id for each in used for node in ast.walk(each) if isinstance(node, ast.Name)} - needed
    return [statement for statement, names in definitions if names & needed]


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return {getattr(statement, "name", "")}


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, Any, str]]:
    """The changes within a node: the kind, the node that is replaced, and the new source of it."""
    if isinstance(node, NOT_CHANGED):
        if isinstance(node, ast.keyword) and node.arg != "reason":
            yield from _changes(node.value, node)
        return
    if isinstance(node, ast.stmt) and _is_removable(node, parent):
        yield "removed statement", node, "pass"
    if isinstance(node, ast.Raise) or (isinstance(node, ast.stmt) and _is_text(node)):
        return
    yield from _changed_expression(node, parent)
    for name, value in ast.iter_fields(node):
        if name not in UNUSED_FIELDS:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _changes(child, node)


def _changed_expression(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, Any, str]]:
    new: Any = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new.ops = [COMPARISONS[type(node.ops[0])]()]
        yield "boundary" if isinstance(node.ops[0], BOUNDARIES) else "comparison", node, ast.unparse(new)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        new.op = OPERATORS[type(node.op)]()
        yield "operator", node, ast.unparse(new)
    elif isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "operator", node, f"({ast.unparse(new)})"
    elif isinstance(node, ast.Constant):
        value = _other_value(node, parent)
        if value is not None:
            yield "constant", node, repr(value)
    tests: list[ast.expr] = (
        [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else getattr(node, "ifs", [])
    )
    for test in tests:
        compared = test.ops if isinstance(test, ast.Compare) else []
        if len(compared) != 1 or isinstance(compared[0], BOUNDARIES):  # else the comparison is negated already
            yield "negated condition", test, f"(not ({ast.unparse(test)}))"


def _other_value(node: ast.Constant, parent: ast.AST) -> object:
    """Another value in place of a constant; None where no score depends on it."""
    value = node.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value / 2 if value else 0.5
    is_used = isinstance(parent, ast.Compare) or (isinstance(parent, ast.Call) and node in parent.args)
    return "" if isinstance(value, str) and value and is_used else None


def _is_removable(node: ast.stmt, parent: ast.AST) -> bool:
    """Whether the code runs on without a statement; an assignment only where the name has a value before it."""
    if isinstance(node, ast.Return):
        return not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef)
    if isinstance(node, ast.Assign) and not _is_text(node):
        names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
        return any(isinstance(target, ast.Name) and target.id in names for target in node.targets)
    return isinstance(node, REMOVED) and not _is_text(node)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or writes the reason of an output."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "reason" for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replace(text: str, node: Any, changed: str) -> str:
    """The text with another source of a node; columns of syntax trees count bytes of UTF-8."""
    lines = text.encode().splitlines(keepends=True)
    head: bytes = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    tail: bytes = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (head + changed.encode() + tail).decode()


def _instructions(code: CodeType) -> tuple[Any, ...]:
    """What a code object does, without the places of its source."""
    constants = [_instructions(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, tuple(constants)
