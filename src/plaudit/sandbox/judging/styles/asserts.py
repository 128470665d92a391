"""Judge by assert statements and `check(candidate)`: the tests run here, the program's functions run over there.

Helpers come from the data set's prompt. A run that never calls the program says nothing about it, and is refused.
"""

import ast
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.missing_packages import missing_package
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy, conclusion_of, tail
from plaudit.sandbox.judging.recorder import Caught, Recorder, StopTests, short_reason
from plaudit.sandbox.judging.rewriting.assertions import (
    CHECK,
    instrument,
    rewrite,
)
from plaudit.sandbox.judging.rewriting.batches import Batches, batch_asserts
from plaudit.sandbox.judging.rewriting.facts import TestFacts, read_facts
from plaudit.sandbox.judging.rewriting.names import (
    OpenNames,
    helpers_in,
    library,
    open_names,
    parse_tests,
    refuse_missing_imports,
    top_level_names,
)
from plaudit.sandbox.judging.rewriting.test_names import TEST_NAMES
from plaudit.sandbox.judging.suites import AssertSuite
from plaudit.sandbox.judging.verdict import Conclusion, TestResult, Verdict

__all__ = ["conclude", "judge_asserts", "prepare_asserts"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A suite made ready: compiled texts, the names of its checks, and the names it needs."""

    codes: tuple[CodeType, ...]
    checks: tuple[str, ...]
    setup: CodeType
    names: OpenNames
    check: str | None
    in_answers: frozenset[int]
    facts: TestFacts
    batches: Batches
    whole: bool  # each text is one check, instead of having checks within


def judge_asserts(launcher: Launcher, suite: AssertSuite) -> Verdict:
    """The verdict of such tests."""
    return _run(launcher, suite, prepare_asserts(suite))


def prepare_asserts(suite: AssertSuite) -> Prepared:
    """The suite, parsed and compiled."""
    return _prepare("\0".join(suite.texts), suite.entry_point, "\n".join(suite.imports), suite.prompt)


@lru_cache(maxsize=256)
def _prepare(joined: str, entry_point: str | None, imports: str, prompt: str) -> Prepared:
    texts = joined.split("\0")
    helpers = helpers_in(prompt, entry_point)
    setup = f"{imports}\n{helpers}"
    names = open_names("\n".join(texts), entry_point, top_level_names(setup))
    facts = read_facts("\n".join(texts), frozenset(names.program))
    refuse_missing_imports("\n".join([setup, *texts]))
    compiled = compile(parse_tests(setup, "imports or prompt"), "<setup>", "exec")
    if len(texts) > 1:
        codes = tuple(compile(rewrite(text), "<tests>", "exec", dont_inherit=True) for text in texts)
        checks = tuple(text.strip()[:120] for text in texts)
        batches = batch_asserts([parse_tests(text).body for text in texts], {name: name for name in names.program})
        return Prepared(codes, checks, compiled, names, None, frozenset(), facts, batches, True)
    text = instrument(texts[0])
    check = _function_to_check(text.has_check and not text.calls_check, entry_point, names)
    whole = not text.names
    checks = text.names or ("check" if check else "the tests",)
    batches = _batches_in(parse_tests(texts[0]), names, check)
    return Prepared((text.code,), checks, compiled, names, check, text.in_answers, facts, batches, whole)


def _batches_in(tree: ast.Module, names: OpenNames, check: str | None) -> Batches:
    """What may be sent together of the asserts at the top of a text, or of those in its `check`."""
    if check is None:
        return batch_asserts([tree.body], {name: name for name in names.program})
    [*_, function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check")
    if not all(_runs_nothing(node) for node in tree.body) or len(function.args.args) != 1:
        return {}
    return batch_asserts([function.body], {function.args.args[0].arg: check})


def _runs_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom) or not any(
        isinstance(part, ast.Call | ast.Attribute | ast.Subscript) for part in ast.walk(node)
    )


def _function_to_check(has_check: bool, entry_point: str | None, names: OpenNames) -> str | None:
    """The function that `check` is to be called with, where there is a `check`."""
    if not has_check:
        return None
    if entry_point:
        return entry_point
    if len(names.program) != 1:
        raise NotSplittable(f"check(candidate) needs to know the function to check: 'entry_point' ({names.program})")
    return names.program[0]


def _run(launcher: Launcher, suite: AssertSuite, prepared: Prepared) -> Verdict:
    try:
        proxy = launcher.proxy(suite.imports)
    except NotLoaded as missing:
        return load_failure(launcher, list(prepared.checks), missing.outcome)
    try:
        proxy.facts, proxy.batches = prepared.facts, prepared.batches
        recorder = Recorder(prepared.checks, proxy, stop_early=launcher.stop_early, in_answers=prepared.in_answers)
        error = _run_tests(prepared, proxy, recorder)
        return conclude(launcher, proxy, recorder, error)
    finally:
        proxy.close()


def _run_tests(prepared: Prepared, proxy: ProgramProxy, recorder: Recorder) -> BaseException | None:
    """Run the texts; what was raised outside of their checks."""
    namespace: dict[str, Any] = {"__name__": "__tests__", CHECK: recorder.check, **TEST_NAMES}
    with Caught() as caught:
        exec(prepared.setup, namespace)
        namespace.update(library(prepared.names.modules))
        namespace.update({name: proxy.named(name) for name in prepared.names.program})
        for place, code in enumerate(prepared.codes):
            if prepared.whole:
                with recorder.check(place):
                    _run_text(code, namespace, prepared.check, proxy)
            else:
                _run_text(code, namespace, prepared.check, proxy)
    return caught.error


def _run_text(code: CodeType, namespace: dict[str, Any], check: str | None, proxy: ProgramProxy) -> None:
    exec(code, namespace)
    if check is not None:
        namespace["check"](proxy.named(check))


def conclude(launcher: Launcher, proxy: ProgramProxy, recorder: Recorder, error: BaseException | None) -> Verdict:
    """The verdict on a run: its checks, how the program ended, and what came between."""
    if not proxy.calls:
        why = recorder.first_failure or ("" if error is None else short_reason(error))
        return Verdict(refusal=f"the tests never called the program{f': {why}' if why else ''}")
    stopped = isinstance(error, StopTests)
    aborted = "an earlier test failed" if stopped else "" if error is None else short_reason(error)
    results = recorder.results(aborted=aborted)
    if aborted and not stopped:
        results.append(TestResult("what follows", passed=False, reason=aborted))
    loss, last = proxy.first_loss, proxy.last
    reason = next((result.reason for result in results if not result.passed), "")
    return Verdict(
        results=results,
        conclusion=conclusion_of(loss) if loss else Conclusion.COMPLETED,
        reason=reason,
        calls=proxy.calls,
        stdout=tail(proxy.stdout),
        stderr=tail(proxy.stderr),
        tier=last.tier.label if last else "",
        cpu_s=proxy.cpu_s,
        missing_package=missing_package(launcher.source, *proxy.import_failures),
    )
