"""Judge by the text of a test file, as pytest or unittest would run it, without either in the program's process.

Modules that the file imports and that do not exist here are the program. Each test function, parametrised case and
`TestCase` method is one test; what the stand-in for pytest does not know is refused, not guessed.
"""

import ast
import inspect
import sys
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType, ModuleType
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.rewriting.assertions import rewrite
from plaudit.sandbox.judging.rewriting.facts import TestFacts, read_facts
from plaudit.sandbox.judging.rewriting.modules import KNOWN_PACKAGES, PROGRAM_MODULES, STAND_INS, is_installed
from plaudit.sandbox.judging.rewriting.names import (
    OpenNames,
    helpers_in,
    library,
    open_names,
    refuse_missing_imports,
    top_level_names,
)
from plaudit.sandbox.judging.rewriting.test_names import TEST_NAMES
from plaudit.sandbox.judging.styles.asserts import conclude
from plaudit.sandbox.judging.styles.fixtures import Fixtures
from plaudit.sandbox.judging.styles.pytest_stand_in import CASES, SKIPPED, Skipped, stand_in
from plaudit.sandbox.judging.suites import FileSuite
from plaudit.sandbox.judging.verdict import Verdict

__all__ = ["judge_file", "prepare_file"]


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A test file made ready: its code without the imports of the program, and the names it has of it."""

    code: CodeType
    names: OpenNames
    modules: tuple[tuple[str, str], ...]  # (name in the file, name in the program; empty for the whole program)
    facts: TestFacts


@dataclass(frozen=True, slots=True)
class FoundTest:
    """One test of the file, ready to call."""

    name: str
    run: Callable[[], Any]


def judge_file(launcher: Launcher, suite: FileSuite) -> Verdict:
    """The verdict of a test file."""
    prepared = prepare_file(suite)
    try:
        proxy = launcher.proxy([])
    except NotLoaded as error:
        return load_failure(launcher, [], error.outcome)
    proxy.facts = prepared.facts
    try:
        tests: list[FoundTest] = []
        with Caught() as collecting, _replace_pytest():
            tests = collect_tests(_namespace(prepared, proxy))
        if collecting.error is not None:
            return conclude(launcher, proxy, Recorder((), proxy, stop_early=True), collecting.error)
        if not tests:
            return Verdict(refusal="the file holds no test: functions test_… or classes Test…")
        recorder = Recorder(tuple(test.name for test in tests), proxy, stop_early=launcher.stop_early)
        with Caught() as caught, _replace_pytest():
            for place, test in enumerate(tests):
                with recorder.check(place):
                    test.run()
        return conclude(launcher, proxy, recorder, caught.error)
    finally:
        proxy.close()


def prepare_file(suite: FileSuite) -> PreparedFile:
    """The file, parsed and compiled."""
    return _prepare(suite.text, suite.module, suite.prompt, suite.entry_point)


@lru_cache(maxsize=256)
def _prepare(text: str, module: str | None, prompt: str, entry_point: str | None) -> PreparedFile:
    tree = rewrite(text)
    _refuse_two_programs(tree, module)
    modules: list[tuple[str, str]] = []
    for scope in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(scope, field, None)
            if isinstance(body, list):
                setattr(scope, field, _without_program_imports(body, module, modules))
    helpers = helpers_in(prompt, entry_point)
    source = f"{helpers}\n{ast.unparse(ast.fix_missing_locations(tree))}"
    explained = top_level_names(source) | {name for name, _ in modules}
    names = open_names(source, entry_point, frozenset(explained), imported=bool(modules))
    refuse_missing_imports(source)
    used = {name for name, _ in modules} | _attributes_of({name for name, meant in modules if not meant}, tree)
    facts = read_facts(source, frozenset(names.program) | used)
    return PreparedFile(compile(source, "<tests>", "exec"), names, tuple(modules), facts)


def _refuse_two_programs(tree: ast.Module, module: str | None) -> None:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    found = {name.partition(".")[0] for name in names if _is_program(name, module)}
    if len(found) > 1:
        raise InvalidTrajectory(
            f"the test file imports {', '.join(sorted(found))}, of which one can be the program: name it as 'module'"
        )


def _attributes_of(names: set[str], tree: ast.Module) -> set[str]:
    """What tests ask of modules by these names."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    }


