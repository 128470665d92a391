"""Run tests beside the program, in its process: only on request, for tests that cannot be split.

The program can see these tests and can make them pass; a verdict from here says so (`split` is false). There is one
result for all tests together.
"""

from plaudit.sandbox.judging.launcher import Launcher
from plaudit.sandbox.judging.proxies.program_proxy import conclusion_of, tail
from plaudit.sandbox.judging.suites import AssertSuite, FileSuite
from plaudit.sandbox.judging.verdict import Conclusion, TestResult, Verdict
from plaudit.sandbox.outcome import Ending

__all__ = ["judge_in_process"]

RUN_ALL = """
for _name, _test in list(globals().items()):
    if _name.startswith("test") and callable(_test):
        _test()
"""


def judge_in_process(launcher: Launcher, suite: AssertSuite | FileSuite) -> Verdict:
    """The verdict of tests that were loaded together with the program."""
    with launcher.programs.open(launcher.limits) as program:
        outcome = program.load("\n".join([launcher.source, *_lines(suite), ""]))
    passed = outcome.ending is Ending.RETURNED
    ended = conclusion_of(outcome) if outcome.ending.is_final else Conclusion.COMPLETED
    return Verdict(
        results=[TestResult("all tests, in process", passed=passed, reason="" if passed else outcome.reason)],
        conclusion=ended,
        reason="" if passed else outcome.reason,
        calls=1,
        stdout=tail(outcome.stdout),
        stderr=tail(outcome.stderr),
        tier=outcome.tier.label,
        cpu_s=outcome.cpu_s,
        split=False,
    )


def _lines(suite: AssertSuite | FileSuite) -> list[str]:
    if isinstance(suite, FileSuite):
        return [suite.text, RUN_ALL]
    call = [f"check({suite.entry_point})"] if suite.entry_point and "def check(" in suite.texts[0] else []
    return [*suite.imports, *suite.texts, *call]
