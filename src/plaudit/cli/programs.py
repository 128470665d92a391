"""One answer, one program, this machine: `plaudit verify`, `run-code` and `doctor`."""

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED, UNSCORED
from plaudit.cli.console import ResultLine, results_table
from plaudit.contract.output import RewardOutput
from plaudit.engine import score
from plaudit.errors import InvalidSettings, InvalidTrajectory, did_you_mean
from plaudit.jsonline import InvalidJSON, decode
from plaudit.loading import load
from plaudit.report.formatting import bare_table, facts_table
from plaudit.rewards.built_ins import BUILT_INS
from plaudit.rewards.code import CodeReward
from plaudit.sandbox import Job, JudgePool, Verdict, read_suite
from plaudit.sandbox.confined_process import Tier
from plaudit.sandbox.doctor import Diagnosis, diagnose
from plaudit.sandbox.languages.language import PYTHON, find_language
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchain_checks import ToolchainReport, check_toolchains
from plaudit.verify import MathVerdict, verify_math
from plaudit.verify.card import kinds
from plaudit.verify.math.parsing.parser import describe_parse
from plaudit.verify.math.policy import parse_switches, policy_from_switches
from plaudit.verify.verifier import sample_of

SHOWN = 300  # characters of a text
_NAME = re.compile(r"[a-z][a-z_0-9]{2,}(?:\(.*\))?\Z", re.DOTALL)  # the name of a verifier, with or without settings


def verify(
    kind: Annotated[
        str, Argument(metavar="KIND", help="A verifier such as mcq or 'qa(mode=\"f1\")'; else a math ground truth.")
    ],
    output: options.Output,
    response: Annotated[str | None, Argument(metavar="RESPONSE", help="The response, or - for standard input.")] = None,
    columns: Annotated[
        list[str] | None,
        Argument(metavar="COLUMN=VALUE", help="Columns of the row; a value is JSON, else text."),
    ] = None,
    file: Annotated[Path | None, options.file_option("--file", "Read the response from this file.")] = None,
    row: Annotated[str | None, Option("--row", help="The row as a JSON object, or @FILE.")] = None,
    policy: Annotated[
        list[str] | None,
        Option("--policy", metavar="SWITCH=VALUE", help="Math: a switch of the policy, e.g. units=ignore."),
    ] = None,
    prompt: Annotated[str | None, Option("--prompt", help="The prompt, for the options of multiple choice.")] = None,
) -> int:
    """Judge one RESPONSE and explain the verdict.

    KIND is the name of a verifier, which reads the row from COLUMN=VALUE and --row, or the ground truth of a math
    problem. The exit code is 0 for a response that passes, 1 for one that does not, and 3 if it is not scored.
    """
    pairs = list(columns or [])
    if file is not None and response is not None:
        pairs.insert(0, response)
    text = _read_response(response, file)
    if kind.partition("(")[0] in BUILT_INS:
        sample = {**_read_row(row), **dict(map(_read_column, pairs))}
        with_prompt = {"prompt": prompt} if prompt else {}
        return _verify_row(kind, text, {**sample, **with_prompt}, output)
    guess = did_you_mean(kind.partition("(")[0], kinds()) if _NAME.match(kind) else ""
    if guess or pairs or row is not None:
        remedy = f"for a math ground truth: plaudit verify math RESPONSE 'ground_truth={kind}'"
        raise InvalidSettings(f"no verifier named {kind!r}{guess} (there are {', '.join(kinds())}; {remedy})")
    return _verify_math(kind, text, policy or [], prompt, output)


def _verify_row(spec: str, response: str, row: dict[str, Any], output: options.Output) -> int:
    scored = score(load(spec), [sample_of(row, response)], backend="inline")[0]
    output.show(scored.to_dict(), _table(_describe(scored)))
    if not scored.ok:
        return UNSCORED
    return DONE if _value(scored) == 1.0 else NOT_PASSED


def _verify_math(
    ground_truth: str, response: str, switches: list[str], prompt: str | None, output: options.Output
) -> int:
    verdict = verify_math(ground_truth, response, policy_from_switches(parse_switches(switches)), prompt=prompt)
    forms = {"ground truth": describe_parse(verdict.ground_truth), "answer": describe_parse(verdict.answer or "")}
    output.show({**verdict._asdict(), "forms": forms}, _table(_describe_math(verdict, forms)))
    return DONE if verdict.correct else NOT_PASSED


def _read_response(response: str | None, file: Path | None) -> str:
    if file is not None:
        return file.read_text()
    if response is None:
        raise InvalidSettings("no response: write it after KIND, - for standard input, or --file FILE")
    return sys.stdin.read() if response == "-" else response


def _read_row(row: str | None) -> dict[str, Any]:
    if row is None:
        return {}
    text = Path(row[1:]).read_text() if row.startswith("@") else row
    try:
        plain = decode(text.encode())
    except InvalidJSON as error:
        raise InvalidSettings(f"--row is not JSON: {error}") from None
    if not isinstance(plain, dict):
        raise InvalidSettings(f"--row is a JSON object of columns, got {type(plain).__name__}")
    return plain


