"""Try the tools of each language with a program that adds two numbers and tries to open a file, which must fail.

Done once per process before a language is used, so that a defect of the machine never counts as a program's failure.
`plaudit doctor` shows all languages.
"""

import threading
from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.languages.compiling import CompileError
from plaudit.sandbox.languages.language import LANGUAGES, Language
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import MissingToolchain, Toolchain, find_toolchain, missing

CANARY_LIMITS = RunLimits(cpu_s=20.0, wall_s=120.0)
GIVEN, EXPECTED = b"3 4\n", b"7 refused\n"
CANARIES = Path(__file__).with_name("canaries")  # a program per language, named after it

_usable: set[str] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ToolchainReport:
    """One language on this machine: whether its programs can be run, which tools they are, or what to do."""

    language: str
    title: str
    usable: bool
    version: str = ""
    detail: str = ""


def usable_toolchain(language: Language, pool: CommandPool) -> Toolchain:
    """The tools of a language, tried once per process; MissingToolchain if they cannot be used."""
    toolchain = find_toolchain(language)
    with _lock:
        if language.name not in _usable:
            _try(toolchain, pool)
            _usable.add(language.name)
    return toolchain


def check_toolchains(pool: CommandPool) -> list[ToolchainReport]:
    """Which languages can be run on this machine."""
    return [_report(language, pool) for language in LANGUAGES.values()]


def _report(language: Language, pool: CommandPool) -> ToolchainReport:
    try:
        toolchain = find_toolchain(language)
        _try(toolchain, pool)
    except SandboxError as error:
        return ToolchainReport(language.name, language.title, usable=False, detail=str(error))
    return ToolchainReport(language.name, language.title, usable=True, version=toolchain.version)


def _try(toolchain: Toolchain, pool: CommandPool) -> None:
    language = toolchain.language
    canary = next(CANARIES.glob(f"{language.family}.*")).read_text()
    try:
        with pool.load(toolchain, canary, CANARY_LIMITS) as program:
            outcome = program.run(GIVEN)
    except CompileError as error:
        raise missing(language, f"{toolchain.tool} does not compile a right program ({error})") from None
    except MissingToolchain:
        raise
    except SandboxError as error:
        raise missing(language, str(error)) from error
    if outcome.stdout != EXPECTED:
        printed = outcome.stdout.decode(errors="replace") or outcome.stderr.decode(errors="replace")
        raise missing(language, f"a program that must print {EXPECTED!r} printed {printed[-300:]!r} ({outcome.reason})")
