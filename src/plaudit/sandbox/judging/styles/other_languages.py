"""Judge a program in another language than Python by its standard output.

Outputs are compared here, as text. A checker is code, so it runs in a judge process: there the recorded output stands
for the program, as a program that prints it.
"""

from collections.abc import Callable
from functools import partial

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.styles.streams import judge_runs, output_failure
from plaudit.sandbox.judging.suites import StreamSuite, Suite
from plaudit.sandbox.judging.verdict import RunStatus, TestResult, Verdict, judge_in_turn
from plaudit.sandbox.languages.compiling import CompileError
from plaudit.sandbox.languages.language import Language, find_language
from plaudit.sandbox.languages.running import CommandPool, LoadedProgram
from plaudit.sandbox.languages.toolchain_checks import usable_toolchain
from plaudit.sandbox.languages.toolchains import MissingToolchain
from plaudit.sandbox.outcome import CallStatus, Outcome

REPLAY = "import sys\nsys.stdout.buffer.write(bytes.fromhex({output!r}))\n"


def judge_program(job: Job, pool: CommandPool, judge: Callable[[Job], Verdict]) -> Verdict:
    """The verdict on a job of another language; `judge` judges Python. MissingToolchain if it cannot be run here."""
    try:
        language = find_language(job.language)
        if language is None:
            raise InvalidTrajectory("Python programs are judged in a judge process")
        suites = [_stream_suite(suite, language) for suite in job.suites]
        try:
            toolchain = usable_toolchain(language, pool)
            with pool.load(toolchain, job.source, job.limits) as program:
                return _judge_suites(program, suites, job, judge)
        except CompileError as error:
            return _not_run(suites, f"the program does not compile: {error}")
        except MissingToolchain as error:
            if not job.own_language:
                raise
            return _not_run(suites, f"the response chose a language that nobody asked for: {error}")
    except InvalidTrajectory as error:
        return Verdict(refusal=str(error))


def _stream_suite(suite: Suite, language: Language) -> StreamSuite:
    if not isinstance(suite, StreamSuite):
        raise InvalidTrajectory(f"{language.title} programs are judged by standard input and output only")
    return suite


def _judge_suites(
    program: LoadedProgram, suites: list[StreamSuite], job: Job, judge: Callable[[Job], Verdict]
) -> Verdict:
    def judge_suite(suite: StreamSuite) -> Verdict:
        return judge_runs(
            lambda stdin_text: program.run(stdin_text.encode("utf-8", "surrogateescape")),
            suite,
            stop_early=job.stop_early,
            check=partial(_check, judge) if suite.checker else output_failure,
        )

    return judge_in_turn(suites, judge_suite, stop_early=job.stop_early)


def _check(
    judge: Callable[[Job], Verdict], outcome: Outcome, stdin_text: str, expected: str, suite: StreamSuite
) -> str:
    """Why the suite's checker refuses an output, empty if it does not; the checker runs in a judge process."""
    if outcome.status is not CallStatus.EXITED or outcome.exit_code != 0:
        return output_failure(outcome, stdin_text, expected, suite)
    replay = REPLAY.format(output=outcome.stdout.hex())
    verdict = judge(Job(replay, [StreamSuite([stdin_text], [expected], checker=suite.checker)]))
    if verdict.refusal:
        raise InvalidTrajectory(verdict.refusal)
    return "" if verdict.passed else verdict.reason


def _not_run(suites: list[StreamSuite], reason: str) -> Verdict:
    names = [f"input {index}" for suite in suites for index in range(len(suite.inputs))]
    return Verdict(
        results=[TestResult(name, passed=False, reason=reason) for name in names],
        conclusion=RunStatus.UNLOADED,
        reason=reason,
    )
