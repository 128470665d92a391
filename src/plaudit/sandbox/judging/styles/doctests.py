"""Judge by doctest examples: what a person would see after typing them."""

import doctest
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from typing import Any

from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded, ProgramProxy
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.rewriting.facts import TestFacts, read_facts
from plaudit.sandbox.judging.rewriting.names import OpenNames, library, open_names
from plaudit.sandbox.judging.rewriting.test_names import TEST_NAMES
from plaudit.sandbox.judging.styles.asserts import conclude
from plaudit.sandbox.judging.suites import DoctestSuite
from plaudit.sandbox.judging.verdict import Verdict

__all__ = ["judge_doctests", "prepare_doctests"]


def judge_doctests(launcher: Launcher, suite: DoctestSuite) -> Verdict:
    """The verdict of examples, each of which counts that shows a result."""
    examples, names, facts = prepare_doctests(suite)
    checks = tuple(example.source.strip()[:120] for example in examples)
    try:
        proxy = launcher.proxy(suite.imports)
    except NotLoaded as error:
        return load_failure(launcher, list(checks), error.outcome)
    proxy.facts = facts
    recorder = Recorder(checks, proxy, stop_early=launcher.stop_early)
    try:
        with Caught() as caught:
            namespace: dict[str, Any] = {"__name__": "__tests__", **TEST_NAMES, **library(names.modules)}
            namespace.update({name: proxy.named(name) for name in names.program})
            for place, example in enumerate(examples):
                with recorder.check(place):
                    _run(example, namespace, proxy)
        return conclude(launcher, proxy, recorder, caught.error)
    finally:
        proxy.close()


def prepare_doctests(suite: DoctestSuite) -> tuple[list[doctest.Example], OpenNames, TestFacts]:
    """The examples of a text, and what they leave to the program."""
    return _prepare(suite.text, suite.entry_point)


@lru_cache(maxsize=256)
def _prepare(text: str, entry_point: str | None) -> tuple[list[doctest.Example], OpenNames, TestFacts]:
    examples = doctest.DocTestParser().get_examples(text)
    source = "".join(example.source for example in examples)
    names = open_names(source, entry_point)
    return examples, names, read_facts(source, frozenset(names.program))


def _run(example: doctest.Example, namespace: dict[str, Any], proxy: ProgramProxy) -> None:
    """Run one example; AssertionError where it shows something else."""
    shown = StringIO()
    try:
        with redirect_stdout(shown):
            exec(compile(example.source, "<example>", "single", dont_inherit=True), namespace)
    except Exception as error:
        expected = (example.exc_msg or "").strip()
        if not expected or expected.partition(":")[0].rpartition(".")[2] != type(error).__name__:
            raise
        message = expected.partition(": ")[2]
        if message and message != str(error):
            raise AssertionError(f"raised {error!s:.100}, expected {message:.100}") from None
        return
    flags = sum(flag for flag, is_on in example.options.items() if is_on)
    if example.exc_msg is not None or not doctest.OutputChecker().check_output(example.want, shown.getvalue(), flags):
        raise AssertionError(f"shows {shown.getvalue()[:100]!r}, expected {example.want[:100]!r}")
