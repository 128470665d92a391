"""Reward files that others wrote: do they load, and do they give the numbers of their home?

Reads `shared/data/foreign-index` beside the project (see its README) and a folder with the files that it names, each
under `OWNER+REPOSITORY/original/path`. Loads each entry by its spec and compares the rewards of the five samples with
what the entry returned at home. Packages that were stubbed for that run are stubbed here too, but for the home package
itself, which plaudit stands in for. Files that are not in the folder are left out.

    python benchmarks/foreign.py --folder DIR [SYSTEM …] [--write benchmarks/FOREIGN.md]
"""

import argparse
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import math
import random
import sys
import types
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

sys.path.insert(0, str(Path(__file__).parent.parent))

import torch

from plaudit import Trajectory, score
from plaudit.dialects import stub_finder
from plaudit.errors import PlauditError
from plaudit.loading import load_agent, resolve
from tests.shared_data import shared

SEEDS = ("flux", "twinkle", "agent_tunix", "openrlhf", "openrlhf-agent")
SAME, LOADS, REFUSED, FAILS_BOTH, FAILS, ONLY_HERE, OTHER = (
    "same", "loads", "refused", "fails in both", "fails here", "only here", "OTHER NUMBERS",
)  # fmt: skip
MEANING = {
    SAME: "the numbers of its home",
    LOADS: "loads and scores; no numbers of its home are recorded",
    REFUSED: "an error that names what is missing, when it is loaded or scored",
    FAILS_BOTH: "raises at home and here alike",
    FAILS: "gives numbers at home, and an error with the reason here",
    ONLY_HERE: "raised at home, where an argument of the trainer was None that plaudit passes, and gives numbers here",
    OTHER: "gives other numbers than at home; there must be none",
}


@dataclass(frozen=True)
class Result:
    """What became of one entry of one file."""

    system: str
    path: str
    entry: str
    verdict: str
    detail: str = ""


