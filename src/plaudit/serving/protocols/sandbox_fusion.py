"""SandboxFusion's `/run_code`: runs one program in plaudit's sandbox and answers in the form of SandboxFusion.

Programs in Python run on a warm fork server; those in other languages are compiled and run by the installed tools. A
language that is not installed, and a request with files, are answered as a `SandboxError`, because the program did not
run.
"""

import time
from dataclasses import dataclass
from typing import Any

import msgspec

from plaudit.contract.scoring import Call
from plaudit.errors import InvalidSettings, InvalidTrajectory, SandboxError
from plaudit.processes.worker import Service, UnitProgress
from plaudit.sandbox import CallStatus, Outcome, RunLimits, Sandbox
from plaudit.sandbox.languages.compiling import CompileError
from plaudit.sandbox.languages.language import Language, find_language
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import find_toolchain
from plaudit.serving.protocols.protocol import Answer, encode_answer, read_request, refusal_body
from plaudit.version import __version__

LONGEST_S = 60.0
MEMORY_MB, MOST_MEMORY_MB = 1024, 8192
OUTPUT_BYTES = 4 << 20
TIMED_OUT = (CallStatus.CPU_LIMIT, CallStatus.WALL_LIMIT)
ENDED = (CallStatus.RETURNED, CallStatus.EXITED, CallStatus.RAISED, CallStatus.MEMORY, CallStatus.CRASHED)


class RunRequest(msgspec.Struct):
    """A program, its input and its limits."""

    code: str
    language: str
    stdin: str | None = None
    compile_timeout: float = 10.0
    run_timeout: float = 10.0
    memory_limit_MB: float | None = None  # noqa: N815 - verl's name
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


class RunResult(msgspec.Struct):
    """The result of a compilation or a run."""

    status: str
    execution_time: float
    return_code: int | None = None
    stdout: str = ""
    stderr: str = ""


class RunAnswer(msgspec.Struct):
    """The result of the program; `files` are always empty."""

    status: str
    message: str = ""
    compile_result: RunResult | None = None
    run_result: RunResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class SandboxSetup(Service):
    """A sandbox to be served."""

    def describe(self, handler: "SandboxHandler") -> dict[str, Any]:
        return handler.describe()

    def open(self) -> "SandboxHandler":
        return SandboxHandler()


class SandboxHandler:
    """Runs programs, one request at a time."""

    in_order = True

    def __init__(self) -> None:
        self._sandbox, self._commands = Sandbox(), CommandPool()
        self._decoder = msgspec.json.Decoder(RunRequest)
        self._tier = self._sandbox.protections.tier

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        return encode_answer(self._answer(read_request(body).body, progress))

    def describe(self) -> dict[str, Any]:
        """The server's description of the sandbox."""
        return {
            "name": "sandbox",
            "reward": "sandbox",
            "key": self._tier.name.lower(),
            "version": __version__,
            "scope": "sample",
            "protocols": ["run_code"],
            "about": f"SandboxFusion's /run_code, behind {self._tier.label}",
        }

    def _answer(self, body: bytes, progress: UnitProgress) -> Answer:
        if lost := progress.known(Call((), 0)):  # a worker died; the program may not be the cause
            return _answered(RunAnswer("SandboxError", lost[0].reason))
        progress.expect(1)
        try:
            request = self._decoder.decode(body)
            return _answered(self._run(request, _limits(request)))
        except RecursionError:
            return Answer(422, refusal_body("the body is nested too deeply"))
        except (msgspec.ValidationError, InvalidSettings) as error:
            return Answer(422, refusal_body(str(error)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return Answer(400, refusal_body(f"the body is not JSON: {error}"))
        except (SandboxError, InvalidTrajectory) as error:
            return _answered(RunAnswer("SandboxError", str(error)))

    def _run(self, request: RunRequest, limits: RunLimits) -> RunAnswer:
        language = find_language(request.language)
        if request.files or request.fetch_files:
            raise SandboxError("programs run without files here; leave out files and fetch_files")
        stdin = (request.stdin or "").encode("utf-8", "surrogatepass")
        if language is not None:
            return self._run_command(language, request.code, stdin, limits)
        began = time.monotonic()
        with self._sandbox.open(limits) as program:
            outcome = program.load(request.code, stdin)
        return _to_answer(_run_result(outcome, time.monotonic() - began))

    def _run_command(self, language: Language, code: str, stdin: bytes, limits: RunLimits) -> RunAnswer:
        began = time.monotonic()
        try:
            with self._commands.load(find_toolchain(language), code, limits) as program:
                compiled = RunResult("Finished", time.monotonic() - began, 0) if language.compile else None
                began = time.monotonic()
                outcome = program.run(stdin)
        except CompileError as error:
            failed = RunResult("Finished", time.monotonic() - began, 1, stderr=str(error))
            return RunAnswer("Failed", compile_result=failed)
        return _to_answer(_run_result(outcome, time.monotonic() - began), compiled)


def _limits(request: RunRequest) -> RunLimits:
    if not request.run_timeout > 0:
        raise InvalidSettings(f"run_timeout must be positive, got {request.run_timeout}")
    seconds = max(0.01, min(request.run_timeout, LONGEST_S))
    wanted = request.memory_limit_MB
    memory = MEMORY_MB if wanted is None or wanted <= 0 else int(max(16, min(wanted, MOST_MEMORY_MB)))
    return RunLimits(cpu_s=seconds, wall_s=seconds, memory_mb=memory, output_bytes=OUTPUT_BYTES)


def _run_result(outcome: Outcome, seconds: float) -> RunResult:
    status = "Finished" if outcome.status in ENDED else "TimeLimitExceeded" if outcome.status in TIMED_OUT else "Error"
    stderr = outcome.stderr.decode("utf-8", "replace")
    if outcome.status not in (CallStatus.RETURNED, CallStatus.EXITED, *TIMED_OUT) and outcome.reason not in stderr:
        stderr += f"\n{outcome.error or outcome.reason}\n" if stderr else f"{outcome.error or outcome.reason}\n"
    return RunResult(
        status, seconds, _return_code(outcome), outcome.stdout.decode("utf-8", "replace"), stderr.removeprefix("\n")
    )


def _return_code(outcome: Outcome) -> int | None:
    if outcome.status in TIMED_OUT:
        return None
    if outcome.status is CallStatus.RETURNED:
        return 0
    if outcome.exit_code is not None:
        return outcome.exit_code
    return -outcome.signal if outcome.signal is not None else 1


def _to_answer(run: RunResult, compiled: RunResult | None = None) -> RunAnswer:
    passed = run.status == "Finished" and run.return_code == 0
    return RunAnswer("Success" if passed else "Failed", compile_result=compiled, run_result=run)


def _answered(answer: RunAnswer) -> Answer:
    return Answer(200, msgspec.json.encode(answer), {"ok" if answer.status != "SandboxError" else "error": 1})
