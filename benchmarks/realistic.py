"""A reward as people use it, `0.8 * math + 0.1 * format + 0.1 * length(target=120)`, on labelled GSM8K rollouts.

Four ways in one run, in turns: in this process, on two workers, the same reward in a bare `multiprocessing.Pool(2)`,
and Math-Verify with the same two further checks in a pool of the same size. The bare pool has no deadlines and sends
nothing while it scores: it shows how much two processes can gain on this machine. Figures are medians over rounds,
ratios medians of the ratios round by round.
"""

import argparse
import importlib
import multiprocessing
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit import RewardOutput, Trajectory, load
from plaudit.contract.scoring import score_samples
from plaudit.engine import Scorer
from tests.shared_data import gsm8k_rollouts

SPEC = "0.8 * math + 0.1 * format + 0.1 * length(target=120)"
REWARD = load(SPEC)
_SECTIONS = re.compile(r"<think>.*?</think>\s*<answer>.*?</answer>", re.DOTALL)


def peer(sample: tuple[str, str]) -> float:
    """Math-Verify with the same checks beside it."""
    math_verify = importlib.import_module("math_verify")  # in the pool's processes only
    response, truth = sample
    correct = float(math_verify.verify(math_verify.parse(truth), math_verify.parse(response)))
    words = len(response.split())
    return 0.8 * correct + 0.1 * float(bool(_SECTIONS.search(response))) + 0.1 * max(0.0, 1.0 - abs(words - 120) / 120)


def score_bare(sample: Trajectory) -> RewardOutput:
    """Our reward, as a pool of processes would call it."""
    return score_samples(REWARD, [sample])[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--no-peer", action="store_true", help="leave Math-Verify out")
    given = options.parse_args()
    samples = [
        Trajectory(prompt=row["prompt"], response=row["response"], ground_truth=row["ground_truth"])
        for row in gsm8k_rollouts()
    ]
    pairs = [(sample.response, str(sample.ground_truth)) for sample in samples]
    count = len(samples)
    with (
        Scorer(SPEC, backend="inline") as inline,
        Scorer(SPEC, workers=2) as workers,
        multiprocessing.Pool(2) as pool,
    ):
        runs: dict[str, Callable[[], object]] = {
            "inline": lambda: inline.score(samples),
            "two workers": lambda: workers.score(samples),
            "bare Pool(2)": lambda: pool.map(score_bare, samples, chunksize=32),
        }
        if not given.no_peer:
            runs["Math-Verify, Pool(2)"] = lambda: pool.map(peer, pairs, chunksize=32)
        taken = measure(runs, given.rounds)
    each_us = {name: statistics.median(seconds) / count * 1e6 for name, seconds in taken.items()}
    for name, value in each_us.items():
        print(f"{name:24}{value:10.1f} µs a row (median of {given.rounds} rounds of {count:,})")
    ratio("two workers over inline", taken["inline"], taken["two workers"], 1.7)
    ratio("a bare Pool(2) over inline", taken["inline"], taken["bare Pool(2)"])
    if not given.no_peer:
        ratio("two workers over Math-Verify", taken["Math-Verify, Pool(2)"], taken["two workers"], 9.0)
    print(f"inline {each_us['inline']:.0f} µs a row; target ≤ 150: {'met' if each_us['inline'] <= 150 else 'NOT met'}")


def measure(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each run, round by round, after one round that warms up."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            if number:
                taken[name].append(time.perf_counter() - began)
    return taken


def ratio(what: str, slow: list[float], fast: list[float], target: float | None = None) -> None:
    """Print the median of the ratios round by round."""
    value = statistics.median(a / b for a, b in zip(slow, fast, strict=True))
    verdict = "" if target is None else f"; target ≥ {target:g}: {'met' if value >= target else 'NOT met'}"
    print(f"{what}: {value:.2f} ×{verdict} (load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
