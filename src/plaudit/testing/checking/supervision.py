"""Run a check in a process of its own, which is killed when the reward takes too long for a sample.

The check reports every call of the reward before it is made. When a call overruns its deadline, or takes the process
down, that is a finding; the check starts again without the response that did it.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import cloudpickle

from plaudit.contract.function import Rewarding
from plaudit.engine.shipping import Shipment
from plaudit.errors import PlauditError, RewardNotLoaded
from plaudit.python_command import python_command
from plaudit.testing.checking.findings import Finding, Rule, Severity
from plaudit.testing.checking.observation import announce_calls
from plaudit.trajectory import Trajectory

__all__ = ["Check", "check_under_deadline"]

Check: TypeAlias = Callable[[Rewarding | str, Sequence[Trajectory] | None, int, frozenset[str]], list[Finding]]
START_UP_S = 60.0
"""How long loading the reward, here or in a further process, may take beyond the deadlines of its samples."""
MAX_OVERRUNS = 3


@dataclass(frozen=True, slots=True)
class _Request:
    """What the process is to check, and with what."""

    check: Check
    shipment: Shipment
    trajectories: Sequence[Trajectory] | None
    seed: int
    excluded: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Overrun:
    """The call during which a process was killed or died."""

    rule: Rule
    response: str
    message: str


def check_under_deadline(
    check: Check,
    reward: Rewarding | str,
    trajectories: Sequence[Trajectory] | None,
    seed: int,
    deadline_s: float,
) -> list[Finding]:
    """The findings of `check`, and one for each response that took too long or ended the process."""
    shipment = Shipment.of(reward)
    overruns: list[Finding] = []
    excluded: frozenset[str] = frozenset()
    while len(overruns) < MAX_OVERRUNS:
        result = _run(_Request(check, shipment, trajectories, seed, excluded), deadline_s)
        if not isinstance(result, _Overrun):
            return [*overruns, *result]
        overruns.append(Finding.of(result.rule, result.message, result.response))
        excluded |= {result.response}
    return overruns


def _run(request: _Request, deadline_s: float) -> list[Finding] | _Overrun:
    reading, writing = os.pipe()
    command = python_command(__name__, "main", writing)
    process = subprocess.Popen(command, pass_fds=(writing,), stdin=subprocess.PIPE, start_new_session=True)
    os.close(writing)
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(cloudpickle.dumps((list(sys.path), request)))
        return _follow(reading, deadline_s)
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _follow(reading: int, deadline_s: float) -> list[Finding] | _Overrun:
    """Read the reports of a process until it is done or a call takes too long."""
    call: dict[str, Any] = {"count": 0, "response": "", "extra_s": START_UP_S}
    received, began = b"", time.monotonic()
    while True:
        limit_s = deadline_s * call["count"] + call["extra_s"]
        ready, _, _ = select.select([reading], [], [], max(0.0, began + limit_s - time.monotonic()))
        if not ready:
            what = "one sample" if call["count"] == 1 else f"{call['count']} samples"
            return _Overrun(Rule.DEADLINE, call["response"], f"it took longer than {limit_s:g} s for {what}")
        part = os.read(reading, 1 << 20)
        if not part:
            return _Overrun(Rule.TOTAL, call["response"], "it ended the process that scored it")
        *lines, received = (received + part).split(b"\n")
        for line in lines:
            call, began = json.loads(line), time.monotonic()
            if "refusal" in call:
                raise RewardNotLoaded(call["refusal"])
            if "findings" in call:
                return [_finding(plain) for plain in call["findings"]]


def _finding(plain: dict[str, str]) -> Finding:
    texts = (plain[name] for name in ("message", "sample", "remedy", "response"))
    return Finding(Rule(plain["rule"]), Severity(plain["severity"]), *texts)


def main(writing: int) -> None:
    """What the process runs."""
    search_path, request = cloudpickle.loads(sys.stdin.buffer.read())
    sys.path[:] = search_path

    def report(**values: Any) -> None:
        os.write(writing, json.dumps(values).encode() + b"\n")

    def announce(trajectories: Sequence[Trajectory], extra_s: float) -> None:
        response = trajectories[0].response if trajectories else ""
        report(count=len(trajectories), response=response, extra_s=extra_s)

    try:
        reward = request.shipment.as_given()
        with announce_calls(announce):
            findings = request.check(reward, request.trajectories, request.seed, request.excluded)
        report(findings=[asdict(finding) for finding in findings])
    except PlauditError as error:
        report(refusal=str(error))
