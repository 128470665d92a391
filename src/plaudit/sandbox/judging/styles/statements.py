"""Judge by statements (asserts, `check(candidate)`) and by calls of one function; values are compared here.

A function that is called may stand alone or be a method of `class Solution`, as the text of the program shows.
"""

import contextlib
from typing import Any

from plaudit.sandbox.judging.handles.arrays import to_list
from plaudit.sandbox.judging.handles.places import watch
from plaudit.sandbox.judging.handles.program_proxy import ProgramProxy, show_value
from plaudit.sandbox.judging.handles.test_builtins import test_builtins
from plaudit.sandbox.judging.launcher import Launcher
from plaudit.sandbox.judging.plan.checks import CHECK
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.recorder import Recorder
from plaudit.sandbox.judging.styles.comparing import same_value
from plaudit.sandbox.judging.suites import AssertSuite, CallSuite
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.values import from_text


def judge_asserts(launcher: Launcher, suite: AssertSuite, plan: TestPlan) -> Verdict:
    """The verdict of statements."""

    def run(proxy: ProgramProxy, recorder: Recorder) -> None:
        namespace: dict[str, Any] = {"__name__": "__tests__", CHECK: recorder.check}
        fill_namespace(namespace, plan, proxy)
        for index, code in enumerate(plan.codes):
            with recorder.check(index) if plan.is_whole else contextlib.nullcontext():
                exec(code, namespace)
                if plan.check is not None:
                    namespace["check"](proxy.named(plan.check))

    return launcher.judge(plan.checks, run, suite.imports, checks_are_tests=plan.is_whole)


def judge_calls(launcher: Launcher, suite: CallSuite, plan: TestPlan) -> Verdict:
    """The verdict of calls with expected values."""
    path = _path_of(suite.function, launcher.source)

    def run(proxy: ProgramProxy, recorder: Recorder) -> None:
        for index, case in enumerate(suite.cases):
            with recorder.check(index):
                _check_call(proxy, path, case, suite)

    names = tuple(f"{suite.function}, case {index}" for index in range(len(suite.cases)))
    return launcher.judge(names, run, suite.imports)


def fill_namespace(namespace: dict[str, Any], plan: TestPlan, proxy: ProgramProxy) -> None:
    """Add the names that the plan's code needs: its imports and helpers, and handles of the program."""
    watch(plan.answers, plan.check_lines)
    proxy.class_names, proxy.errors.expected = plan.class_names, plan.expected_errors
    proxy.allows_nan = plan.names_nan
    namespace.update(test_builtins(proxy.written, lambda name: proxy.get(plan.program[name]), proxy.send, proxy.call))
    exec(plan.setup, namespace)
    for name, meant in plan.program.items():
        namespace[name] = _error_class(proxy, meant) if name in plan.exceptions else proxy.named(meant)
    for name in plan.modules:
        namespace[name] = _ProgramModule(proxy)
        for expected in plan.expected_errors:  # before the program raises one
            proxy.errors.named(expected)


def _error_class(proxy: ProgramProxy, name: str) -> type[BaseException]:
    """The class of the tests for the program's exception `name`, which may be another name of a built-in class.

    A class that failed checks belong to is not taken from the program, which could have them caught.
    """
    named = proxy.errors.named(name)
    meant = proxy.read(name)
    is_built_in = isinstance(meant, type) and issubclass(meant, Exception) and not issubclass(AssertionError, meant)
    return meant if is_built_in else named


class _ProgramModule:
    """`import solution`: its attributes are the globals of the program."""

    def __init__(self, proxy: ProgramProxy) -> None:
        self._proxy = proxy

    def __getattr__(self, name: str) -> Any:
        return _error_class(self._proxy, name) if name in self._proxy.errors.expected else self._proxy.get(name)


def _path_of(function: str, source: str) -> str:
    """`f`, or `Solution().f` where the program has a class of that name and no such function of its own."""
    if "." in function or f"def {function}" not in source or "class Solution" not in source:
        return function
    for line in source.splitlines():
        if line.startswith((f"def {function}(", f"def {function} (", f"async def {function}")):
            return function
    return f"Solution().{function}"


def _check_call(proxy: ProgramProxy, path: str, case: tuple[str, str], suite: CallSuite) -> None:
    args, expected = map(from_text, case)  # made anew for each call, so that no call sees changes by another
    result: Any = proxy.call(path, tuple(args), {})
    result = to_list(args[0] if suite.in_place else result)
    if same_value(result, expected, suite.tolerance):
        return
    if not (suite.is_wrapped and same_value(result, expected[0], suite.tolerance)):
        raise AssertionError(f"returned {show_value(result)}, expected {show_value(expected)}")
