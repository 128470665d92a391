"""The verdict on one program: a result per test, and how the program ended.

A verdict is formed from values that the judge decoded and compared itself. Only the tails of its output are text of the
program; they are for people.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

Suite = TypeVar("Suite")


class RunStatus(enum.StrEnum):
    """How the run of a program ended, whatever the tests said."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    CRASH = "crash"
    UNLOADED = "load_failure"


class TestResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One test: whether it passed, and why not."""

    __test__ = False  # pytest would take the class for tests of its own

    name: str
    passed: bool
    reason: str = ""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """All results for one program; `refusal` says why the tests could not be run, which is not its fault."""

    results: list[TestResult] = []
    conclusion: RunStatus = RunStatus.COMPLETED
    reason: str = ""
    refusal: str = ""
    calls: int = 0
    stdout: str = ""
    stderr: str = ""
    tier: str = ""
    cpu_s: float = 0.0
    trusts_objects: bool = False

    @property
    def passed(self) -> bool:
        """Whether every test passed, and the program was called."""
        return (
            self.count > 0
            and self.count == len(self.results)
            and self.conclusion is RunStatus.COMPLETED
            and self.calls > 0
        )

    @property
    def count(self) -> int:
        """How many tests passed; 0 where the program was never called."""
        return sum(result.passed for result in self.results) if self.calls > 0 else 0

    @property
    def share(self) -> float:
        """The share of tests that passed."""
        return self.count / len(self.results) if self.results else 0.0


def encode_verdict(verdict: Verdict) -> bytes:
    """A verdict as bytes; lone surrogates in text of the program are escaped."""
    try:
        return msgspec.msgpack.encode(verdict)
    except UnicodeEncodeError:
        escaped = _escape(msgspec.to_builtins(verdict))
        return msgspec.msgpack.encode(msgspec.convert(escaped, Verdict))


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_escape(item) for item in value]
    if isinstance(value, dict):
        return {key: _escape(item) for key, item in value.items()}
    return value


def judge_in_turn(suites: Iterable[Suite], judge: Callable[[Suite], Verdict], *, stop_early: bool) -> Verdict:
    """The verdicts on the suites of one program as one."""
    verdict: Verdict | None = None
    for suite in suites:
        part = judge(suite)
        verdict = part if verdict is None else _merge(verdict, part)
        if verdict.refusal or (stop_early and not verdict.passed):
            break
    return verdict or Verdict(refusal="there are no tests")


def _merge(first: Verdict, second: Verdict) -> Verdict:
    """Two verdicts on one program as one."""
    completed = first.conclusion is RunStatus.COMPLETED
    return Verdict(
        results=[*first.results, *second.results],
        conclusion=second.conclusion if completed else first.conclusion,
        reason=first.reason or second.reason,
        refusal=first.refusal or second.refusal,
        calls=first.calls + second.calls if first.calls and second.calls else 0,
        stdout=second.stdout or first.stdout,
        stderr=second.stderr or first.stderr,
        tier=first.tier,
        cpu_s=first.cpu_s + second.cpu_s,
        trusts_objects=first.trusts_objects or second.trusts_objects,
    )
