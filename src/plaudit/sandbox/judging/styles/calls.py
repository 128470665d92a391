"""Judge by calls of one function: arguments in, the values compared here.

A function may stand alone or be a method of `class Solution`; which of the two is found out by asking the program.
"""

from functools import lru_cache
from typing import Any, TypeAlias

from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.proxies.arrays import to_list
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy, show_value
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.rewriting.batches import Batches, Expectation, batch_calls
from plaudit.sandbox.judging.styles.asserts import conclude
from plaudit.sandbox.judging.styles.comparing import same_value
from plaudit.sandbox.judging.suites import CallSuite
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.program import Call
from plaudit.sandbox.values import from_text

__all__ = ["judge_calls", "path_of"]

Case: TypeAlias = tuple[list[Any], Any]


def judge_calls(launcher: Launcher, suite: CallSuite) -> Verdict:
    """The verdict of calls with expected values."""
    cases: list[Case] = from_text(suite.cases)
    path = path_of(suite.function, launcher.source)
    return _run(launcher, suite, cases, path)


def _run(launcher: Launcher, suite: CallSuite, cases: list[Case], path: str) -> Verdict:
    names = tuple(f"{suite.function}({', '.join(repr(one)[:40] for one in args)})"[:120] for args, _ in cases)
    try:
        proxy = launcher.proxy(suite.imports)
    except NotLoaded as error:
        return load_failure(launcher, list(names), error.outcome)
    recorder = Recorder(names, proxy, stop_early=launcher.stop_early)
    proxy.carrying = None if suite.in_place else ()
    proxy.batches = _batches_of(suite.cases, path)
    try:
        with Caught() as caught:
            for place, (args, expected) in enumerate(cases):
                with recorder.check(place):
                    _check(proxy, path, args, expected, suite)
        return conclude(launcher, proxy, recorder, caught.error)
    finally:
        proxy.close()


@lru_cache(maxsize=64)
def _batches_of(cases: str, path: str) -> Batches:
    return batch_calls(Expectation(Call(path, args), [expected]) for args, expected in from_text(cases))


def path_of(function: str, source: str) -> str:
    """`f`, or `Solution().f` where the program has a class of that name and no such function of its own."""
    if "." in function or f"def {function}" not in source or "class Solution" not in source:
        return function
    for line in source.splitlines():
        if line.startswith((f"def {function}(", f"def {function} (", f"async def {function}")):
            return function
    return f"Solution().{function}"


def _check(proxy: ProgramProxy, path: str, args: list[Any], expected: Any, suite: CallSuite) -> None:
    result = proxy.call(path, tuple(args), {})
    if suite.in_place:
        result = args[0]
    if not same_value(to_list(result), expected, suite.tolerance):
        raise AssertionError(f"returned {show_value(result)}, expected {show_value(expected)}")
