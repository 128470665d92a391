"""Train SmolLM2-135M-Instruct with LoRA on small sums, as examples/smollm2.yaml says, and tell what it learnt.

Run from the repository: `python benchmarks/smollm2.py [KEY=VALUE]...`; `engine=trl` trains it with TRL.
"""

import sys
import tempfile
import time
from pathlib import Path

from plaudit.training import load_config, train

CONFIG = Path(__file__).parent.parent / "examples" / "smollm2.yaml"
TOLD = ("eval/score", "eval/pass@2", "eval/reward", "eval/length")


def main(overrides: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = load_config(CONFIG, [f"output_dir={folder}/run", *overrides])
        began = time.perf_counter()
        outcome = train(config)
        seconds = time.perf_counter() - began
    print(f"{config.engine}, {outcome.step} steps of {config.batch_size} responses, {seconds:.0f} s with evaluations")
    for name in TOLD:
        print(f"{name:<12} {outcome.before[name]:.3f} → {outcome.after[name]:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
