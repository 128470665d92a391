"""The user's side of judging: send a job and programs to a judge, wait for the verdict, explain a lost judge.

Judge and program are processes of two servers, each for one verdict; only a judge of stateless tests is used again, for
other stateless tests. A judge is confined, so this side does on request what it cannot: start another program, end one,
read its clock. A judge sends plain data only.
"""

import contextlib
import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit.errors import SandboxError
from plaudit.frames import FrameBuffer, FrameTooLong, frame, write_all
from plaudit.sandbox.child.confinement.profiles import JUDGE
from plaudit.sandbox.child.protocol import FLAVOURS, READY
from plaudit.sandbox.confined_process import Budget, LockedProcess, RunLimits, Tier
from plaudit.sandbox.cores import CoreClaim
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.plan.test_plan import plan_suite
from plaudit.sandbox.judging.suites import AssertSuite, StreamSuite
from plaudit.sandbox.judging.verdict import RunStatus, Verdict
from plaudit.sandbox.sandbox import PROGRAMS_PER_SERVER, Sandbox
from plaudit.sandbox.server import ForkServer

MOST_PROGRAMS, MOST_REQUEST = 100_000, 64 << 20
GRACE_S = 30.0
JUDGE_LIMITS = RunLimits(cpu_s=3600.0, wall_s=36000.0, memory_mb=2048, output_bytes=1 << 30)
MOST_VERDICTS = 2_000  # of one judge process, which may have accumulated memory by then
_encode = msgspec.msgpack.Encoder().encode
_requests = msgspec.msgpack.Decoder(list[Any])
_verdicts = msgspec.msgpack.Decoder(Verdict)


class JudgeLost(Exception):
    """The judge process died; `answered` tells whether the program had answered before, and so may be the cause."""

    def __init__(self, why: str, *, answered: bool) -> None:
        super().__init__(why)
        self.answered = answered


