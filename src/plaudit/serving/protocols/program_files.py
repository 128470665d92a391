"""Run a Python program with files: written to its scratch folder before it runs, and fetched afterwards.

The code that does this runs in the program's own process, inside the sandbox. A program may tamper with it, which
affects only its own files; a program that ends its process by force leaves none.
"""

import base64
import binascii
from dataclasses import dataclass
from pathlib import PurePosixPath

from plaudit.errors import SandboxError
from plaudit.sandbox import CallStatus, Outcome, RunLimits, Sandbox
from plaudit.sandbox.program import Program

__all__ = ["run_with_files"]

SCRATCH_MB = 64
MOST_NAMES = 1023  # files that a scratch folder can hold
FILE_BYTES, FETCHED_BYTES = 11 << 20, 64 << 20  # fetched of one file, and of all of them together
DRIVER = """
import atexit, base64, os, sys, threading, traceback


def place(name, content):
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as file:
        file.write(base64.b64decode(content))


def run(source):
    main = type(sys)("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    sys.path.insert(0, "")
    try:
        exec(compile(source, "main.py", "exec"), main.__dict__)
        code = 0
    except SystemExit as left:
        code = left.code & 0xFF if isinstance(left.code, int) else 0 if left.code is None else 1
        if not isinstance(left.code, (int, type(None))):
            print(left.code, file=sys.stderr)
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def fetch(name, most):
    if not os.path.isfile(name):
        return None
    if os.path.getsize(name) > most:
        return False
    with open(name, "rb") as file:
        return base64.b64encode(file.read()).decode()
"""


@dataclass(frozen=True, slots=True)
class RunWithFiles:
    """How a program ended, its exit code if it ended by itself, and the wanted files that it left.

    `too_large` names those that were too large to be fetched.
    """

    outcome: Outcome
    exit_code: int | None
    files: dict[str, str]
    too_large: list[str]


def run_with_files(
    sandbox: Sandbox, code: str, stdin: str, limits: RunLimits, files: dict[str, str | None], wanted: list[str]
) -> RunWithFiles:
    """Run a program with files, and fetch the wanted ones afterwards."""
    if len(wanted) > MOST_NAMES:
        raise SandboxError(f"{len(wanted)} fetch_files; a program has at most {MOST_NAMES} files")
    contents = {_below(name): _checked(name, content) for name, content in files.items() if content is not None}
    names = [_below(name) for name in wanted]
    with sandbox.open(limits) as program:
        _expect_return(program.load(DRIVER))
        for name, content in contents.items():
            _expect_return(program.call("place", [name, content]))
        program.feed(stdin)
        outcome = program.call("run", [code])
        exit_code = outcome.value if outcome.status is CallStatus.RETURNED and type(outcome.value) is int else None
        fetched, too_large = _fetched(program, dict(zip(wanted, names, strict=True)))
        return RunWithFiles(outcome, exit_code, fetched, too_large)


def _fetched(program: Program, names: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The existing files in base64 by requested name; and the names of those that are too large."""
    fetched: dict[str, str] = {}
    too_large: list[str] = []
    left = FETCHED_BYTES
    for wanted, name in names.items():
        outcome = program.call("fetch", [name, min(left * 3 // 4, FILE_BYTES)])
        if outcome.status.is_final:
            break
        if outcome.value is False or (type(outcome.value) is str and len(outcome.value) > left):
            too_large.append(wanted)
        elif type(outcome.value) is str:
            fetched[wanted] = outcome.value
            left -= len(outcome.value)
    return fetched, too_large


def _below(name: str) -> str:
    """A path below the program's folder; SandboxError for any other path."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise SandboxError(f"{name!r} is not a path below the program's folder, such as 'data/input.txt'")
    return str(path)


def _checked(name: str, content: str) -> str:
    try:
        base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise SandboxError(f"the content of {name!r} is not base64") from None
    return content


def _expect_return(outcome: Outcome) -> None:
    if outcome.status is not CallStatus.RETURNED:
        raise SandboxError(f"the files could not be given to the program: {outcome.error or outcome.reason}")
