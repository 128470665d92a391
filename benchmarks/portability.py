"""What an exported reward costs inside TRL, and what its workers gain there.

A real GRPOTrainer runs its own reward phase over one batch of 512 completions of 128 tokens, in turn with a bare
function of TRL's and with the same as a reward of plaudit's, exported: a trivial one (what a sample costs more), and
one that needs 5 ms of processor time a sample (64 completions, two workers). Medians over rounds.

    python benchmarks/portability.py
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plaudit

ROUNDS = 9
TRIVIAL, SLOW = 512, 64
TOKENS = 128
CPU_S = 0.005
BARE = f"""
import time


def trivial(completions, answer, **kwargs):
    return [float(completion.endswith(right)) for completion, right in zip(completions, answer)]


def slow(completions, answer, **kwargs):
    return [work(completion, right) for completion, right in zip(completions, answer)]


def work(completion, right):
    end = time.process_time() + {CPU_S}
    while time.process_time() < end:
        sum(range(50))
    return float(completion.endswith(right))
"""
OURS = f"""
import time


def trivial(response, answer):
    return float(response.endswith(answer))


def slow(response, answer):
    end = time.process_time() + {CPU_S}
    while time.process_time() < end:
        sum(range(50))
    return float(response.endswith(answer))
"""


def build_trainer(folder: Path, reward: Callable[..., Any]) -> Any:
    """A GRPOTrainer of the embedded model with one reward function."""
    from datasets import Dataset  # noqa: PLC0415 - torch and TRL take seconds, and a wrong argument should not
    from trl import GRPOConfig, GRPOTrainer  # noqa: PLC0415

    policy = plaudit.training.tiny_policy(seed=0)
    return GRPOTrainer(
        model=policy.model,
        processing_class=policy.tokenizer,
        reward_funcs=[reward],
        train_dataset=Dataset.from_list([{"prompt": "12", "answer": "12"}]),
        args=GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=8,
            num_generations=8,
            use_cpu=True,
            bf16=False,
            report_to="none",
        ),
    )


def build_batch(count: int) -> tuple[list[dict[str, Any]], list[str], list[str], list[list[int]]]:
    """What TRL hands to its reward phase: rows, prompts, completions and their tokens."""
    numbers = random.Random(0)
    answers = [str(numbers.randrange(100)) for _ in range(count)]
    completions = [" ".join(str(numbers.randrange(100)) for _ in range(TOKENS)) for _ in range(count)]
    ids = [[numbers.randrange(1000) for _ in range(TOKENS)] for _ in range(count)]
    prompts = [f"question {place // 8}" for place in range(count)]
    rows = [{"prompt": prompt, "answer": answer} for prompt, answer in zip(prompts, answers, strict=True)]
    return rows, prompts, completions, ids


def time_in_turn(trainers: dict[str, Any], count: int) -> dict[str, float]:
    """Seconds of the reward phase by trainer, each the median of rounds in which they take turns."""
    batch = build_batch(count)
    expected = None
    taken: dict[str, list[float]] = {name: [] for name in trainers}
    for round_ in range(ROUNDS + 1):
        for name, trainer in trainers.items():
            began = time.perf_counter()
            rewards = trainer._calculate_rewards(*batch)
            seconds = time.perf_counter() - began
            expected = rewards.tolist() if expected is None else expected
            assert rewards.tolist() == expected, f"{name} gives other rewards"
            if round_:  # the first starts the workers
                taken[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rewards.py"
        file.write_text(OURS)
        names: dict[str, Any] = {}
        exec(compile(BARE, "bare.py", "exec"), names)
        for name, count in (("trivial", TRIVIAL), ("slow", SLOW)):
            exported = plaudit.export(f"{file}:{name}", "trl", workers=2)
            inline = plaudit.export(f"{file}:{name}", "trl", backend="inline")
            rewards = {"bare": names[name], "exported, 2 workers": exported, "exported, inline": inline}
            trainers = {how: build_trainer(Path(folder), reward) for how, reward in rewards.items()}
            seconds = time_in_turn(trainers, count)
            exported.close()
            for how, each in seconds.items():
                over = (each - seconds["bare"]) / count * 1e6
                ratio = seconds["bare"] / each
                print(
                    f"{name:8} {how:20} {each * 1e3:8.1f} ms  {over:+8.1f} us a sample  {ratio:5.2f} x as fast as bare"
                )


if __name__ == "__main__":
    main()
