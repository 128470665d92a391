"""Evaluation on held-out prompts, and responses to show before and after.

The random numbers of an evaluation follow from the seed and the step, so evaluating more or less often changes nothing
else.
"""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.batches.collecting import Scoring, seed_of
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.reporting.evaluation import evaluate
from plaudit.training.sampling.sampler import Sampler, SamplingSettings

__all__ = ["HeldOut"]


class HeldOut:
    """Asks a sampler the held-out prompts, and scores what it says."""

    def __init__(self, prompts: Prompts, judge: Scoring, config: RunConfig, *, settings: SamplingSettings) -> None:
        rows = (msgspec.structs.replace(row, group=f"held-out-{place}") for place, row in enumerate(prompts))
        self.prompts = Prompts(tuple(rows))
        self.judge, self.config, self.settings = judge, config, settings

    def evaluate(self, sampler: Sampler, step: int) -> dict[str, float]:
        """`eval/score`, `eval/pass@k`, …; nothing where there are no held-out prompts."""
        if not self.prompts:
            return {}
        told = self.config.eval
        drawn = self._scored(sampler, told.samples_per_prompt, self._sampling(step, told.temperature), step)
        metrics = evaluate(drawn, told.pass_at).metrics()
        if told.greedy:
            likeliest = evaluate(self._scored(sampler, 1, self._sampling(step, 0.0), step)).metrics("")
            metrics["eval/greedy"] = likeliest.get("score", likeliest.get("reward", 0.0))
        return metrics

    def shown(self, sampler: Sampler) -> list[str]:
        """The likeliest responses to the first prompts, to be shown."""
        rows = self.prompts[: self.config.logging.samples]
        return sampler.sample(rows, 1, settings=self._sampling(0, 0.0)).texts if rows else []

    def _sampling(self, step: int, temperature: float) -> SamplingSettings:
        seed = seed_of(self.config.seed, "eval", step)
        return replace(self.settings, temperature=temperature, top_p=1.0, top_k=0, seed=seed)

    def _scored(self, sampler: Sampler, count: int, settings: SamplingSettings, step: int) -> list[ScoredRollout]:
        found: list[ScoredRollout] = []
        for place, rows in enumerate(self._pieces(count)):
            seeded = replace(settings, seed=seed_of(settings.seed, place))
            sampled = sampler.sample(rows, count, settings=seeded)
            found += map(Rollout, sampled.trajectories, self.judge.score(sampled.trajectories))
        return found

    def _pieces(self, count: int) -> Iterator[Prompts]:
        """The prompts in pieces that give no more responses at once than a training batch has."""
        size = max(1, self.config.batch_size // count)
        return (self.prompts[start : start + size] for start in range(0, len(self.prompts), size))
