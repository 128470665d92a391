"""Small changes to the source of a reward, one at a time, and the share of them that its case table notices.

Only code that the reward uses is changed: its function or class, and what these use of the same file. Text that no
score depends on is left out: docstrings, annotations, decorators, messages of errors, f-strings, reasons.

A mutant is killed where a case fails, or where the cases do not end in time. One that cannot be loaded, or that
compiles to the same instructions as the reward, is neither killed nor has it survived: it is counted apart. Each mutant
runs in a worker process of its own.
"""

import ast
import copy
import difflib
import importlib.util
import pickle
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from plaudit.errors import InvalidSettings, PlauditError
from plaudit.loading import load
from plaudit.loading.importing import module_from_file
from plaudit.processes.single import SingleWorker, WorkerLost
from plaudit.processes.worker import Handler, Service, UnitProgress
from plaudit.testing import load_cases, run_cases
from plaudit.testing.cases.running import find_spec

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
    """The instructions of a code object, without source positions."""
    constants = [_instructions(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, tuple(constants)


SHORTEST_S = 5.0
PATIENCE = 10
"""The time limit of a mutant, as a multiple of the time of the original reward."""
_FILE_SPEC = re.compile(r"(?P<path>[^'\"]+?\.py)(?::(?P<name>\w+)[^:]*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The number of mutants killed, the mutants that survived, and those that were not counted."""

    killed: int
    timed_out: int
    """Of the killed, those whose cases did not end in time."""
    survived: tuple[Mutant, ...]
    unloadable: int
    equivalent: int
    untried: int
    """Beyond the limit of mutants or of time."""

    @property
    def score(self) -> float | None:
        """The share that was killed; None if no mutant could be tried."""
        counted = self.killed + len(self.survived)
        return self.killed / counted if counted else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        counts = ("killed", "timed_out", "unloadable", "equivalent", "untried")
        survived = [{"kind": each.kind, "line": each.line, "diff": each.diff} for each in self.survived]
        return {"score": self.score, **{name: getattr(self, name) for name in counts}, "survived": survived}


def measure_mutations(spec: str, cases: Path, *, most: int = 100, seconds: float = 600.0) -> MutationScore:
    """Run a case table on mutants of the file that `spec` names, at most `most` of them, spread over the file.

    Raises InvalidSettings if the reward is not in a file, or if the table does not pass on the reward as it is.
    """
    spec = find_spec(load_cases(cases), spec)
    match = _FILE_SPEC.fullmatch(spec)
    if match is None or not Path(match["path"]).is_file():
        raise InvalidSettings(f"mutants are made of a reward in a file, such as rewards.py:name; got {spec!r}")
    path, until = Path(match["path"]).resolve(), time.monotonic() + seconds
    try:
        text = importlib.util.decode_source(path.read_bytes())
        mutants, equivalent = make_mutants(text, match["name"])
    except (SyntaxError, ValueError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}") from None
    tried = mutants[:: -(-len(mutants) // most)] if mutants else []
    worker = SingleWorker(MutantService())
    try:
        limit_s = _limit(worker, (path, text, spec, cases), seconds)
        outcomes: list[str | None] = []
        for mutant in tried:
            if time.monotonic() > until:
                break
            outcomes.append(_outcome(worker, (path, mutant.text, spec, cases), limit_s))
    finally:
        worker.close()
    return MutationScore(
        killed=outcomes.count("killed") + outcomes.count("timeout"),
        timed_out=outcomes.count("timeout"),
        survived=tuple(each for each, outcome in zip(tried, outcomes, strict=False) if outcome == "survived"),
        unloadable=outcomes.count("unloadable"),
        equivalent=equivalent,
        untried=len(mutants) - len(outcomes),
    )


Job = tuple[Path, str, str, Path]
"""The file of the reward, its text, the spec, and the case table."""


def _limit(worker: SingleWorker, job: Job, seconds: float) -> float:
    """The time that a mutant may take, from the time of the reward itself; raises where the table does not pass."""
    began = time.monotonic()
    try:
        failed = pickle.loads(worker.call(pickle.dumps(("load", *job)), seconds)) or pickle.loads(
            worker.call(pickle.dumps(("run", *job)), seconds)
        )
    except WorkerLost as lost:
        failed = str(lost)
    if failed:
        raise InvalidSettings(f"{job[3]} does not pass on the unchanged reward ({failed}); correct that first")
    return max(SHORTEST_S, PATIENCE * (time.monotonic() - began))


def _outcome(worker: SingleWorker, job: Job, limit_s: float) -> str:
    worker.end_worker()
    try:
        if pickle.loads(worker.call(pickle.dumps(("load", *job)), limit_s)):
            return "unloadable"
    except WorkerLost:
        return "unloadable"
    try:
        return "killed" if pickle.loads(worker.call(pickle.dumps(("run", *job)), limit_s)) else "survived"
    except WorkerLost as lost:
        return "timeout" if lost.exit_code is None else "killed"


class MutantService(Service):
    """Loads a reward from a text, and runs cases on it."""

    def open(self) -> Handler:
        return MutantHandler()


class MutantHandler:
    """Answers with a reason: why the reward cannot be loaded, or which case fails first; None where there is none."""

    in_order = False

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        step, path, text, spec, cases = pickle.loads(body)
        try:
            if step == "load":
                module_from_file(path, text)
                load(spec)
                return pickle.dumps(None)
            failed = (each.case.name for each in run_cases(spec, load_cases(cases)) if not each.passed)
            return pickle.dumps(next(failed, None))
        except PlauditError as error:
            return pickle.dumps(str(error))
