"""One plan per suite: what the judge executes, and whether the tests can be scored, known before any program runs."""

import ast
import copy
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.plan.instances import find_unscored
from plaudit.sandbox.judging.plan.modules import KNOWN_PACKAGES, PROGRAM_MODULES, STAND_INS, is_installed
from plaudit.sandbox.judging.plan.names import (
    called_names,
    exception_names,
    helpers_in,
    parse_tests,
    program_names,
    refuse_missing_imports,
    standard_modules,
    top_level_names,
)
from plaudit.sandbox.judging.plan.pytest_features import find_unsupported
from plaudit.sandbox.judging.plan.rewriting import CheckWrapper, names_in, rewrite
from plaudit.sandbox.judging.suites import AssertSuite, FileSuite

__all__ = ["TestPlan", "plan_asserts", "plan_file"]


@dataclass(frozen=True, slots=True)
class TestPlan:
    """A suite made ready.

    `setup` runs before `codes`; `checks` are their names, `check` is the function that `check(candidate)` gets. Names
    in the tests stand for `program` (by their names in the program), `exceptions` among them for exception classes,
    `modules` for the whole program. `unscored` says why the tests cannot be scored unless objects are trusted.
    """

    __test__ = False

    setup: CodeType
    codes: tuple[CodeType, ...]
    checks: tuple[str, ...] = ()
    program: dict[str, str] = field(default_factory=dict)
    exceptions: frozenset[str] = frozenset()
    expected_errors: frozenset[str] = frozenset()  # all names in places where only exceptions can be
    modules: tuple[str, ...] = ()
    check: str | None = None
    in_answers: frozenset[int] = frozenset()
    is_whole: bool = True  # each text is one check, instead of containing checks
    unscored: str = ""
    class_names: frozenset[str] = frozenset()  # capitalised names of the program that the tests mention


def plan_asserts(suite: AssertSuite) -> TestPlan:
    """The plan of asserts; InvalidTrajectory where they cannot be run."""
    return _plan_asserts(tuple(suite.texts), suite.entry_point, "\n".join(suite.imports), suite.prompt)


@lru_cache(maxsize=512)
def _plan_asserts(texts: tuple[str, ...], entry_point: str | None, imports: str, prompt: str) -> TestPlan:
    setup = f"{imports}\n{helpers_in(prompt, entry_point)}"
    setup_tree = copy.deepcopy(parse_tests(setup, "imports or prompt"))
    joined = "\n".join(texts)
    tree = parse_tests(joined)
    defined = top_level_names(setup)
    program = program_names(tree, joined, entry_point, defined)
    forgotten = standard_modules(tree, joined) - defined
    setup_tree.body += [ast.Import([ast.alias(name)]) for name in sorted(forgotten)]
    exceptions = exception_names(tree) & frozenset(program)
    refuse_missing_imports("\n".join([setup, *texts]))
    check = _function_to_check(tree, entry_point, program)
    candidate = _candidate(tree) if check else ""
    functions = (*program, candidate) if candidate else program
    read = frozenset(program) - called_names(tree) - exceptions - ({check} if check else set())
    plan = {
        "setup": compile(rewrite(setup_tree, (), ()), "<setup>", "exec", dont_inherit=True),
        "program": {name: name for name in program},
        "exceptions": exceptions,
        "expected_errors": exception_names(tree),
        "unscored": find_unscored(tree, program, candidate=candidate),
        "class_names": _capitalised(tree, program),
    }
    if len(texts) > 1:
        codes = tuple(_compile(rewrite(copy.deepcopy(parse_tests(text)), functions, read)) for text in texts)
        return TestPlan(codes=codes, checks=tuple(text.strip()[:120] for text in texts), **plan)  # type: ignore[arg-type]
    tree = copy.deepcopy(tree)
    wrapper = CheckWrapper(tree, functions)
    tree.body = wrapper.wrap(tree.body, at_top=True)
    code = _compile(rewrite(tree, functions, read))
    checks = tuple(wrapper.names) or ("check" if check else "the tests",)
    return TestPlan(
        codes=(code,), checks=checks, check=check, in_answers=frozenset(wrapper.in_answers),
        is_whole=not wrapper.names, **plan,  # type: ignore[arg-type]
    )  # fmt: skip


def _compile(tree: ast.Module) -> CodeType:
    return compile(ast.fix_missing_locations(tree), "<tests>", "exec", dont_inherit=True)


