"""Curriculum against uniform sampling, and tasks of very different reward scales with and without normalisation.

    python benchmarks/curriculum.py curriculum [--seeds 3] [--steps 150]
    python benchmarks/curriculum.py scales [--seeds 3] [--steps 60]

Both sides of each comparison train the embedded model from the same warm start on the same number of samples, one after
the other in one run; held-out prompts are the same. Every line is one seed, the last one the medians and their ratio.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from plaudit import RewardOutput, reward
from plaudit.training import Task, load_config, train
from plaudit.training.config.schema import RunConfig

COMMON = (
    "logging.report=false", "logging.rollouts_every=0", "logging.samples=0",
    "checkpoint.every=0", "eval.every=0", "eval.greedy=false", "training.reward_backend=inline",
)  # fmt: skip
TOY_TASKS = Path(__file__).resolve().parents[1] / "examples" / "toy_tasks.py"
SPEC = f"{Path(__file__).resolve()}:mixed_sorting"


@reward(bounds=(0.0, 1.0))
def sorts(response: str, ground_truth: str) -> RewardOutput:
    """1.0 for the sorted digits and nothing else."""
    right = float(response.strip() == ground_truth)
    return RewardOutput(right, score=right)


@reward(bounds=(0.0, 100.0))
def sorts_for_a_hundred(response: str, ground_truth: str) -> RewardOutput:
    """The same on another scale."""
    right = float(response.strip() == ground_truth)
    return RewardOutput(100.0 * right, score=right)


def mixed_sorting(
    *, lengths: tuple[int, ...] = (2, 3, 4, 5, 12, 13, 14, 15, 16, 17), per_length: int = 400, held_out: int = 32
) -> Task:
    """Sort digits, as many prompts of each length (of two there are fifty); long ones are out of the model's reach."""
    rows = []
    for length in lengths:
        count = min(per_length, 10**length // 2)
        rows += [_row(f"{number:0{length}d}") for number in random.Random(length).sample(range(10**length), count)]
    return Task.from_rows(
        "mixed_sorting", rows, sorts, held_out=held_out * len(lengths), max_new_tokens=max(lengths) + 2
    )


def _row(digits: str) -> dict[str, object]:
    return {"prompt": f"{digits}=", "ground_truth": "".join(sorted(digits)), "difficulty": len(digits)}


def compare_curricula(seeds: int, steps: int) -> None:
    """Held-out score over all lengths: uniform sampling, weights by difficulty, and stages."""
    sides = {
        "uniform": (),
        "by difficulty": ("curriculum.by=difficulty",),
        "stages": ("curriculum.by=difficulty", "curriculum.stages=true"),
    }
    shared = (f"task={SPEC}", f"steps={steps}", "model.warm_start_steps=60", "sampling.prompts_per_step=4",
              "eval.prompts=320")  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in sides}
    print(f"held-out score, {steps} steps of 4 prompts × 8 samples\n")
    print(f"{'seed':>6}{'before':>10}" + "".join(f"{name:>16}" for name in sides) + f"{'CPU s':>9}")
    for seed in range(1, seeds + 1):
        began, before, line = time.process_time(), 0.0, ""
        for name, keys in sides.items():
            outcome = _train([*shared, *keys, f"seed={seed}"])
            before = outcome["before"]["eval/score"]
            found[name].append(outcome["after"]["eval/score"])
            line += f"{found[name][-1]:>16.3f}"
        print(f"{seed:>6}{before:>10.3f}{line}{time.process_time() - began:>9.0f}", flush=True)
    medians = {name: statistics.median(values) for name, values in found.items()}
    print(f"{'median':>6}{'':>10}" + "".join(f"{value:>16.3f}" for value in medians.values()))
    print(f"{'ratio':>6}{'':>10}" + "".join(f"{value / medians['uniform']:>16.2f}" for value in medians.values()))


def compare_scales(seeds: int, steps: int) -> None:
    """Two tasks whose rewards reach 1 and 100, with an estimator that does not divide by a group's spread."""
    here = Path(__file__).resolve()
    tasks = (
        f"tasks.large={{task: sort_digits, reward: '{here}:sorts_for_a_hundred'}}",
        f"tasks.small={{task: '{TOY_TASKS}:follow_format'}}",
    )
    shared = (*tasks, f"steps={steps}", "advantage=dr_grpo", "sampling.prompts_per_step=16", "eval.prompts=128",
              "model.warm_start_steps=70")  # fmt: skip
    sides = {"normalised": "training.normalize_tasks=true", "as they are": "training.normalize_tasks=false"}
    print(f"held-out score of the tasks with rewards up to 100 and up to 1, {steps} steps, dr_grpo\n")
    print(f"{'seed':>6}{'before':>16}" + "".join(f"{name:>20}" for name in sides) + f"{'CPU s':>9}")
    gains: dict[str, list[float]] = {name: [] for name in sides}
    for seed in range(1, seeds + 1):
        began, before, line = time.process_time(), "", ""
        for name, key in sides.items():
            outcome = _train([*shared, key, f"seed={seed}"])
            names = ("eval/task/large/score", "eval/task/small/score")
            before = " / ".join(f"{outcome['before'][each]:.2f}" for each in names)
            after = " / ".join(f"{outcome['after'][each]:.2f}" for each in names)
            gains[name].append(outcome["after"][names[1]] - outcome["before"][names[1]])
            line += f"{after:>20}"
        print(f"{seed:>6}{before:>16}{line}{time.process_time() - began:>9.0f}", flush=True)
    medians = {name: statistics.median(values) for name, values in gains.items()}
    print("\nmedian gain of the task with small rewards: " + ", ".join(f"{n} {v:+.3f}" for n, v in medians.items()))


def _train(overrides: list[str]) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        config: RunConfig = load_config(None, [*COMMON, *overrides, f"output_dir={folder}/run"])
        outcome = train(config)
        return {"before": outcome.before, "after": outcome.after}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["curriculum", "scales"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int)
    given = parser.parse_args()
    compare, steps = {"curriculum": (compare_curricula, 150), "scales": (compare_scales, 60)}[given.what]
    compare(given.seeds, given.steps or steps)


if __name__ == "__main__":
    main()
