"""Preferences among answers to "words:4": the nearer to four words, the better, as the task's own judge orders them.

Neither length nor any word is the signal: how many words are right depends on the prompt.
"""

import random

from plaudit import score
from plaudit.rollouts import Rollout
from plaudit.training import BuiltPairs, PairSettings, build_pairs, find_task
from plaudit.training.tasks.built_in import WORDS, has_length
from plaudit.trajectory import Trajectory

SLIPS = ("ab", "cd", "ef", "gh", "a", "abcd", "efg", "hc")
"""Words as an untrained model writes them, too."""


def counting_pairs(*, per_prompt: int = 6, seed: int = 0) -> BuiltPairs:
    """Pairs of responses of one to ten words to the prompts of the task."""
    chance = random.Random(seed)
    samples = [
        Trajectory(prompt=row.prompt, response=_words(chance), ground_truth=row.ground_truth)
        for row in find_task("length_control").prompts
        for _ in range(per_prompt)
    ]
    rollouts = [Rollout(sample, output) for sample, output in zip(samples, score(has_length, samples), strict=True)]
    return build_pairs(rollouts, PairSettings(per_group=per_prompt, seed=seed))


def _words(chance: random.Random) -> str:
    vocabulary = chance.choice((WORDS, SLIPS))
    return " ".join(chance.choice(vocabulary) for _ in range(chance.randint(1, 10)))
