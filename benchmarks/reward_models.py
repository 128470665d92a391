"""Reward models from preferences: accuracy, a policy taught by one under the true judge, verdicts on length.

    python benchmarks/reward_models.py            # everything, about ten minutes on one core
    python benchmarks/reward_models.py --short    # a few steps of each, to see that it runs

(a) The embedded policy answers "words:4" with about four words. Its rollouts, scored by the task's judge, become pairs,
the pairs a reward model; then one policy is trained with the reward model, and one with the judge, the same steps.
Both are judged by the judge, on held-out prompts. (b) Sets of pairs whose only signal is length, and sets with another
signal: what the report says of each.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from plaudit.rollouts import read_rollouts
from plaudit.training import (
    PairSettings,
    TrainedRewardModel,
    build_pairs,
    load_config,
    load_reward_model_config,
    train,
    train_reward_model,
)

TOY_TASKS = Path(__file__).resolve().parents[1] / "examples" / "toy_tasks.py"
WORDS = ("tree", "river", "stone", "cloud", "bread", "chair", "lamp", "road", "fish", "bird")
QUIET = ("logging.report=false", "eval.every=0", "checkpoint.every=0", f"task={TOY_TASKS}:length_control")


def main() -> None:
    """Run both parts and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps of everything")
    parser.add_argument("--part", choices=("policy", "length"), help="only this part")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.part != "length":
            measure_policy(Path(folder), short=given.short)
        if given.part != "policy":
            measure_verdicts(Path(folder), short=given.short)


def measure_policy(folder: Path, *, short: bool) -> None:
    """Judge → rollouts → pairs → reward model → policy, beside a policy that the judge itself taught."""
    steps = 4 if short else 60
    train(
        load_config(
            None, [f"output_dir={folder / 'first'}", f"steps={2 if short else 12}", "optimizer.lr=1e-4", *QUIET]
        )
    )
    built = build_pairs(read_rollouts(folder / "first" / "rollouts.jsonl"), PairSettings(per_group=6))
    model = fit([pair.to_row() for pair in built.pairs], folder / "counting", 10 if short else 300)
    accuracy = model.report.accuracy
    print(f"reward model, pairs of {built.counts.groups} groups: accuracy {accuracy.value:.3f} [{accuracy.low:.3f}, "
          f"{accuracy.high:.3f}] on {accuracy.count:,} held-out pairs, calibration error "
          f"{model.report.calibration.error:.3f}, {model.report.length.verdict}")  # fmt: skip
    for name, reward in (
        ("reward model", (f"training.reward_function=reward_model(model={str(model.folder)!r})",)),
        ("judge itself", ()),
    ):
        began = time.process_time()
        settings = [f"output_dir={folder / name}", f"steps={steps}", "training.reward_backend=inline", *reward, *QUIET]
        outcome = train(load_config(None, settings))
        figures = ", ".join(
            f"{key.removeprefix('eval/')} {outcome.before[key]:.3f} → {outcome.after[key]:.3f}"
            for key in ("eval/reward", "eval/score", "eval/greedy")
        )
        print(f"policy, {steps} steps with the {name}, by the judge: {figures} ({time.process_time() - began:.0f} s)")


def longer(chance: random.Random) -> tuple[str, str]:
    """Always the longer one."""
    low, high = sorted(chance.sample(range(2, 12), 2))
    return say(chance, high), say(chance, low)


def much_longer(chance: random.Random) -> tuple[str, str]:
    """Always the longer one, and no two of one length."""
    return say(chance, chance.randint(7, 11)), say(chance, chance.randint(2, 6))


def mostly_longer(chance: random.Random) -> tuple[str, str]:
    """The longer one, nine times of ten."""
    chosen, rejected = longer(chance)
    return (chosen, rejected) if chance.random() < 0.9 else (rejected, chosen)


def shorter(chance: random.Random) -> tuple[str, str]:
    """Always the shorter one."""
    chosen, rejected = longer(chance)
    return rejected, chosen


def thanks(chance: random.Random) -> tuple[str, str]:
    """The one that says thanks; lengths are by chance."""
    words = say(chance, chance.randint(2, 11)).split()
    words.insert(chance.randrange(len(words) + 1), "thanks")
    return " ".join(words), say(chance, chance.randint(2, 11))


def thanks_and_longer(chance: random.Random) -> tuple[str, str]:
    """The one that says thanks, which is always much longer, too."""
    chosen, rejected = much_longer(chance)
    return f"thanks {chosen}", rejected


SETS: tuple[Callable[[random.Random], tuple[str, str]], ...] = (
    longer, much_longer, mostly_longer, shorter, thanks, thanks_and_longer,
)  # fmt: skip


def measure_verdicts(folder: Path, *, short: bool) -> None:
    """What the report says of models trained on sets whose nature is known."""
    for make in SETS:
        chance = random.Random(0)
        sides = [make(chance) for _ in range(500)]
        rows = [{"prompt": f"Say {n}.", "chosen": one, "rejected": two} for n, (one, two) in enumerate(sides)]
        report = fit(rows, folder / make.__name__, 5 if short else 150).report
        matched = "none" if report.length.matched is None else f"{report.length.matched.value:.2f}"
        print(
            f"{make.__name__:<18} {report.length.verdict:<22} accuracy {report.accuracy.value:.2f}, "
            f"length-matched {matched}; {report.length.reason}"
        )


def fit(rows: Sequence[Mapping[str, object]], folder: Path, steps: int) -> TrainedRewardModel:
    """Train the embedded model on rows of pairs."""
    pairs = folder.with_suffix(".jsonl")
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    keys = [f"data.path={pairs}", f"output_dir={folder}", f"training.steps={steps}", "training.batch_size=16"]
    return train_reward_model(load_reward_model_config(None, keys))


def say(chance: random.Random, count: int) -> str:
    """Some words."""
    return " ".join(chance.choice(WORDS) for _ in range(count))


if __name__ == "__main__":
    main()
