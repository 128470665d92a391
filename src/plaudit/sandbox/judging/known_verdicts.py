"""Three programs whose verdicts are known: right, wrong, cheating; a judge that errs on one must not judge others."""

from plaudit.errors import SandboxError
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.judge import Judge
from plaudit.sandbox.judging.suites import AssertSuite, StreamSuite

__all__ = ["check_known_verdicts"]

RIGHT = "def double(x):\n    return 2 * x\nif __name__ == '__main__':\n    print(double(int(input())))\n"
WRONG = RIGHT.replace("2 * x", "2 + x")
CHEATING = """
class Same(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = None
def double(x):
    return Same(0)
if __name__ == '__main__':
    print('passed')
    raise SystemExit(0)
"""
SUITES = (
    AssertSuite(["assert double(3) == 6", "assert double(0) == 0 and double(5) == 10"]),
    StreamSuite(["4\n"], ["8\n"]),
)
EXPECTED = {"right": (RIGHT, True), "wrong": (WRONG, False), "cheating": (CHEATING, False)}


def check_known_verdicts(judge: Judge) -> None:
    """Raise SandboxError unless all three are judged as they must be, in every way of judging."""
    for name, (source, passes) in EXPECTED.items():
        for suite in SUITES:
            verdict = judge.judge(Job(source, [suite]))
            if verdict.refusal or verdict.passed is not passes:
                found = verdict.refusal or verdict.reason or ("passed" if verdict.passed else "failed")
                raise SandboxError(
                    f"self-test: a program known to be {name} was misjudged ({found}); refusing to score"
                )