def _without_program_imports(body: list[Any], module: str | None, found: list[tuple[str, str]]) -> list[Any]:
    """The statements with imports of the program taken out, and what they named put into `found`."""
    kept: list[Any] = []
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.level or _is_program(node.module or "", module)):
            found += [(alias.asname or alias.name, alias.name) for alias in node.names if alias.name != "*"]
            node = ast.copy_location(ast.Pass(), node)
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if _is_program(alias.name, module)]
            found += [(alias.asname or alias.name, "") for alias in ours]
            node.names = [alias for alias in node.names if alias not in ours]
            node = node if node.names else ast.copy_location(ast.Pass(), node)
        kept.append(node)
    return kept


def _is_program(name: str, module: str | None) -> bool:
    """Whether a module that a test file imports is the program: by its name, or because nothing else is known of it."""
    top = name.partition(".")[0]
    if name == module or top in PROGRAM_MODULES:
        return True
    known = top in STAND_INS or top in sys.stdlib_module_names or top in KNOWN_PACKAGES or is_installed(top)
    return module is None and not known


def _namespace(prepared: PreparedFile, proxy: ProgramProxy) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "test_program", "__file__": "test_program.py", **TEST_NAMES}
    namespace.update(library(prepared.names.modules))
    namespace.update({name: proxy.named(name) for name in prepared.names.program})
    for name, meant in prepared.modules:
        namespace[name] = proxy.named(meant) if meant else _ProgramModule(proxy)
    exec(prepared.code, namespace)
    return namespace


class _ProgramModule:
    """`import solution`: whatever is asked of it is asked of the program."""

    def __init__(self, proxy: ProgramProxy) -> None:
        self._proxy = proxy

    def __getattr__(self, name: str) -> Any:
        return self._proxy.named(name)


@contextmanager
def _replace_pytest() -> Iterator[None]:
    """While tests run, `import pytest` gives the stand-in."""
    before: ModuleType | None = sys.modules.get("pytest")
    sys.modules["pytest"] = stand_in()
    try:
        yield
    finally:
        if before is None:
            del sys.modules["pytest"]
        else:
            sys.modules["pytest"] = before


def collect_tests(namespace: dict[str, Any]) -> list[FoundTest]:
    """The tests of a file that was run, in its order."""
    found: list[FoundTest] = []
    fixtures = Fixtures(namespace)
    for name, thing in list(namespace.items()):
        if isinstance(thing, type) and issubclass(thing, unittest.TestCase) and thing is not unittest.TestCase:
            found += _of_test_case(thing)
        elif isinstance(thing, type) and name.startswith("Test"):
            found += _of_class(name, thing, fixtures)
        elif inspect.isfunction(thing) and name.startswith("test"):
            found += _of_function(name, thing, fixtures)
    return found


def _of_test_case(case: type[unittest.TestCase]) -> list[FoundTest]:
    names = unittest.defaultTestLoader.getTestCaseNames(case)
    kept = [name for name in names if not getattr(getattr(case, name), "__unittest_skip__", False)]
    return [FoundTest(f"{case.__name__}.{name}", partial(_run_case, case, name)) for name in kept]


def _run_case(case: type[unittest.TestCase], name: str) -> None:
    result = unittest.TestResult()
    suite = unittest.TestSuite([case(name)])
    suite.run(result)
    for _, trace in [*result.errors, *result.failures]:
        raise AssertionError(trace.strip().rpartition("\n")[2])
    if not result.wasSuccessful() or result.skipped or result.expectedFailures or result.testsRun != 1:
        raise AssertionError("the test did not run to its end")


def _of_class(name: str, group: type, fixtures: Fixtures) -> list[FoundTest]:
    found = []
    for method in [attribute for attribute in vars(group) if attribute.startswith("test")]:
        function = getattr(group, method)
        if callable(function):
            found += _of_function(f"{name}.{method}", function, fixtures, group)
    return found


def _of_function(name: str, function: Any, fixtures: Fixtures, group: type | None = None) -> list[FoundTest]:
    if getattr(function, SKIPPED, False):
        return []
    cases = getattr(function, CASES, [{}])
    many = len(cases) > 1
    return [
        FoundTest(f"{name}[{place}]" if many else name, partial(_run_function, function, case, fixtures, group))
        for place, case in enumerate(cases)
    ]


def _run_function(function: Any, case: dict[str, Any], fixtures: Fixtures, group: type | None) -> None:
    try:
        fixtures.run(function, case, group)
    except Skipped:
        raise AssertionError("the test was skipped while it ran, which a program could bring about") from None
