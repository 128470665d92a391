"""Recall on planted bugs and false alarms on robust rewards: ours beside falsepass, reward-doctor and rewardprobe.

All four look at the same zoo (`tests/audit/zoo`) in one run. The others are given the rewards as they take them, with
prompts and truths of the kind that each reward is for. An alarm is: at least one finding (plaudit); a known-bad
completion that is paid, or an unstable score (falsepass); a wrong completion accepted, or an error (reward-doctor); a
finding that is critical or a warning (rewardprobe). Run it from the project's folder, as `python -m benchmarks.audit`,
with the others installed: pip install falsepass reward-doctor rewardprobe.
"""

import asyncio
import contextlib
import importlib
import inspect
import io
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import plaudit
from plaudit.audit import audit_reward
from plaudit.audit.tasks import TEMPLATES, Kind

zoo = importlib.import_module("tests.audit.zoo.roster")
PATIENCE_S = 20
Rows = list[dict[str, Any]]
KINDS = {
    "any_letter": Kind.CHOICE, "choice_letter": Kind.CHOICE, "word_overlap": Kind.SENTENCE,
    "ordered_reference": Kind.SENTENCE, "json_values_anywhere": Kind.JSON, "json_keys_only": Kind.JSON,
    "exact_object": Kind.JSON, "code": Kind.PROGRAM, "exit_passes": Kind.PROGRAM, "compares_with_eq": Kind.PROGRAM,
    "reads_output": Kind.PROGRAM, "skips_are_passes": Kind.PROGRAM, "one_test": Kind.PROGRAM,
}  # fmt: skip


class TookTooLong(Exception):
    """A tool did not finish within its patience."""


