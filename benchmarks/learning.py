"""Does every estimator and every loss learn? Held-out score after 60 steps of sorting digits, on three seeds.

Each batch is taken twice in two parts, so the policy moves away from the one that sampled and the losses differ. All
begin from the same warm-started model of their seed; estimators are tried with the loss `grpo`, losses with the
estimator `grpo`. Names on the command line choose some of them.
"""

import argparse
import itertools
import statistics
import tempfile
from pathlib import Path

import torch

from plaudit import RewardOutput, Trajectory
from plaudit.contract.function import RewardFunction
from plaudit.training import load_config, train
from plaudit.training.advantages.estimators import ADVANTAGES
from plaudit.training.config.learning_keys import LOSSES

SETTINGS = (
    "sampling.prompts_per_step=16",
    "sampling.samples_per_prompt=8",
    "training.updates_per_batch=2",
    "training.minibatches=2",
    "eval.every=0",
    "eval.prompts=null",
    "checkpoint.every=0",
    "logging.rollouts_every=0",
)
SPELLINGS = ("group_norm", "reinforce++", "reinforce++_baseline")
"""Second names of estimators."""


class RightAndShort(RewardFunction):
    """The task's reward in two components, for the estimator that looks at each: right, and four characters long."""

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        said = trajectory.response.strip()
        parts = {"right": float(said == trajectory.ground_truth), "four": float(len(said) == 4)}
        components = {name: RewardOutput(value) for name, value in parts.items()}
        return RewardOutput(parts["right"], score=parts["right"], components=components)


def learn(estimator: str, loss: str, start: Path, folder: Path, *, steps: int, seed: int) -> float:
    """The held-out score after training."""
    told = [*SETTINGS, f"seed={seed}", f"steps={steps}", f"advantage={estimator}", f"loss.name={loss}",
            f"model.path={start}", f"output_dir={folder}", "training.reward_backend=inline"]  # fmt: skip
    reward = RightAndShort() if estimator == "gdpo" else None
    return train(load_config(None, told), reward=reward, overwrite=True).after["eval/score"]


def warm_start(folder: Path, seed: int) -> tuple[Path, float]:
    """The model that all runs of a seed begin with, and its held-out score."""
    outcome = train(load_config(None, [*SETTINGS, "steps=0", f"seed={seed}", f"output_dir={folder}"]))
    return outcome.folder.model, outcome.before["eval/score"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="estimators, and losses as loss:NAME; all of them without")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    given = parser.parse_args()
    torch.set_num_threads(1)
    estimators = [name for name in ADVANTAGES if name not in SPELLINGS]
    everything = [*estimators, *(f"loss:{name}" for name in LOSSES if name != "grpo")]
    seeds = range(1, given.seeds + 1)
    with tempfile.TemporaryDirectory() as place:
        starts = {seed: warm_start(Path(place, f"start-{seed}"), seed) for seed in seeds}
        print("| estimator, or loss | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean |")
        print("|---" * (len(seeds) + 2) + "|")
        print(_row("before", [score for _, score in starts.values()]), flush=True)
        for name in given.names or everything:
            kind, _, loss = name.rpartition(":")
            estimator, loss = ("grpo", loss) if kind else (name, "grpo")
            folder = Path(place, "run")
            scores = [learn(estimator, loss, starts[seed][0], folder, steps=given.steps, seed=seed) for seed in seeds]
            print(_row(name, scores), flush=True)


def _row(name: str, scores: list[float]) -> str:
    cells = [f"{score:.3f}" for score in itertools.chain(scores, [statistics.fmean(scores)])]
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
