"""Find the tools of a language on this machine, and which files they need to be able to read.

A compiler sees the system's programs, libraries and headers and its own installation; a runtime sees itself and its
shared libraries. Neither sees a home, a configuration or a data folder.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.sandbox.languages.go_library import go_library
from plaudit.sandbox.languages.language import Language

SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/include", "/bin", "/lib", "/lib64")
LOADER, CHOICES = "/etc/ld.so.cache", "/etc/alternatives"  # how libraries are found, and what `cc` is
ASK_S = 60.0


class MissingToolchain(SandboxError):
    """A language whose tools are missing or broken on this machine; the message names the package to install."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The tools of one language: where they are, what they call themselves, and what they read."""

    language: Language
    tool: str
    version: str
    compile_reads: tuple[str, ...]
    run_reads: tuple[str, ...]
    linker: str = ""
    library: str = ""  # a folder of what was compiled beforehand


@lru_cache(maxsize=64)
def find_toolchain(language: Language) -> Toolchain:
    """The tools of a language; MissingToolchain names the package to install."""
    path = next(filter(None, map(shutil.which, language.tools)), None)
    if path is None:
        raise missing(language, f"none of {', '.join(language.tools)} is installed")
    try:
        return _FINDERS.get(language.name, _compiler)(language, path)
    except (OSError, subprocess.SubprocessError) as error:
        raise missing(language, f"{path} does not work ({error})") from None


def missing(language: Language, why: str) -> MissingToolchain:
    """The error for a language that cannot be run here."""
    return MissingToolchain(f"{language.title} programs cannot be run here: {why}; to install it: {language.remedy}")


def _compiler(language: Language, path: str) -> Toolchain:
    return Toolchain(language, path, _first_line(path, "--version"), _with_system(_installation(path)), ())


def _rust(language: Language, path: str) -> Toolchain:
    root = _first_line(path, "--print", "sysroot")  # rustc itself, not what chooses among several
    linker = next((tool for name in ("cc", "gcc", "clang") if (tool := shutil.which(name))), None)
    if linker is None:
        raise missing(language, "it links with a C compiler, and none is installed (apt install gcc libc6-dev)")
    tool = f"{root}/bin/rustc"
    reads = _with_system([root, *_installation(linker)])
    return Toolchain(language, tool, _first_line(tool, "--version"), reads, (), linker)


def _go(language: Language, path: str) -> Toolchain:
    root = _first_line(path, "env", "GOROOT")
    tool = f"{root}/bin/go"
    version = _first_line(tool, "version")
    library = go_library(tool, version, dict(language.compile_environment))
    return Toolchain(language, tool, version, _with_system([root, library]), (), library=library)


def _node(language: Language, path: str) -> Toolchain:
    tool = os.path.realpath(path)
    return Toolchain(language, tool, f"node {_first_line(tool, '--version')}", (), _apart([tool, *_libraries(tool)]))


def _java(language: Language, path: str) -> Toolchain:
    tool = os.path.realpath(path)
    home = os.path.dirname(os.path.dirname(tool))
    reads = _apart([home, *_libraries(f"{home}/bin/java"), *_libraries(f"{home}/lib/server/libjvm.so"), *_links(home)])
    return Toolchain(language, tool, _first_line(tool, "--version"), reads, reads)


_FINDERS: dict[str, Callable[[Language, str], Toolchain]] = {
    "rust": _rust,
    "go": _go,
    "javascript": _node,
    "java": _java,
}


def _installation(tool: str) -> list[str]:
    """The folder that a tool outside the system's folders was installed into."""
    real = os.path.realpath(tool)
    prefix = os.path.dirname(os.path.dirname(real))
    shared = {"/", "/usr", str(Path.home()), str(Path.home() / ".local")}
    return [] if prefix in shared else [prefix]


def _with_system(paths: Iterable[str]) -> tuple[str, ...]:
    return _apart([*(path for path in (*SYSTEM, LOADER, CHOICES) if os.path.exists(path)), *paths])


def _apart(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths without those that lie below another."""
    unique = sorted(set(map(os.path.normpath, paths)))
    return tuple(path for path in unique if not any(path.startswith(f"{other}/") for other in unique))


def _libraries(file: str) -> list[str]:
    """The shared libraries that a program or library is linked with, and the loader."""
    listing = subprocess.run(["ldd", file], capture_output=True, text=True, timeout=ASK_S, check=False).stdout
    words = [word for line in listing.splitlines() for word in line.split() if word.startswith("/")]
    return [*(word for word in words if os.path.exists(word)), *([LOADER] if os.path.exists(LOADER) else [])]


def _links(home: str) -> list[str]:
    """The targets outside of an installation that its links lead to, such as its configuration."""
    links = [path for path in Path(home).rglob("*") if path.is_symlink()]
    targets = {os.path.realpath(path) for path in links}
    return [target for target in targets if os.path.isfile(target) and not target.startswith(f"{home}/")]


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=True, stdin=subprocess.DEVNULL)
    return next(iter(done.stdout.splitlines()), "").strip()