def place_of(row: dict[str, Any], folder: Path) -> Path:
    """Where a file stands in the copy of its repository; pieces of documentation stand in a folder of their own."""
    path, original = Path(row["path"]), str(row["original_path"] or "")
    if not original.endswith(".py"):
        return folder / path.parent.name / path.name
    return folder / str(row["repo"] or row["system"]).replace("/", "+") / original


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages that were stubbed at home: importing them succeeds, and everything in them is a mock."""

    def __init__(self, names: list[str]) -> None:
        homes = {module.partition(".")[0] for module in stub_finder().packages}
        self.names = {name for name in names if name not in homes and not importlib.util.find_spec(name)}

    def __enter__(self) -> None:
        sys.meta_path.append(self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
        for name in [name for name in sys.modules if name.partition(".")[0] in self.names]:
            del sys.modules[name]

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: MagicMock(name=name)  # type: ignore[method-assign]  # a module's own hook
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


def seed() -> None:
    """The state of the random generators in which the entries were called at home."""
    random.seed(0)
    torch.manual_seed(0)


def native_rewards(native: Any, form: str = "str") -> list[Any] | str | None:
    """The rewards an entry gave at home, the error it raised there, or None where nothing was recorded.

    TRL and Tunix entries were called with text and with chats.
    """
    if isinstance(native, str) or native is None:
        return native
    if isinstance(native, dict):
        if "str" in native:
            return native_rewards(native[form])
        return native_rewards(native.get("batch", native.get("rewards")))
    if native and isinstance(native[0], dict):
        return [row["score"] for row in native]
    return list(native[0]) if native and isinstance(native[0], list) else list(native)


def forms_of(native: Any) -> tuple[str, ...]:
    """The forms of completions to call an entry with: those that it took at home, else text; both if none is known."""
    if native is None:
        return ("str", "chat")
    if not isinstance(native, dict) or "chat" not in native:
        return ("str",)
    return tuple(form for form in ("str", "chat") if not isinstance(native[form], str)) or ("str",)


def judge(row: dict[str, Any], entry: str, file: Path, samples: list[dict[str, str]]) -> list[Result]:
    """Load one entry, score the samples, compare; entries that took chats are called with chats too."""
    native = row["native"].get(entry)

    def result(verdict: str, detail: str = "") -> Result:
        return Result(row["system"], row["path"], entry, verdict, detail.replace("\n", " ").replace("|", "\\|"))

    try:
        loaded = resolve(f"{file}:{entry}") if entry else resolve(str(file))
    except (PlauditError, ImportError) as error:
        raises = isinstance(native_rewards(native, forms_of(native)[0]), str)
        return [result(FAILS_BOTH if raises else REFUSED, _short(str(error), file))]
    results = []
    seed()
    for form in forms_of(native):
        expected = native_rewards(native, form)
        outputs = score(loaded.reward, [_trajectory(each, form) for each in samples])
        if any(not output.ok for output in outputs):
            reason = next(output.reason for output in outputs if not output.ok)
            verdict = FAILS if isinstance(expected, list) else REFUSED if expected is None else FAILS_BOTH
            results.append(result(verdict, _short(reason, file)))
        elif expected is None:
            results.append(result(LOADS, loaded.convention))
        else:
            rewards = [output.reward for output in outputs]
            same = isinstance(expected, list) and _agree(rewards, expected)
            verdict = SAME if same else OTHER if isinstance(expected, list) else ONLY_HERE
            results.append(result(verdict, loaded.convention if same else f"{rewards}, not {expected}"))
    if native is None:  # it takes one form of completions: that one counts
        return [next((each for each in results if each.verdict == LOADS), results[0])]
    return [results[0]] if results[0] == results[-1] else results


def _trajectory(sample: dict[str, str], form: str) -> Trajectory:
    prompt: Any = sample["prompt"] if form == "str" else [{"role": "user", "content": sample["prompt"]}]
    return Trajectory(prompt, sample["response"], ground_truth=sample["truth"])


def judge_agent(row: dict[str, Any], file: Path) -> Result:
    """Agents have no recorded numbers: they load, or the error says what is missing."""
    try:
        agent = load_agent(file)
    except (PlauditError, ImportError) as error:
        return Result(row["system"], row["path"], "agent", REFUSED, _short(str(error), file))
    return Result(row["system"], row["path"], "agent", LOADS, f"environment {agent.environment.__name__}")


def _agree(given: list[Any], expected: list[Any]) -> bool:
    return len(given) == len(expected) and all(
        math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(given, expected, strict=True)
    )


def _short(message: str, file: Path) -> str:
    return message.replace(f"{file.parent.resolve()}/", "").replace(f"{file.parent}/", "")[:160]


def run(systems: list[str], folder: Path) -> list[Result]:
    """Every entry of every file of the given systems that the folder holds."""
    source = shared("foreign-index")
    if source is None:
        raise SystemExit("no shared/data/foreign-index beside the project: nothing to compare with")
    index = json.loads((source / "index.json").read_text())
    samples = json.loads((source / "samples.json").read_text())
    results = []
    for row in index:
        file = place_of(row, folder)
        if (systems and row["system"] not in systems) or not file.is_file():
            continue
        with (
            Stubs(row["native_stubs"] or []),
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            if row["system"].endswith("agent"):
                results.append(judge_agent(row, file))
            else:
                for entry in row["entries"] or [""]:
                    results += judge(row, entry, file, samples)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", help="only these systems; 'seeds' are the four of the documents")
    parser.add_argument("--write", type=Path, help="write the table to this page")
    parser.add_argument("--folder", type=Path, required=True, help="the files, under OWNER+REPOSITORY/original/path")
    arguments = parser.parse_args()
    systems = list(SEEDS) if arguments.systems == ["seeds"] else arguments.systems
    results = run(systems, arguments.folder)
    page = render(results)
    print(page)
    if arguments.write:
        arguments.write.write_text(page, encoding="utf-8")


def render(results: list[Result]) -> str:
    """The table as a page of the documentation."""
    systems = dict.fromkeys(each.system for each in results)
    verdicts = list(MEANING)
    lines = [
        "# Reward files that others wrote",
        "",
        f"Made by `benchmarks/foreign.py` from {len({each.path for each in results})} files of public repositories,",
        "with the numbers that their entries gave at home. Of their packages, only TRL is installed here.",
        "",
        *(f"- **{verdict}**: {meaning}" for verdict, meaning in MEANING.items()),
        "",
        f"| system | {' | '.join(verdicts)} |",
        f"|---{'|---' * len(verdicts)}|",
    ]
    for system in systems:
        counts = Counter(each.verdict for each in results if each.system == system)
        lines.append(f"| {system} | {' | '.join(str(counts[verdict] or '') for verdict in verdicts)} |")
    lines += ["", "| system | file | entry | verdict | convention, or what is missing |", "|---|---|---|---|---|"]
    for each in results:
        repository, _, file = each.path.split("/", 1)[1].partition("/")
        name = f"{repository.replace('+', '/')}: {file.replace('__', '/')}"
        lines.append(f"| {each.system} | {name} | {each.entry} | {each.verdict} | {each.detail} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
