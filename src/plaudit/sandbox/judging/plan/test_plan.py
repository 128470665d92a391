"""One plan per suite, made before any program runs: the code that the judge executes, and whether it can be scored."""

import ast
import marshal
import sys
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from functools import lru_cache
from types import CodeType
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.handles.places import TESTS, Place
from plaudit.sandbox.judging.plan.checks import CheckWrapper, lines_of_checks
from plaudit.sandbox.judging.plan.features import find_unsupported
from plaudit.sandbox.judging.plan.instances import find_unscored
from plaudit.sandbox.judging.plan.modules import KNOWN_PACKAGES, PROGRAM_MODULES, STUBS, imported, is_installed
from plaudit.sandbox.judging.plan.names import (
    called_names,
    exception_names,
    helpers_in,
    names_nan,
    parse_tests,
    program_names,
    split_classes,
    standard_modules,
    top_level_names,
)
from plaudit.sandbox.judging.plan.program_use import ProgramUse, names_in
from plaudit.sandbox.judging.plan.rewriting import rewrite
from plaudit.sandbox.judging.plan.stateless import is_stateless
from plaudit.sandbox.judging.suites import AssertSuite, FileSuite, StreamSuite, Suite

_NOTHING = compile("", "<setup>", "exec")


@dataclass(frozen=True, slots=True)
class TestPlan:
    """A suite made ready.

    `setup` runs before `codes`; `checks` are their names, `check` is the function that `check(candidate)` gets. Names
    in the tests stand for `program` (by their names in the program), `exceptions` among them for exception classes,
    `modules` for the whole program. `unscored` says why the tests cannot be scored unless objects are trusted.
    """

    __test__ = False

    setup: CodeType = _NOTHING
    codes: tuple[CodeType, ...] = ()
    checks: tuple[str, ...] = ()
    program: dict[str, str] = field(default_factory=dict)
    exceptions: frozenset[str] = frozenset()
    expected_errors: frozenset[str] = frozenset()  # all names in places where only exceptions can be
    modules: tuple[str, ...] = ()
    check: str | None = None
    is_whole: bool = True  # each text is one check, instead of containing checks
    answers: dict[Place, bool] = field(default_factory=dict)  # calls that use answers, see `handles.places`
    check_lines: frozenset[int] = frozenset()
    unscored: str = ""
    class_names: frozenset[str] = frozenset()  # capitalised names of the program that the tests mention
    names_nan: bool = True  # else no answer may contain NaN
    packages: frozenset[str] = frozenset()  # modules beyond the standard library that the tests import
    is_stateless: bool = True  # the tests leave nothing behind in the process that runs them

    def to_bytes(self) -> bytes:
        """The plan for a process of the same interpreter."""
        return marshal.dumps([getattr(self, item.name) for item in fields(self)])

    @classmethod
    def from_bytes(cls, content: bytes) -> "TestPlan":
        """The plan that `to_bytes` wrote; only for bytes of our own processes."""
        return cls(*marshal.loads(content))


def plan_suite(suite: Suite) -> TestPlan:
    """The plan of a suite; InvalidTrajectory if its tests cannot be run."""
    try:
        if isinstance(suite, AssertSuite):
            return _plan_tests(tuple(suite.texts), "\n".join(suite.imports), suite.prompt, suite.entry_point, "")
        if isinstance(suite, FileSuite):
            return _plan_tests((suite.text,), "", suite.prompt, suite.entry_point, suite.module, is_file=True)
        return _plan_checker(suite.checker) if isinstance(suite, StreamSuite) and suite.checker else TestPlan()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidTrajectory):
            raise
        raise InvalidTrajectory(f"the tests cannot be compiled: {error}") from None


@lru_cache(maxsize=512)
def _plan_tests(
    texts: tuple[str, ...],
    imports: str,
    prompt: str,
    entry_point: str | None,
    module: str | None,
    *,
    is_file: bool = False,
) -> TestPlan:
    """The plan of statements or of a test file; `module` is the name of the program, None if it may have any."""
    helpers, classes = split_classes(helpers_in(prompt, entry_point))
    text, setup_text = "\n".join(texts), f"{imports}\n{helpers}"
    tree, setup = parse_tests(text), parse_tests(setup_text, "imports or prompt")
    aliases, modules = _take_program_imports(tree, module)
    if aliases or modules:
        text = ast.unparse(tree)
    classes &= names_in(tree) - top_level_names(text)
    aliases |= {name: name for name in classes}
    defined = top_level_names(setup_text) | frozenset(aliases) | frozenset(modules)
    names = program_names(tree, text, entry_point, defined, frozenset((*aliases, *modules)))
    program = {name: name for name in names} | aliases
    if unsupported := find_unsupported(tree, [*program, *modules]):
        raise InvalidTrajectory(unsupported)
    check = None if is_file else _function_to_check(tree, entry_point, tuple(program))
    candidate = _candidate(tree) if check else ""
    expected = exception_names(tree)
    whole = ast.Module([*setup.body, *tree.body], [])
    plan: dict[str, Any] = {
        "program": program,
        "exceptions": expected & frozenset(program),
        "expected_errors": expected,
        "modules": modules,
        "check": check,
        "unscored": find_unscored(tree, program, modules, candidate, classes),
        "class_names": _capitalised(tree, [*program, *modules]),
        "names_nan": names_nan(whole),
        "packages": _packages(whole, setup_text + text),
        "is_stateless": not modules and is_stateless(whole),
    }
    setup.body += [ast.Import([ast.alias(name)]) for name in sorted(standard_modules(tree, text) - defined)]
    plan["setup"] = _compile(rewrite(setup, ProgramUse(setup)), "<setup>")
    use = ProgramUse(tree, [*program, *modules, *([candidate] if candidate else [])])
    plan["answers"], plan["check_lines"] = use.places_of_answers(tree), lines_of_checks(tree)
    read = frozenset(program) - called_names(tree) - expected - {check}
    return TestPlan(**plan, **_compile_tests(tree, texts, use, read, is_file=is_file))


