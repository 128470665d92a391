"""How good a policy is on held-out prompts: mean score and pass@k.

Samples that were not scored are left out of both, and counted; a prompt with fewer than k scored samples says nothing
about pass@k and is left out of it.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.report.statistics.pass_rates import pass_at_k
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.batches.collecting import Scoring, derive_seed
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.levels import Levels
from plaudit.training.data.prompts import Prompts
from plaudit.training.sampling.sampler import Sampler, SamplingSettings
from plaudit.trajectory import GroupKey, Trajectory

__all__ = ["Evaluation", "HeldOut", "evaluate", "pass_at_k", "split_by"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found; None where nothing says it (a reward without scores has no pass@k)."""

    score: float | None
    reward: float | None
    pass_at: dict[int, float | None]
    prompts: int
    samples: int
    unscored: int
    length: float

    def metrics(self, prefix: str = "eval/") -> dict[str, float]:
        """The numbers by name, as they go to metrics.jsonl: `eval/score`, `eval/pass@1`, …"""
        values = {"score": self.score, "reward": self.reward, "length": self.length}
        values |= {f"pass@{k}": value for k, value in self.pass_at.items()}
        values["unscored"] = self.unscored / self.samples if self.samples else 0.0
        return {f"{prefix}{name}": value for name, value in values.items() if value is not None}


def evaluate(
    scored: Iterable[tuple[Trajectory, RewardOutput]], pass_at: Sequence[int] = (1,), *, right: float = 1.0
) -> Evaluation:
    """Sum up scored samples of held-out prompts; a sample is right when its score is at least `right`."""
    pairs = list(scored)
    scores: dict[GroupKey, list[float]] = defaultdict(list)
    for trajectory, output in pairs:
        scores[trajectory.group_key] += [] if output.score is None else [output.score]
    return Evaluation(
        score=_mean([score for group in scores.values() for score in group]),
        reward=_mean([output.reward for _, output in pairs if output.reward is not None]),
        pass_at={k: _pass_at(list(scores.values()), k, right) for k in pass_at},
        prompts=len(scores),
        samples=len(pairs),
        unscored=sum(not output.ok for _, output in pairs),
        length=_mean([_length(trajectory) for trajectory, _ in pairs]) or 0.0,
    )


class HeldOut:
    """Asks a sampler the held-out prompts, and scores what it says."""

    def __init__(
        self,
        prompts: Prompts,
        judge: Scoring,
        config: RunConfig,
        *,
        settings: SamplingSettings,
        levels: Levels | None = None,
    ) -> None:
        rows = (msgspec.structs.replace(row, group=f"held-out-{place}") for place, row in enumerate(prompts))
        self.prompts = Prompts(tuple(rows))
        self.judge, self.config, self.settings, self.levels = judge, config, settings, levels

    def evaluate(self, sampler: Sampler, step: int) -> dict[str, float]:
        """`eval/score`, `eval/pass@k`, …; nothing where there are no held-out prompts."""
        if not self.prompts:
            return {}
        settings = self.config.eval
        drawn = self._score_samples(
            sampler, settings.samples_per_prompt, self._settings_for(step, settings.temperature), step
        )
        metrics = evaluate(drawn, settings.pass_at).metrics() | self._split(drawn, settings.pass_at)
        if settings.greedy:
            likeliest = self._score_samples(sampler, 1, self._settings_for(step, 0.0), step)
            metrics["eval/greedy"] = _greedy(likeliest)
            for task, part in split_by(likeliest, lambda row: row.task).items():
                metrics |= {f"eval/task/{task}/greedy": _greedy(part)} if f"eval/task/{task}/reward" in metrics else {}
        return metrics

    def _split(self, drawn: Sequence[ScoredRollout], pass_at: Sequence[int]) -> dict[str, float]:
        """The same by task, where there are several, and the score by difficulty."""
        tasks = split_by(drawn, lambda row: row.task)
        found: dict[str, float] = {}
        for task, part in tasks.items() if len(tasks) > 1 else ():
            found |= evaluate(part, pass_at).metrics(f"eval/task/{task}/")
        for level, part in split_by(drawn, self.levels.label).items() if self.levels else ():
            score = evaluate(part).score
            found |= {} if score is None else {f"eval/difficulty/{level}": score}
        return found

    def sample_responses(self, sampler: Sampler) -> list[str]:
        """The likeliest responses to the first prompts, to be shown."""
        rows = self.prompts[: self.config.logging.samples]
        return sampler.sample(rows, 1, settings=self._settings_for(0, 0.0)).texts if rows else []

    def _settings_for(self, step: int, temperature: float) -> SamplingSettings:
        """The policy as it is is evaluated: nothing is cut or penalised."""
        seed = derive_seed(self.config.seed, "eval", step)
        return SamplingSettings(self.settings.max_new_tokens, temperature, stop=self.settings.stop, seed=seed)

    def _score_samples(
        self, sampler: Sampler, count: int, settings: SamplingSettings, step: int
    ) -> list[ScoredRollout]:
        found: list[ScoredRollout] = []
        for place, rows in enumerate(self._pieces(count)):
            seeded = replace(settings, seed=derive_seed(settings.seed, place))
            sampled = sampler.sample(rows, count, settings=seeded)
            found += map(Rollout, sampled.trajectories, self.judge.score(sampled.trajectories))
        return found

    def _pieces(self, count: int) -> Iterator[Prompts]:
        """The prompts in pieces that give no more responses at once than a training batch has."""
        size = max(1, self.config.batch_size // count)
        return (self.prompts[start : start + size] for start in range(0, len(self.prompts), size))


def split_by(
    scored: Iterable[ScoredRollout], key: Callable[[Trajectory], str | None]
) -> dict[str, list[ScoredRollout]]:
    """The samples by a key of their trajectories; those without one are left out."""
    parts: dict[str, list[ScoredRollout]] = defaultdict(list)
    for rollout in scored:
        if (name := key(rollout.trajectory)) is not None:
            parts[name].append(rollout)
    return dict(parts)


def _greedy(likeliest: Sequence[ScoredRollout]) -> float:
    found = evaluate(likeliest).metrics("")
    return found.get("score", found.get("reward", 0.0))


def _pass_at(groups: Sequence[Sequence[float]], k: int, right: float) -> float | None:
    return _mean([pass_at_k(len(group), sum(s >= right for s in group), k) for group in groups if len(group) >= k])


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _length(trajectory: Trajectory) -> float:
    """In tokens that the model chose, where they are known, else in words."""
    return float(len(trajectory.response.split()) if trajectory.tokens is None else trajectory.tokens.chosen)
