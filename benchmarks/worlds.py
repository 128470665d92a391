"""Does the embedded model learn to use tools? `python benchmarks/worlds.py [--seeds N] [--steps N]`.

Trains on `robot_room` with the commands and the config of the guide "Worlds", once for each seed, and prints a table:
what held-out tasks earn before and after (sampled and greedy), and the share of episodes that look before they act, in
the first and the last steps. The demonstrations of the warm start show the calls; half of them do not look, and most of
those that look take the wrong lamp. So before training an episode earns about 0.3, and guessing alone would earn 0.25.
"""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.pages import ROOT, blocks

GUIDE = ROOT / "docs" / "guides" / "worlds.md"
STEPS_COMPARED = 5


def run(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "plaudit", *words], cwd=folder, check=True, capture_output=True)


def train(folder: Path, *settings: str) -> dict[str, Any]:
    """What a run of the guide's config shows."""
    [config] = [block for block in blocks(GUIDE) if block.title == "room.yaml"]
    (folder / "room.yaml").write_text(config.text)
    files = ["-o", "room.jsonl", "--held-out", "held.jsonl", "--demonstrations", "shown.jsonl"]
    run(folder, "world", "tasks", "robot_room", *files)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(folder, "train", "room.yaml", "output_dir=run", *settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    metrics = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    evaluated = [line for line in metrics if "eval/score" in line]
    return {
        "sampled": [line["eval/score"] for line in evaluated],
        "greedy": [line["eval/greedy"] for line in evaluated],
        "curve": [line["reward"] for line in metrics if "reward" in line],
        "looks": looks(folder / "run" / "rollouts.jsonl"),
        "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def looks(rollouts: Path) -> list[float]:
    """The share of episodes of each step whose first call is `see`."""
    lines = [json.loads(line) for line in rollouts.read_text().splitlines()]
    steps = itertools.groupby(lines, key=lambda line: line["training_step"])
    return [mean([line["response"].startswith("[see()]") for line in each]) for _, each in steps]


def mean(values: list[Any]) -> float:
    return float(sum(values) / len(values))


def show(seed: int, outcome: dict[str, Any]) -> str:
    cells = [f"{outcome[name][0]:.2f} → {outcome[name][-1]:.2f}" for name in ("sampled", "greedy")]
    first, last = mean(outcome["looks"][:STEPS_COMPARED]), mean(outcome["looks"][-STEPS_COMPARED:])
    return f"| {seed} | {' | '.join(cells)} | {first:.2f} → {last:.2f} | {outcome['seconds']:.0f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int)
    arguments = parser.parse_args()
    print(
        "| seed | held out, sampled | held out, greedy | episodes that look | processor time |\n|---|---|---|---|---|"
    )
    for seed in range(1, arguments.seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            steps = [] if arguments.steps is None else [f"steps={arguments.steps}"]
            outcome = train(Path(folder), f"seed={seed}", *steps)
        print(show(seed, outcome), flush=True)
        print("  training reward by step:", " ".join(f"{value:.2f}" for value in outcome["curve"]), file=sys.stderr)


if __name__ == "__main__":
    main()