@contextlib.contextmanager
def patience(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        signal.alarm(0)


def rows_for(name: str) -> list[dict[str, Any]]:
    return [
        {"prompt": task.prompt_text, "answer": task.truth, "ground_truth": task.truth, **task.columns}
        for task in TEMPLATES[KINDS.get(name, Kind.NUMBER)]
        if not (task.kind is Kind.PROGRAM and isinstance(task.truth, dict))
    ]


def as_function(reward: Any) -> Callable[..., float]:
    """A reward as a function of a response and its truth, as the other tools call rewards."""
    loaded = plaudit.load(reward)

    def function(response: str, ground_truth: Any = None, prompt: str = "", **columns: Any) -> float:
        sample = plaudit.Trajectory(prompt=prompt or "", response=response, ground_truth=ground_truth, columns=columns)
        [output] = plaudit.score(loaded, [sample])
        if output.status is plaudit.Status.ERROR:
            raise RuntimeError(output.reason)
        return output.reward or 0.0

    return function


def by_plaudit(name: str, reward: Any, rows: Rows) -> bool:
    slow = name in zoo.SLOW_BUGGY
    return bool(audit_reward(reward, deadline_s=1.0 if slow else None, workers=1).findings)


def by_reward_doctor(name: str, reward: Any, rows: Rows) -> bool:
    audit = importlib.import_module("reward_doctor").audit

    def function(completion: str, reference: str, prompt: str = "") -> float:
        return as_function(reward)(completion, reference, prompt)

    result = audit(function)
    return bool(result.false_positives or result.errors)


def by_rewardprobe(name: str, reward: Any, rows: Rows) -> bool:
    wrapped = as_function(reward)

    def function(completion: str, answer: Any) -> float:
        return wrapped(completion, answer)

    report = importlib.import_module("rewardprobe").Probe().test_fn(function, rows)
    return any(finding.severity in ("critical", "warning") for finding in report.findings)


def by_falsepass(name: str, reward: Any, rows: Rows) -> bool:
    auto, probes, runner = (importlib.import_module(f"falsepass.{name}") for name in ("auto", "probes", "runner"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir("."):  # it changes the folder, and leaves it changed
        current[0] = as_function(reward)
        Path(folder, "reward_file.py").write_text(
            "import benchmarks.audit as zoo\n\n\ndef reward(completions, answer, **columns):\n"
            f"{_as_comment(reward)}"
            "    prompts = columns.get('prompts') or [''] * len(completions)\n"
            "    return [zoo.current[0](*each) for each in zip(completions, answer, prompts)]\n"
        )
        texts = [{**row, "answer": _text(row["answer"])} for row in rows]
        Path(folder, "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
        adapter = auto.AutoAdapter(
            {"id": name, "framework": "reward", "task": f"{folder}/reward_file.py", "functions": ["reward"],
             "dataset": f"{folder}/rows.jsonl", "answer_column": "answer", "prompt_column": "prompt"}
        )  # fmt: skip
        scorer, examples = adapter.load(25, 0)
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(adapter.prepare(scorer, examples))
            every = probes.PER_EXAMPLE + list(adapter.per_example_probes)
            results = runner.score_examples(adapter, scorer, loop, every, examples)
            results += runner.score_examples(adapter, scorer, loop, probes.FEW_EXAMPLES, examples[:3])
        finally:
            loop.close()
        probes.mark_same_as_good(results)
        good = ("full", "lazy")  # known-good completions, and strategies that it neither passes nor fails
        return any(not result.passed and result.expected.value not in good for result in results)


def _as_comment(reward: Any) -> str:
    """The reward's own code, which falsepass reads for the form that it asks for."""
    source = inspect.getsource(getattr(reward, "function", reward)) if callable(reward) else str(reward)
    return "".join(f"    # {line}\n" for line in source.splitlines())


def _text(truth: Any) -> str:
    return truth if isinstance(truth, str) else json.dumps(truth)


current: list[Any] = [None]
TOOLS: dict[str, Callable[[str, Any, Rows], bool]] = {
    "plaudit audit": by_plaudit,
    "falsepass": by_falsepass,
    "reward-doctor": by_reward_doctor,
    "rewardprobe": by_rewardprobe,
}


def ask(tool: str, name: str, reward: Any, rows: Rows) -> str:
    try:
        with patience(PATIENCE_S):
            return "alarm" if TOOLS[tool](name, reward, rows) else "-"
    except TookTooLong:
        return "no end"
    except ImportError as error:
        raise SystemExit(f"{error}; install the other tools: pip install falsepass reward-doctor rewardprobe") from None
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, the others go on
        return f"failed: {type(error).__name__}"


def main() -> None:
    sys.modules.setdefault("benchmarks.audit", sys.modules[__name__])
    buggy = {**{name: reward for name, (reward, _) in zoo.BUGGY.items()}, **zoo.SLOW_BUGGY}
    robust: dict[str, Any] = {**zoo.ROBUST, **{spec: spec for spec in zoo.BUILT_IN_SPECS}}
    tools = sys.argv[1:] or list(TOOLS)
    print(f"{len(buggy)} rewards with one planted bug each, {len(robust)} robust ones")
    for tool in tools:
        began = time.perf_counter()
        found = {name: ask(tool, name, reward, rows_for(name)) for name, reward in buggy.items()}
        alarms = {name: ask(tool, name, reward, rows_for(name)) for name, reward in robust.items()}
        seconds = time.perf_counter() - began
        recall = sum(answer == "alarm" for answer in found.values()) / len(found)
        false = [name for name, answer in alarms.items() if answer == "alarm"]
        missed = [name for name, answer in found.items() if answer != "alarm"]
        unable = sum(answer not in ("alarm", "-") for answer in (*found.values(), *alarms.values()))
        figures = f"recall {recall:6.1%}  false alarms {len(false):2} of {len(alarms)}  unable {unable:2}"
        print(f"{tool:14} {figures}  {seconds:6.1f} s")
        print(f"{'':14} missed: {', '.join(missed) or 'none'}")
        print(f"{'':14} alarms: {', '.join(false) or 'none'}")


if __name__ == "__main__":
    main()