def _read_column(pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not (name and equals):
        raise InvalidSettings(f"a column is COLUMN=VALUE, such as answer=B; got {pair!r}")
    try:
        return name, decode(value.encode())
    except InvalidJSON:
        return name, value


def _value(output: RewardOutput) -> float | None:
    return output.reward if output.score is None else output.score


def _describe(output: RewardOutput) -> dict[str, Any]:
    verdict = "not scored" if not output.ok else "passed" if _value(output) == 1.0 else "failed"
    parts = {
        f"  {name}": f"{part.status.value if not part.ok else f'{part.reward:g}'}  {part.reason}"
        for name, part in output.flat_components().items()
    }
    value = {"score": f"{output.score:g}"} if output.score is not None else {}
    reward = {"reward": f"{output.reward:g}"} if output.reward is not None else {}
    return {"verdict": verdict, **value, **reward, "reason": output.reason, **parts, **output.metadata}


def _describe_math(verdict: MathVerdict, forms: dict[str, str]) -> dict[str, Any]:
    return {
        "verdict": "right" if verdict.correct else "wrong",
        "status": verdict.status,
        "reason": verdict.reason,
        "ground truth": verdict.ground_truth,
        "ground truth as": forms["ground truth"],
        "answer": verdict.answer or "none",
        "found in": verdict.source or "nothing",
        "answer as": forms["answer"] if verdict.answer else "",
        "decided by": verdict.method or "",
    }


def _table(rows: dict[str, Any]) -> Table:
    return facts_table({name: str(value)[:SHOWN] for name, value in rows.items() if value not in ("", None)})


def run_code(
    file: Annotated[str, Argument(metavar="FILE", help="The program; - for standard input.")],
    tests: Annotated[
        Path, Option("--tests", help="A .py file of asserts, check(candidate) or test_… functions, or a .json truth.")
    ],
    output: options.Output,
    entry_point: Annotated[
        str | None, Option("--entry-point", "-e", help="The function that check(candidate) is called with.")
    ] = None,
    cpu: Annotated[float, Option("--cpu", metavar="SECONDS", help="Processor time per call or run.")] = 2.0,
    memory: Annotated[int, Option("--memory", metavar="MB", help="Address space of the program.")] = 512,
    scratch: Annotated[
        int, Option("--scratch-mb", metavar="MB", help="Size of a folder that the program may write to; 0 = none.")
    ] = 0,
    language: Annotated[
        str | None,
        Option("--language", "-l", help="The program's language; by default by the name of the file, or Python."),
    ] = None,
    trust_objects: Annotated[
        bool, Option("--trust-objects", help="Let the program's objects decide comparisons; they can forge results.")
    ] = False,
) -> int:
    """Run a program against its tests and show the result of each; exit code 1 when one does not pass."""
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
    output.show(_plain(verdict), *_render(verdict))
    return DONE if verdict.passed else NOT_PASSED


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


STATES = {True: ("active", "green"), False: ("absent", "red"), None: ("untested", "yellow")}


def doctor(
    output: options.Output,
    at_most: Annotated[
        str, Option("--at-most", metavar="TIER", help="Test without stronger protections: none, seccomp, landlock.")
    ] = "namespaces",
) -> int:
    """Try which protections are available here, whether a program gets past them, and which languages can be run."""
    tiers = {tier.name.lower(): tier for tier in Tier}
    if at_most not in tiers:
        raise typer.BadParameter(f"no tier {at_most!r}; there are {', '.join(tiers)}")
    diagnosis = diagnose(tiers[at_most])
    with CommandPool(at_most=tiers[at_most]) as pool:
        languages = check_toolchains(pool)
    overall = {"tier": diagnosis.tier.name.lower(), "healthy": diagnosis.healthy}
    plain = {**asdict(diagnosis), **overall, "languages": [asdict(language) for language in languages]}
    output.show(plain, *_tables(diagnosis), *_language_table(languages))
    return DONE if diagnosis.healthy else NOT_PASSED


def _language_table(languages: list[ToolchainReport]) -> list[RenderableType]:
    words = {True: Text("found", style="green"), False: Text("absent", style="yellow")}
    rows = ((one.title, words[one.usable], one.version or one.detail) for one in languages)
    return ["\nlanguages besides Python, by standard input and output:", bare_table(rows=rows)]


def _tables(diagnosis: Diagnosis) -> list[RenderableType]:
    states = {state: Text(word, style=style) for state, (word, style) in STATES.items()}
    confinement = bare_table(rows=((name, states[active], detail) for name, active, detail in diagnosis.confinement))
    outcomes = {True: Text("possible", style="red"), False: Text("refused", style="green")}
    tried = bare_table(rows=((name, outcomes[succeeded]) for name, succeeded in diagnosis.attempts))
    shown: list[RenderableType] = [f"sandbox tier: {diagnosis.tier.label}\n", confinement]
    if diagnosis.attempts:
        shown += ["\nwhat a program tried:", tried]
    if diagnosis.trouble:
        shown.append(Text(f"\n{diagnosis.trouble}", style="red"))
    return shown
