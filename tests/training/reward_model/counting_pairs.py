"""Preferences among answers to "words:4": the nearer to four words, the better, as the task's own judge orders them.

Neither length nor any word is the signal: how many words are right depends on the prompt.
"""

import random
from pathlib import Path

from plaudit import score
from plaudit.rollouts import Rollout
from plaudit.training import BuiltPairs, PairSettings, build_pairs, find_task
from plaudit.trajectory import Trajectory

LENGTH_CONTROL = find_task(f"{Path(__file__).parents[3]}/examples/toy_tasks.py:length_control")
WORDS = ("ab", "cd", "ef", "gh")
SLIPS = ("ab", "cd", "ef", "gh", "a", "abcd", "efg", "hc")
"""Words as an untrained model writes them, too."""


def counting_pairs(*, per_prompt: int = 6, seed: int = 0) -> BuiltPairs:
    """Pairs of responses of one to ten words to the prompts of the task."""
    chance = random.Random(seed)
    samples = [
        Trajectory(prompt=row.prompt, response=_words(chance), ground_truth=row.ground_truth)
        for row in LENGTH_CONTROL.prompts
        for _ in range(per_prompt)
    ]
    outputs = score(LENGTH_CONTROL.reward, samples)
    rollouts = [Rollout(sample, output) for sample, output in zip(samples, outputs, strict=True)]
    return build_pairs(rollouts, PairSettings(per_group=per_prompt, seed=seed))


def _words(chance: random.Random) -> str:
    vocabulary = chance.choice((WORDS, SLIPS))
    return " ".join(chance.choice(vocabulary) for _ in range(chance.randint(1, 10)))
