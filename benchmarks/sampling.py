"""Tokens per CPU second of our own decoder and of Hugging Face `generate`, on the embedded model.

Both draw the same tokens, in one process with one thread, interleaved; the figures are medians over rounds.
"""

import statistics
import time

import torch

from plaudit.training import SamplingSettings, TransformersSampler
from plaudit.training.config.schema import ModelConfig
from plaudit.training.data.task_catalog import find_task
from plaudit.training.learning.optimizer import warm_start
from plaudit.training.model.loading import tiny_policy

ROUNDS = 7
SIZES = ((16, 8), (32, 8), (64, 16))


def main() -> None:
    torch.set_num_threads(1)
    policy, task = tiny_policy(seed=1), find_task("sort_digits")
    warm_start(policy, task.demonstrations, ModelConfig(warm_start_steps=25))
    samplers = {
        "own decoder": policy.sampler(),
        "generate": TransformersSampler(policy.model, policy.tokenizer, own_decoder=False),
    }
    for prompts, samples in SIZES:
        settings = SamplingSettings(max_new_tokens=32, seed=1)
        rates: dict[str, list[float]] = {name: [] for name in samplers}
        for _ in range(ROUNDS):
            for name, sampler in samplers.items():
                began = time.process_time()
                sampled = sampler.sample(task.held_out[:prompts], samples, settings=settings)
                tokens = sum(len(each.tokens or ()) for each in sampled.trajectories)
                rates[name].append(tokens / (time.process_time() - began))
        own, theirs = (statistics.median(rates[name]) for name in samplers)
        print(
            f"{prompts:3} prompts × {samples:2} samples: {own:8,.0f} tokens per CPU second, "
            f"generate {theirs:8,.0f}: {own / theirs:.2f} ×"
        )


if __name__ == "__main__":
    main()
