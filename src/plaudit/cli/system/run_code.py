"""`plaudit run-code`: one program against its tests, in the sandbox, with every result."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import ResultLine, print_json, print_result, results_table
from plaudit.errors import InvalidTrajectory
from plaudit.rewards.code import CodeReward
from plaudit.sandbox import Job, JudgePool, Verdict, read_suite
from plaudit.sandbox.languages.language import PYTHON, find_language

__all__ = ["run_code"]

SOME_FAILED = 1


def run_code(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The program; - for standard input.")],
    tests: Annotated[
        Path,
        typer.Option("--tests", help="A .py file of asserts, check(candidate) or test_… functions, or a .json truth."),
    ],
    entry_point: Annotated[
        str | None, typer.Option("--entry-point", "-e", help="The function that check(candidate) is called with.")
    ] = None,
    cpu: Annotated[float, typer.Option("--cpu", metavar="SECONDS", help="Processor time per call or run.")] = 2.0,
    memory: Annotated[int, typer.Option("--memory", metavar="MB", help="Address space of the program.")] = 512,
    scratch: Annotated[int, typer.Option("--scratch-mb", metavar="MB", help="A folder it may write to; 0: none.")] = 0,
    language: Annotated[
        str | None,
        typer.Option("--language", "-l", help="What it is written in; by default by the name of the file, or Python."),
    ] = None,
    trust_objects: Annotated[
        bool,
        typer.Option(
            "--trust-objects", help="Let objects of the program decide comparisons themselves; they can forge results."
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Run a program against its tests and show what each test said; exit code 1 when one does not pass."""
    limits = CodeReward(cpu_s=cpu, memory_mb=memory, scratch_mb=scratch).limits
    source = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    suites = [read_suite(_truth(tests, entry_point))]
    chosen = find_language(language or _SUFFIXES.get(Path(file).suffix.lower(), PYTHON))
    name = PYTHON if chosen is None else chosen.name
    job = Job(source, suites, limits, stop_early=False, trusts_objects=trust_objects, language=name)
    with JudgePool(workers=1) as pool:
        verdict = pool.judge(job)
    if verdict.refusal:
        raise InvalidTrajectory(verdict.refusal)
    if json:
        print_json(_plain(verdict))
    else:
        print_result(*_render(verdict))
    return 0 if verdict.passed else SOME_FAILED


_SUFFIXES = {
    ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".js": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".rs": "rust", ".go": "go", ".java": "java",
}  # fmt: skip


def visible(text: str) -> str:
    """A program's words with control characters written out: a terminal would obey them."""
    return "".join(one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode() for one in text)


def _truth(tests: Path, entry_point: str | None) -> Any:
    text = tests.read_text(encoding="utf-8")
    if tests.suffix == ".json":
        return text
    return {"tests": text, "entry_point": entry_point}


def _plain(verdict: Verdict) -> dict[str, Any]:
    tests = [{"name": one.name, "passed": one.passed, "reason": one.reason} for one in verdict.results]
    rest = ("conclusion", "reason", "tier", "trusts_objects", "cpu_s", "stdout", "stderr")
    return {"passed": verdict.passed, "tests": tests, **{name: getattr(verdict, name) for name in rest}}


def _render(verdict: Verdict) -> list[RenderableType]:
    table = results_table(
        "test", (ResultLine(one.passed, visible(one.name), visible(one.reason)) for one in verdict.results)
    )
    how = "its objects trusted, which could forge this" if verdict.trusts_objects else "split"
    facts = f"{verdict.conclusion.value}; judged {how}; behind {verdict.tier}; {verdict.cpu_s * 1000:.1f} ms of CPU"
    printed = [Text(f"{name}:\n{visible(text)}") for name in ("stdout", "stderr") if (text := getattr(verdict, name))]
    return [table, f"{verdict.count} of {len(verdict.results)} tests passed", facts, *printed]
