"""Judge by calls of one function: arguments in, the values compared here.

A function may stand alone or be a method of `class Solution`, as the text of the program shows.
"""

from typing import Any

from plaudit.sandbox.judging.handles.arrays import to_list
from plaudit.sandbox.judging.handles.program_proxy import NotLoaded, ProgramProxy, show_value
from plaudit.sandbox.judging.launcher import Launcher, conclude, load_failure
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.styles.comparing import same_value
from plaudit.sandbox.judging.suites import CallSuite
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.values import from_text

__all__ = ["judge_calls", "path_of"]


def judge_calls(launcher: Launcher, suite: CallSuite, plan: TestPlan) -> Verdict:
    """The verdict of calls with expected values."""
    path = path_of(suite.function, launcher.source)
    names = tuple(f"{suite.function}, case {index}" for index in range(len(suite.cases)))
    try:
        proxy = launcher.proxy(suite.imports)
    except NotLoaded as error:
        return load_failure(names, error.outcome)
    recorder = Recorder(names, proxy, stop_early=launcher.stop_early)
    try:
        with Caught() as caught:
            for index, case in enumerate(suite.cases):
                with recorder.check(index):
                    _check(proxy, path, case, suite)
        return conclude(launcher, proxy, recorder, caught.error)
    finally:
        proxy.close()


def path_of(function: str, source: str) -> str:
    """`f`, or `Solution().f` where the program has a class of that name and no such function of its own."""
    if "." in function or f"def {function}" not in source or "class Solution" not in source:
        return function
    for line in source.splitlines():
        if line.startswith((f"def {function}(", f"def {function} (", f"async def {function}")):
            return function
    return f"Solution().{function}"


def _check(proxy: ProgramProxy, path: str, case: tuple[str, str], suite: CallSuite) -> None:
    args, expected = map(from_text, case)  # made anew for each call, so that no call sees changes by another
    result: Any = proxy.call(path, tuple(args), {})
    result = to_list(args[0] if suite.in_place else result)
    if same_value(result, expected, suite.tolerance):
        return
    if not (suite.is_wrapped and same_value(result, expected[0], suite.tolerance)):
        raise AssertionError(f"returned {show_value(result)}, expected {show_value(expected)}")