def _compile_tests(
    tree: ast.Module, texts: tuple[str, ...], use: ProgramUse, read: Collection[str], *, is_file: bool
) -> dict[str, Any]:
    """The code of the tests and their checks: each of several texts, or the statements of one that can fail."""
    if is_file:
        return {"codes": (_compile(rewrite(tree, use, read)),)}
    if len(texts) > 1:
        parts = _split(rewrite(tree, use, read), texts)
        return {"codes": tuple(map(_compile, parts)), "checks": tuple(one.strip()[:120] for one in texts)}
    wrapper = CheckWrapper()
    tree.body = wrapper.wrap(tree.body, at_top=True)
    return {
        "codes": (_compile(rewrite(tree, use, read)),),
        "checks": tuple(wrapper.names) or ("the tests",),
        "is_whole": not wrapper.names,
    }


def _split(tree: ast.Module, texts: tuple[str, ...]) -> list[ast.Module]:
    """The statements of each text, of a tree of all of them."""
    parts, end, left = [], 0, tree.body
    for text in texts:
        end += text.count("\n") + 1
        parts.append(ast.Module([node for node in left if node.lineno <= end], []))
        left = left[len(parts[-1].body) :]
    return parts


def _compile(tree: ast.Module, name: str = TESTS) -> CodeType:
    return compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)


def _packages(tree: ast.AST, text: str) -> frozenset[str]:
    """The modules beyond the standard library that tests import; InvalidTrajectory if one is not installed."""
    if "_exit(" in text:
        raise InvalidTrajectory("the tests end their process by os._exit, so nothing can be said of the program")
    names = {name for name in imported(tree) if name.partition(".")[0] not in sys.stdlib_module_names | STUBS}
    for top in sorted(name.partition(".")[0] for name in names):
        if not is_installed(top):
            raise InvalidTrajectory(f"the tests import {top!r}, which is not installed here: pip install {top}")
    return frozenset(names)


def _function_to_check(tree: ast.Module, entry_point: str | None, program: tuple[str, ...]) -> str | None:
    """The function to call `check` with, where the tests define `check` and do not call it."""
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


@lru_cache(maxsize=64)
def _plan_checker(text: str) -> TestPlan:
    """The plan of a checker, whose second parameter is the output of the program."""
    tree = parse_tests(text, "the checker")
    packages = _packages(tree, text)
    checkers = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ("check", "checker")]
    if not checkers:
        raise InvalidTrajectory("a checker defines check(given, output, expected)")
    names = [argument.arg for argument in checkers[-1].args.args]
    stdin, output, expected = names if len(names) == 3 else ("given", "output", "expected")
    code = _compile(rewrite(tree, ProgramUse(tree, [output], [stdin, expected])), "<checker>")
    return TestPlan(codes=(code,), check=checkers[-1].name, packages=packages, is_stateless=False)


def _capitalised(tree: ast.Module, program: Collection[str]) -> frozenset[str]:
    """The capitalised names of the program that the tests mention, also as attributes of other ones."""
    names = set(program) & names_in(tree)
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and names_in(node) & names}
    return frozenset(name for name in names if name[:1].isupper())


def _take_program_imports(tree: ast.Module, module: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Replace imports of the program by `pass`: the names they bind, with those in the program, and for all of it."""
    programs = {name.partition(".")[0] for name in imported(tree) if _is_program(name, module)}
    if len(programs) > 1:
        raise InvalidTrajectory(
            f"the tests import {', '.join(sorted(programs))}, of which one can be the program: name it as 'module'"
        )
    aliases: dict[str, str] = {}
    modules: list[str] = []
    for scope in list(ast.walk(tree)):
        for part in ("body", "orelse", "finalbody"):
            body = getattr(scope, part, None)
            for index, node in enumerate(body if isinstance(body, list) else ()):
                if isinstance(node, ast.ImportFrom) and _is_program(node.module or "", module, node.level):
                    aliases |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name != "*"}
                    node.names = []
                elif isinstance(node, ast.Import):
                    ours = [alias for alias in node.names if _is_program(alias.name, module)]
                    modules += [alias.asname or alias.name for alias in ours]
                    node.names = [alias for alias in node.names if alias not in ours]
                if isinstance(node, ast.Import | ast.ImportFrom) and not node.names:
                    body[index] = ast.copy_location(ast.Pass(), node)  # type: ignore[index]
    return aliases, tuple(modules)


def _is_program(name: str, module: str | None, level: int = 0) -> bool:
    """Whether a module that tests import is the program: by its name, or since no other module has that name.

    In a test file (where `module` is not empty) a relative import is one of the program, too.
    """
    if level:
        return module != ""
    top = name.partition(".")[0]
    if name == module or top in PROGRAM_MODULES:
        return True
    known = top in STUBS or top in sys.stdlib_module_names or top in KNOWN_PACKAGES or is_installed(top)
    return module is None and not known