class JudgeClient:
    """A server for judges and one for programs, ready when built; on a core of their own where `one_core`.

    A judge of stateless tests is kept for the next such tests, unless anything unusual happened in it.
    """

    def __init__(
        self,
        flavour: str = "plain",
        modules: tuple[str, ...] = (),
        *,
        allow_unsafe: bool = False,
        one_core: bool = False,
    ) -> None:
        self._kept: LockedProcess | None = None
        self._verdicts_left = 0  # of the judge that is kept
        self._seed = int.from_bytes(os.urandom(8), "little")
        numpy = FLAVOURS["numpy"] if any(name.partition(".")[0] == "numpy" for name in modules) else ()
        with contextlib.ExitStack() as stack:
            core = stack.enter_context(contextlib.closing(CoreClaim())).core if one_core else None
            self._sandbox = stack.enter_context(Sandbox(flavour, allow_unsafe=allow_unsafe, core=core))
            imports = tuple(dict.fromkeys((*FLAVOURS[flavour], *numpy, *modules)))
            self._server = stack.enter_context(contextlib.closing(ForkServer(imports, core=core, profile=JUDGE)))
            check_verdicts(self._judge_known)
            self._stack = stack.pop_all()

    def _judge_known(self, job: Job) -> Verdict:
        plans = _encode([plan_suite(suite).to_bytes() for suite in job.suites])
        return self.judge(job, _encode(job), plans, keep=True)

    def judge(self, job: Job, packed: bytes, plans: bytes, *, keep: bool) -> Verdict:
        """The verdict on a job, given as it is and as it travels; JudgeLost when the judge died.

        `plans` are those of its suites, as they travel; `keep` says that the tests are stateless.
        """
        session = Session(self._sandbox, self, job)
        try:
            return session.judge(packed, plans, hash((self._seed, _encode(job.suites))), keep=keep)
        except SandboxError as error:
            if self._server.lost or self._sandbox.lost:
                raise JudgeLost(str(error), answered=False) from error
            raise
        finally:
            session.close()

    def take(self, *, keep: bool) -> tuple[LockedProcess, bool]:
        """A judge process, and whether it is new; the kept one is for stateless tests."""
        if not keep:
            return self._server.take(JUDGE_LIMITS), True
        judge, self._kept = self._kept, None
        if judge is not None and not _is_active(judge):
            os.ftruncate(judge.stdin, 0)  # where it notes that the program has answered
            self._verdicts_left -= 1
            return judge, False
        if judge is not None:
            self.release(judge, keep=False)
        self._verdicts_left = MOST_VERDICTS
        return self._server.take(JUDGE_LIMITS), True

    def release(self, judge: LockedProcess, *, keep: bool) -> None:
        """Keep a judge for the next stateless tests, or kill it."""
        if keep and self._verdicts_left > 0 and self._kept is None:
            self._kept = judge
            return
        with contextlib.suppress(SandboxError):  # the server is gone, and its processes with it
            self._server.end(judge)
        judge.close()

    def exit_code_of(self, judge: LockedProcess) -> int:
        """How a judge that is dead ended."""
        return self._server.exit_code_of(judge)

    @property
    def alive(self) -> bool:
        """Whether it can be used for another verdict."""
        return not self._server.lost and self._server.taken < PROGRAMS_PER_SERVER

    def close(self) -> None:
        """End both servers and every process of theirs."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()
        self._stack.close()


@dataclass(slots=True)
class Running:
    """A program that a judge has."""

    server: ForkServer
    process: LockedProcess
    clock: Callable[[], float]


@dataclass(slots=True)
class Session:
    """One verdict: the programs of its judge, by number."""

    sandbox: Sandbox
    client: JudgeClient
    job: Job
    programs: dict[int, Running] = field(default_factory=dict)
    count: int = 0
    used_s: float = 0.0

    def judge(self, packed: bytes, plans: bytes, seed: int, *, keep: bool) -> Verdict:
        """Send a judge its job, and answer its requests until it sends its verdict."""
        judge, is_new = self.client.take(keep=keep)
        budget = Budget(self.job.wall_s + Budget.FACTOR * self.job.judge_cpu_s + GRACE_S, self._total_s)
        is_ordinary = is_reaped = False
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, os.dup(judge.channel)) as channel:
                tier = self._start_program(channel)
                write_all(judge.channel, frame(_encode((int(tier), seed))) + frame(packed) + frame(plans))
                verdict = self._serve(judge, channel, budget, is_ready=not is_new)
            if verdict is not None:
                is_ordinary = not verdict.refusal and verdict.conclusion is RunStatus.COMPLETED
                return msgspec.structs.replace(verdict, cpu_s=self._total_s())
            is_reaped = True
            overran = budget.left_s() <= 0
            if overran:
                signal.pidfd_send_signal(judge.process, signal.SIGKILL)
            return self._explain_loss(judge, self.client.exit_code_of(judge), overran=overran)
        except BrokenPipeError as error:
            raise JudgeLost(str(error), answered=_has_answered(judge)) from error
        finally:
            if is_reaped:
                judge.close()
            else:
                self.client.release(judge, keep=keep and is_ordinary)

    def close(self) -> None:
        """End every program that is left."""
        for number in list(self.programs):
            self._end(number)

    def _serve(self, judge: LockedProcess, channel: socket.socket, budget: Budget, *, is_ready: bool) -> Verdict | None:
        """Answer requests until there is a verdict; None if the judge is dead or over its time."""
        incoming, poll = FrameBuffer(MOST_REQUEST), select.poll()
        poll.register(judge.channel, select.POLLIN)
        while True:
            try:
                while (body := incoming.next()) is not None:
                    kind, *content = _requests.decode(body)
                    if kind == "verdict":
                        return _verdicts.decode(content[0])
                    self._answer(judge, channel, kind, content)
            except (FrameTooLong, msgspec.MsgspecError, LookupError, TypeError) as error:
                raise JudgeLost(f"it sent something odd ({error})", answered=_has_answered(judge)) from error
            while not poll.poll(max(0.0, min(budget.left_s(), 60.0)) * 1000):
                if budget.left_s() <= 0:
                    return None
            try:
                part = os.read(judge.channel, 1 << 16)
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            if not is_ready:
                is_ready, part = True, part[len(READY) :]
            incoming.feed(part)

    def _answer(self, judge: LockedProcess, channel: socket.socket, kind: str, content: list[Any]) -> None:
        if kind == "open" and self.count < MOST_PROGRAMS:
            self._start_program(channel)
        elif kind == "end":
            self._end(content[0])
        elif kind == "exit code":
            running = self.programs[content[0]]
            self.used_s += running.clock()
            write_all(judge.channel, frame(_encode(self._find_exit_code(running))))
            self._release(content[0])
        elif kind == "clock":
            write_all(judge.channel, frame(_encode(self.programs[content[0]].clock())))
        elif kind == "used":
            write_all(judge.channel, frame(_encode(self._total_s())))
        else:
            raise KeyError(kind)

    def _find_exit_code(self, running: Running) -> int:
        """How a program ended; only a judge that was tampered with requests it for one that still runs."""
        if not _is_readable(running.process.process):
            signal.pidfd_send_signal(running.process.process, signal.SIGKILL)
        return running.server.exit_code_of(running.process)

    def _start_program(self, channel: socket.socket) -> Tier:
        """Hand a process for a program over to the judge; how strongly it is confined."""
        server, process = self.sandbox.take(self.job.limits)
        self.count += 1
        self.programs[self.count] = Running(server, process, server.clock_of(process))
        try:
            socket.send_fds(channel, [self.count.to_bytes(4, "little")], process.descriptors)
        finally:
            for descriptor in process.descriptors:
                if descriptor != process.process:
                    os.close(descriptor)
        return server.tier

    def _end(self, number: int) -> None:
        running = self.programs[number]
        self.used_s += running.clock()  # which cannot be read once it is dead and reaped
        with contextlib.suppress(SandboxError):  # the server is gone, and its processes with it
            running.server.end(running.process)
        self._release(number)

    def _release(self, number: int) -> None:
        os.close(self.programs.pop(number).process.process)

    def _total_s(self) -> float:
        return self.used_s + sum(running.clock() for running in self.programs.values())

    def _explain_loss(self, judge: LockedProcess, code: int, *, overran: bool) -> Verdict:
        """What a judge that gave no verdict means: its time was up, or it died."""
        answered = _has_answered(judge)
        if not overran and code not in (-signal.SIGPROF, -signal.SIGXCPU):
            printed = os.pread(judge.stderr, 300, 0).decode(errors="replace")
            raise JudgeLost(printed or f"exit code {code}", answered=answered)
        if answered and not overran:
            reason = f"the tests did not end within {self.job.judge_cpu_s:g} s on what the program returned"
            return Verdict(conclusion=RunStatus.TIMEOUT, reason=reason, calls=1)
        return Verdict(refusal=f"the tests ran for {self.job.judge_cpu_s:g} s without an answer of the program")


def _is_active(judge: LockedProcess) -> bool:
    """Whether a judge that should wait is dead or has sent something."""
    return _is_readable(judge.process, judge.channel)


def _is_readable(*descriptors: int) -> bool:
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _has_answered(judge: LockedProcess) -> bool:
    return os.fstat(judge.stdin).st_size > 0


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
KNOWN = {"right": (RIGHT, True), "wrong": (WRONG, False), "cheating": (CHEATING, False)}


def check_verdicts(judge: Callable[[Job], Verdict]) -> None:
    """Raise SandboxError unless programs that are known to be right, wrong and cheating are judged so."""
    for name, (source, passes) in KNOWN.items():
        for suite in SUITES:
            try:
                verdict = judge(Job(source, [suite]))
            except JudgeLost as error:
                raise SandboxError(f"the judge could not be started: {error}") from error
            if verdict.refusal or verdict.passed is not passes:
                result = verdict.refusal or verdict.reason or ("passed" if verdict.passed else "failed")
                raise SandboxError(
                    f"self-test: a program known to be {name} was misjudged ({result}); refusing to score"
                )
