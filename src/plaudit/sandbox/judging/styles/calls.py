"""Judge by calls of one function: arguments in, all at once where they are small, the values compared here.

A function may stand alone or be a method of `class Solution`; which of the two is found out by asking the program.
"""

from contextlib import suppress
from typing import Any, TypeAlias

from plaudit.sandbox.judging.launcher import Bench, unloaded
from plaudit.sandbox.judging.plan import CallPlan, PlanBroken
from plaudit.sandbox.judging.proxies.arrays import listed
from plaudit.sandbox.judging.proxies.program_proxy import Candidate, NotLoaded, shown
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.styles.asserts import concluded
from plaudit.sandbox.judging.styles.comparing import same_value
from plaudit.sandbox.judging.suites import CallSuite
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.values import from_text

__all__ = ["judge_calls", "path_of"]

Case: TypeAlias = tuple[list[Any], Any]


def judge_calls(bench: Bench, suite: CallSuite) -> Verdict:
    """The verdict of calls with expected values."""
    cases: list[Case] = from_text(suite.cases)
    path = path_of(suite.function, bench.source)
    plan = bench.plan(f"{path}\0{suite.cases}")
    if not plan.keys:
        for args, _ in cases:
            plan.add(path, args, {})
        plan.complete()
    if plan.usable:
        with suppress(PlanBroken):  # it returned something that has to be looked at over there
            return _run(bench, suite, cases, path, plan)
    return _run(bench, suite, cases, path, None)


def _run(bench: Bench, suite: CallSuite, cases: list[Case], path: str, plan: CallPlan | None) -> Verdict:
    names = tuple(f"{suite.function}({', '.join(repr(one)[:40] for one in args)})"[:120] for args, _ in cases)
    try:
        candidate = bench.candidate(suite.imports, plan)
    except NotLoaded as error:
        return unloaded(list(names), error.outcome)
    recorder = Recorder(names, candidate, stop_early=bench.stop_early)
    candidate.carries_over = suite.in_place
    try:
        with Caught() as caught:
            for place, (args, expected) in enumerate(cases):
                with recorder.point(place):
                    _check(candidate, path, args, expected, suite)
        candidate.check_plan()
        return concluded(candidate, recorder, caught.error)
    finally:
        candidate.close()


def path_of(function: str, source: str) -> str:
    """`f`, or `Solution().f` where the program has a class of that name and no such function of its own."""
    if "." in function or f"def {function}" not in source or "class Solution" not in source:
        return function
    for line in source.splitlines():
        if line.startswith((f"def {function}(", f"def {function} (", f"async def {function}")):
            return function
    return f"Solution().{function}"


def _check(candidate: Candidate, path: str, args: list[Any], expected: Any, suite: CallSuite) -> None:
    result = candidate.call(path, tuple(args), {})
    if suite.in_place:
        result = args[0]
    if not same_value(listed(result), expected, suite.tolerance):
        raise AssertionError(f"returned {shown(result)}, expected {shown(expected)}")
