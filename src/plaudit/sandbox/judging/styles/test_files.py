"""Judge by the text of a test file, as pytest or unittest would run it, without either in the program's process.

Modules that the file imports and that do not exist here are the program. Each test function, parametrised case and
`TestCase` method is one test; what the stand-in for pytest does not know is refused, not guessed.
"""

import ast
import importlib.util
import inspect
import random
import sys
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType, ModuleType
from typing import Any

from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy, odd_numbers_in
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.rewriting.assertions import looks_at_arguments, rewrite
from plaudit.sandbox.judging.rewriting.names import OpenNames, helpers_in, library, open_names, top_level_names
from plaudit.sandbox.judging.rewriting.zipping import STRICT_ZIP, strict_zip
from plaudit.sandbox.judging.styles.asserts import conclude
from plaudit.sandbox.judging.styles.pytest_stand_in import CASES, FIXTURE, SKIPPED, Skipped, stand_in
from plaudit.sandbox.judging.suites import FileSuite
from plaudit.sandbox.judging.verdict import Verdict

__all__ = ["judge_file"]

PROGRAM_MODULES = frozenset(
    {"solution", "main", "candidate", "submission", "program", "answer", "your_module", "module"}
)


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A test file made ready: its code without the imports of the program, and the names it has of it."""

    code: CodeType
    names: OpenNames
    modules: tuple[tuple[str, str], ...]  # (name in the file, name in the program; empty for the whole program)
    looks_at_arguments: bool
    odd_numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class FoundTest:
    """One test of the file, ready to call."""

    name: str
    run: Callable[[], Any]


def judge_file(launcher: Launcher, suite: FileSuite) -> Verdict:
    """The verdict of a test file."""
    prepared = _prepare(suite.text, suite.module, suite.prompt, suite.entry_point)
    try:
        proxy = launcher.proxy([])
    except NotLoaded as error:
        return load_failure([], error.outcome)
    proxy.carries_over, proxy.odd_numbers = prepared.looks_at_arguments, prepared.odd_numbers
    random.seed(0)
    try:
        tests: list[FoundTest] = []
        with Caught() as collecting, _pytest_replaced():
            tests = collect_tests(_namespace(prepared, proxy))
        if collecting.error is not None or not tests:
            return conclude(proxy, Recorder((), proxy, stop_early=True), collecting.error or NO_TESTS)
        recorder = Recorder(tuple(test.name for test in tests), proxy, stop_early=launcher.stop_early)
        with Caught() as caught, _pytest_replaced():
            for place, test in enumerate(tests):
                with recorder.check(place):
                    test.run()
        return conclude(proxy, recorder, caught.error)
    finally:
        proxy.close()


NO_TESTS = AssertionError("the file holds no test: functions test_… or classes Test…")


@lru_cache(maxsize=256)
def _prepare(text: str, module: str | None, prompt: str, entry_point: str | None) -> PreparedFile:
    tree = rewrite(text)
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
    return PreparedFile(
        compile(source, "<tests>", "exec"), names, tuple(modules), looks_at_arguments(source), odd_numbers_in(text)
    )


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


@lru_cache(maxsize=256)
def _is_program(name: str, module: str | None) -> bool:
    if name == module or name in PROGRAM_MODULES:
        return True
    top = name.partition(".")[0]
    return top not in ("pytest", "unittest") and top not in sys.stdlib_module_names and not _exists(top)


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _namespace(prepared: PreparedFile, proxy: ProgramProxy) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "test_program", "__file__": "test_program.py", STRICT_ZIP: strict_zip}
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
def _pytest_replaced() -> Iterator[None]:
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
    for name, thing in list(namespace.items()):
        if isinstance(thing, type) and issubclass(thing, unittest.TestCase) and thing is not unittest.TestCase:
            found += _of_test_case(thing)
        elif isinstance(thing, type) and name.startswith("Test"):
            found += _of_class(name, thing, namespace)
        elif inspect.isfunction(thing) and name.startswith("test"):
            found += _of_function(name, thing, namespace)
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


def _of_class(name: str, group: type, namespace: dict[str, Any]) -> list[FoundTest]:
    found = []
    for method in [attribute for attribute in vars(group) if attribute.startswith("test")]:
        function = getattr(group, method)
        if callable(function):
            found += _of_function(f"{name}.{method}", function, namespace, group)
    return found


def _of_function(name: str, function: Any, namespace: dict[str, Any], group: type | None = None) -> list[FoundTest]:
    if getattr(function, SKIPPED, False):
        return []
    if inspect.iscoroutinefunction(function):
        raise NotSplittable(f"{name} is async, which cannot be judged apart from pytest")
    cases = getattr(function, CASES, [{}])
    many = len(cases) > 1
    return [
        FoundTest(f"{name}[{place}]" if many else name, partial(_run_function, function, case, namespace, group))
        for place, case in enumerate(cases)
    ]


def _run_function(function: Any, case: dict[str, Any], namespace: dict[str, Any], group: type | None) -> None:
    owner = [] if group is None else [group()]
    wanted = list(inspect.signature(function).parameters)[len(owner) :]
    keywords = {name: case[name] if name in case else _fixture(name, namespace) for name in wanted}
    if owner and hasattr(owner[0], "setup_method"):
        owner[0].setup_method(*([function] if inspect.signature(owner[0].setup_method).parameters else []))
    try:
        function(*owner, **keywords)
    except Skipped:
        raise AssertionError("the test was skipped while it ran, which a program could bring about") from None


def _fixture(name: str, namespace: dict[str, Any]) -> Any:
    found = namespace.get(name)
    if not getattr(found, FIXTURE, False):
        raise NotSplittable(f"the fixture {name!r} is not in the file; only fixtures of the file itself can be judged")
    assert found is not None
    made = found(**{inner: _fixture(inner, namespace) for inner in inspect.signature(found).parameters})
    return next(made) if inspect.isgenerator(made) else made