def _function_to_check(tree: ast.Module, entry_point: str | None, program: tuple[str, ...]) -> str | None:
    """The function that `check` is to be called with, where there is a `check` that nobody calls."""
    has_check = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    if not has_check or any(_calls_check(node) for node in tree.body):
        return None
    if entry_point:
        return entry_point
    if len(program) != 1:
        raise InvalidTrajectory(f"check(candidate) needs to know the function to check: 'entry_point' ({program})")
    return program[0]


def _calls_check(node: ast.stmt) -> bool:
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "check"


def _candidate(tree: ast.Module) -> str:
    """The parameter of `check`."""
    [*_, function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check")
    return function.args.args[0].arg if function.args.args else ""


def plan_file(suite: FileSuite) -> TestPlan:
    """The plan of a test file; InvalidTrajectory where it cannot be run."""
    return _plan_file(suite.text, suite.module, suite.prompt, suite.entry_point)


@lru_cache(maxsize=512)
def _plan_file(text: str, module: str | None, prompt: str, entry_point: str | None) -> TestPlan:
    tree = copy.deepcopy(parse_tests(text))
    _refuse_two_programs(tree, module)
    imported: list[tuple[str, str]] = []
    for scope in ast.walk(tree):
        for part in ("body", "orelse", "finalbody"):
            body = getattr(scope, part, None)
            if isinstance(body, list):
                setattr(scope, part, _without_program_imports(body, module, imported))
    helpers = helpers_in(prompt, entry_point)
    source = f"{helpers}\n{ast.unparse(ast.fix_missing_locations(tree))}"
    aliases = {name: meant for name, meant in imported if meant}
    modules = tuple(name for name, meant in imported if not meant)
    defined = top_level_names(source) | frozenset(aliases) | frozenset(modules)
    parsed = parse_tests(source)
    program = {name: name for name in program_names(parsed, source, entry_point, defined, imported=bool(imported))}
    program |= aliases
    if unsupported := find_unsupported(tree, [*program, *modules]):
        raise InvalidTrajectory(unsupported)
    expected = exception_names(tree)
    exceptions = expected & frozenset(program)
    refuse_missing_imports(source)
    read = frozenset(program) - called_names(tree) - exceptions
    unscored = find_unscored(tree, program, modules)
    rewrite(tree, (*program, *modules), read)
    forgotten = "".join(f"import {name}\n" for name in sorted(standard_modules(parsed, source) - defined))
    setup_tree = copy.deepcopy(parse_tests(f"{forgotten}{helpers}", "the prompt"))
    setup = compile(rewrite(setup_tree, (), ()), "<setup>", "exec", dont_inherit=True)
    return TestPlan(
        setup, (_compile(tree),), (), program, exceptions, expected, modules, unscored=unscored,
        class_names=_capitalised(tree, [*program, *modules]),
    )  # fmt: skip


def _capitalised(tree: ast.Module, program: Collection[str]) -> frozenset[str]:
    """The capitalised names of the program that the tests mention, also as attributes of other ones."""
    names = set(program) & names_in(tree)
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and names_in(node) & names}
    return frozenset(name for name in names if name[:1].isupper())


def _refuse_two_programs(tree: ast.Module, module: str | None) -> None:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    programs = {name.partition(".")[0] for name in names if _is_program(name, module)}
    if len(programs) > 1:
        raise InvalidTrajectory(
            f"the test file imports {', '.join(sorted(programs))}, of which one can be the program: name it as 'module'"
        )


def _without_program_imports(body: list[ast.stmt], module: str | None, names: list[tuple[str, str]]) -> list[ast.stmt]:
    """The statements without imports of the program; what they named is added to `names`."""
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.level or _is_program(node.module or "", module)):
            names += [(alias.asname or alias.name, alias.name) for alias in node.names if alias.name != "*"]
            node = ast.copy_location(ast.Pass(), node)
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if _is_program(alias.name, module)]
            names += [(alias.asname or alias.name, "") for alias in ours]
            node.names = [alias for alias in node.names if alias not in ours]
            node = node if node.names else ast.copy_location(ast.Pass(), node)
        kept.append(node)
    return kept


def _is_program(name: str, module: str | None) -> bool:
    """Whether a module that a test file imports is the program: by its name, or since no other module has that name."""
    top = name.partition(".")[0]
    if name == module or top in PROGRAM_MODULES:
        return True
    known = top in STAND_INS or top in sys.stdlib_module_names or top in KNOWN_PACKAGES or is_installed(top)
    return module is None and not known
