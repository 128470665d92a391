"""Math verification beside Math-Verify on the same rows in one process: speed, accuracy, false positives and negatives.

Math-Verify takes tens of milliseconds a row, so it sees a sample of every part; plaudit sees that sample and then all
rows. Math-Verify is run twice: with bare LaTeX wrapped in dollar signs, as its documentation asks, and in its best
configuration, with every short bare answer wrapped whether it looks like LaTeX or not. Times are of the processor, so
that a busy machine blurs them less.
"""

import argparse
import importlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from math_verify import parse, verify  # type: ignore[import-untyped]  # it ships no types

from plaudit.verify import verify_math
from plaudit.verify.math.equality import clear_cache

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [folder / "shared" / "data" / "math" for folder in (ROOT.parent, ROOT.parent.parent)]
FIRST_CALLS = {
    "plaudit": "from plaudit.verify import verify_math; verify_math('1/2', 'It is 0.5')",
    "math-verify": "from math_verify import parse, verify; verify(parse('$1/2$'), parse('It is $0.5$'))",
}
MATHEMATICAL = ("\\", "^", "_", "=")
SLOWEST_ATTACK_S = 0.5
SHORT = 200  # characters of an answer that is wrapped for Math-Verify
RATIO = 200
ROUNDS = 5

Row = dict[str, Any]
Verifier = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One verdict: what the label says, what the verifier said, and how long it took."""

    part: str
    label: bool
    verdict: bool
    seconds: float


def plaudit(ground_truth: str, response: str) -> bool:
    return verify_math(ground_truth, response).correct


def math_verify(ground_truth: str, response: str) -> bool:
    return bool(verify(parse(_dressed(ground_truth)), parse(_dressed(response))))


def math_verify_wrapped(ground_truth: str, response: str) -> bool:
    return bool(verify(parse(_wrapped(ground_truth)), parse(_wrapped(response))))


def main() -> None:
    options = _options()
    rows = _rows(options.data)
    sample = [row for part in rows.values() for row in random.Random(0).sample(part, min(options.sample, len(part)))]
    print(f"{sum(map(len, rows.values())):,} rows, {len(sample)} of them for both\n")
    for name, code in FIRST_CALLS.items():
        print(f"import and first call of {name:12} {_first_call(code):.3f} s (best of 3)")
    for verifier in (plaudit, math_verify, math_verify_wrapped):
        _measured(verifier, sample[:5])  # whatever the first calls load is not what is measured
    before = [_measured(plaudit, sample) for _ in range(ROUNDS)]
    theirs = _measured(math_verify, sample)
    best = _measured(math_verify_wrapped, sample)
    ours = _medians([*before, *(_measured(plaudit, sample) for _ in range(ROUNDS))])
    print("\nOn the same rows")
    _speeds("plaudit", ours)
    _speeds("math-verify", theirs)
    _speeds("wrapped", best)
    sizes = {name: len(part) for name, part in rows.items()}
    mixed = {"plaudit": _mixed_seconds(ours, sizes), "math-verify": _mixed_seconds(theirs, sizes)}
    for name, seconds in mixed.items():
        print(f"{name:12} {1 / seconds:10,.1f} rows/s with the parts in proportion to their sizes")
    ratio = mixed["math-verify"] / mixed["plaudit"]
    print(f"throughput ratio {ratio:,.0f} ×; target >= {RATIO} ×: {'met' if ratio >= RATIO else 'NOT met'}")
    _accuracies("plaudit", ours)
    _accuracies("math-verify", theirs)
    _accuracies("math-verify, wrapped", best)
    everything = _measured(plaudit, [row for part in rows.values() for row in part])
    print("\nplaudit on all rows")
    _speeds("plaudit", everything)
    _accuracies("plaudit", everything)
    _attacks()


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=next(filter(Path.exists, FOLDERS), FOLDERS[0]))
    options.add_argument("--sample", type=int, default=40, help="rows of each part for both")
    return options.parse_args()


def _rows(folder: Path) -> dict[str, list[Row]]:
    """The rows of every part, those with disputed labels left out."""
    parts = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        parts[path.stem] = [{**row, "part": path.stem} for row in rows if not row.get("disputed")]
    return parts


def _dressed(text: str) -> str:
    bare = "\n" not in text and not any(sign in text for sign in ("$", "\\boxed", "\\(", "\\[", "answer"))
    return f"${text}$" if bare and any(sign in text for sign in MATHEMATICAL) else text


def _wrapped(text: str) -> str:
    """Every short text that has no mark of its own in dollar signs: the configuration that suits Math-Verify best."""
    bare = len(text) <= SHORT and not any(sign in text for sign in ("$", "\\boxed", "\\(", "\\[", "answer", "\n"))
    return f"${text}$" if bare else text


def _first_call(code: str) -> float:
    timed = f"import time; began = time.process_time(); {code}; print(time.process_time() - began)"
    runs = [subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def _measured(verifier: Verifier, rows: list[Row]) -> list[Outcome]:
    """Every row timed alone; trees that plaudit remembers are forgotten first, so that no round helps the next."""
    clear_cache()
    outcomes = []
    for row in rows:
        began = time.process_time()
        verdict = verifier(row["ground_truth"], row["response"])
        outcomes.append(Outcome(row["part"], row["correct"], verdict, time.process_time() - began))
    return outcomes


def _medians(rounds: list[list[Outcome]]) -> list[Outcome]:
    """Every row with the median of its times: one round of plaudit is over before the machine has settled."""
    return [
        replace(outcomes[0], seconds=statistics.median(one.seconds for one in outcomes))
        for outcomes in zip(*rounds, strict=True)
    ]


def _mixed_seconds(outcomes: list[Outcome], sizes: dict[str, int]) -> float:
    """Seconds per row of the whole data, from a sample that takes equally many rows of every part."""
    means = {part: statistics.fmean(one.seconds for one in outcomes if one.part == part) for part in sizes}
    return sum(means[part] * size for part, size in sizes.items()) / sum(sizes.values())


def _speeds(name: str, outcomes: list[Outcome]) -> None:
    taken = sorted(one.seconds * 1000 for one in outcomes)
    print(
        f"{name:12} {1000 / statistics.fmean(taken):10,.1f} rows/s   p50 {statistics.median(taken):8.3f} ms   "
        f"p99 {taken[int(len(taken) * 0.99)]:9.3f} ms   max {taken[-1]:9.1f} ms"
    )


def _accuracies(name: str, outcomes: list[Outcome]) -> None:
    print(f"\n{name:22} {'rows':>6} {'right %':>8} {'false +':>8} {'false -':>8}")
    parts = dict.fromkeys(one.part for one in outcomes)
    for part in (*parts, "all"):
        own = [one for one in outcomes if part in (one.part, "all")]
        false_positives = sum(one.verdict and not one.label for one in own)
        false_negatives = sum(one.label and not one.verdict for one in own)
        share = 100 * (1 - (false_positives + false_negatives) / len(own))
        print(f"{part:22} {len(own):6} {share:8.2f} {false_positives:8} {false_negatives:8}")


def _attacks() -> None:
    """The adversarial inputs of the tests, each timed alone."""
    sys.path.append(str(ROOT / "tests" / "verify" / "math"))
    attacks = importlib.import_module("adversarial_inputs").ATTACKS
    seconds = {}
    for name, attack in attacks.items():
        began = time.process_time()
        verify_math(attack.truth, attack.response)
        seconds[name] = time.process_time() - began
    slowest = max(seconds, key=seconds.__getitem__)
    verdict = "met" if seconds[slowest] < SLOWEST_ATTACK_S else "NOT met"
    print(
        f"\n{len(attacks)} attacks: the slowest, {slowest!r}, took {seconds[slowest]:.3f} s; target < 0.5 s: {verdict}"
    )


if __name__ == "__main__":
    main()
