"""One batch of a step: prompts are sampled, responses scored, and groups that teach nothing replaced.

A batch follows from the config, the step and the weights alone: its random numbers come from the seed and the step, so
a resumed run draws what an uninterrupted one would have drawn.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.batches.filtering import filter_groups
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompt_stream import Stream
from plaudit.training.data.prompts import Prompts
from plaudit.training.sampling.sampler import Sampler, Samples, SamplingSettings
from plaudit.trajectory import Trajectory

__all__ = ["Batch", "Collector", "Scoring", "derive_seed"]


@dataclass(frozen=True, slots=True)
class Batch:
    """The sampled and scored responses of a step, groups side by side, and what was left out of it."""

    step: int
    sampled: Samples
    outputs: list[RewardOutput]
    left_out: list[ScoredRollout]
    reasons: dict[str, int]
    """Why how many groups were left out."""
    position: int
    """How many prompts had been taken from the stream when it was complete."""
    epoch: float
    """How often all prompts had been taken by then."""
    staleness: int
    """How many updates behind the policy was that drew it."""
    sample_s: float
    reward_s: float
    baselines: list[float | None] | None = None
    """What the likeliest response to each sample's prompt earned (None: not scored), where the estimator asks."""
    stream_state: dict[str, Any] = field(default_factory=dict)
    """What the stream of prompts must be restored to, so that the next batch follows this one."""
    stream_metrics: dict[str, float] = field(default_factory=dict)
    """What a curriculum tells of itself."""

    @property
    def scored(self) -> list[ScoredRollout]:
        """What is trained on, each response with its output."""
        return _with_outputs(self.sampled, self.outputs)


class Scoring(Protocol):
    """What scores the samples of a run."""

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...


class Collector:
    """Fills batches from a stream of prompts."""

    def __init__(self, stream: Stream, scorer: Scoring, config: RunConfig, *, settings: SamplingSettings) -> None:
        self.stream, self.scorer, self.config, self.settings = stream, scorer, config, settings

    def collect(self, step: int, sampler: Sampler, *, staleness: int = 0) -> Batch:
        """The batch of a step; where filtering leaves too few groups after all refills, it is smaller."""
        wanted = self.config.sampling.prompts_per_step
        kept: list[_Group] = []
        left_out: list[_Group] = []
        reasons: Counter[str] = Counter()
        sample_s = reward_s = 0.0
        for turn in range(1 + self.config.filter.max_refills):
            rows = self._rows(step, len(kept) + len(left_out), wanted - len(kept))
            began = time.perf_counter()
            sampled = self._sample(sampler, rows, step, turn)
            likeliest = self._sample_likeliest(sampler, rows)
            drawn = time.perf_counter()
            outputs = self.scorer.score(sampled.trajectories)
            baselines = None if likeliest is None else self.scorer.score(likeliest.trajectories)
            self._observe(outputs)
            sample_s, reward_s = sample_s + drawn - began, reward_s + time.perf_counter() - drawn
            for group in _groups(sampled, outputs, self.config.sampling.samples_per_prompt, baselines):
                judged = filter_groups(group.scored, self.config.filter)
                (kept if judged.kept else left_out).append(group)
                reasons.update(judged.dropped)
            if len(kept) == wanted:
                break
        return Batch(
            step=step,
            sampled=_join([group.sampled for group in kept]),
            outputs=[output for group in kept for output in group.outputs],
            left_out=[scored for group in left_out for scored in group.scored],
            reasons=dict(reasons),
            position=self.stream.position,
            epoch=self.stream.position / len(self.stream.prompts),
            staleness=staleness,
            sample_s=sample_s,
            reward_s=reward_s,
            baselines=[group.baseline for group in kept for _ in group.outputs] if self._wants_baselines else None,
            stream_state=self.stream.state(),
            stream_metrics=self.stream.metrics(),
        )

    def _observe(self, outputs: list[RewardOutput]) -> None:
        """Tell the stream how its prompts were answered; a sample that was not scored says nothing."""
        if self.config.curriculum.by == "none":
            return
        if any(output.ok and output.score is None for output in outputs):
            raise TrainingError(
                f"curriculum.by={self.config.curriculum.by} needs a score of every sample, and this reward gives none: "
                "let it return RewardOutput(reward, score=…), or use no curriculum"
            )
        size = self.config.sampling.samples_per_prompt
        groups = [outputs[start : start + size] for start in range(0, len(outputs), size)]
        self.stream.observe([[output.score for output in group if output.score is not None] for group in groups])

    @property
    def _wants_baselines(self) -> bool:
        return self.config.advantage == "remax"

    def _rows(self, step: int, before: int, count: int) -> Prompts:
        """The next prompts, each a group of its own even where a prompt comes twice."""
        rows = self.stream.prompts.pick(self.stream.places(count))
        return Prompts(
            tuple(
                msgspec.structs.replace(row, group=f"{step}-{before + place}", training_step=step)
                for place, row in enumerate(rows)
            )
        )

    def _sample(self, sampler: Sampler, rows: Prompts, step: int, turn: int) -> Samples:
        settings = replace(self.settings, seed=derive_seed(self.config.seed, "sample", step, turn))
        return sampler.sample(rows, self.config.sampling.samples_per_prompt, settings=settings)

    def _sample_likeliest(self, sampler: Sampler, rows: Prompts) -> Samples | None:
        if not self._wants_baselines:
            return None
        return sampler.sample(rows, 1, settings=replace(self.settings, temperature=0.0, seed=0))


@dataclass(frozen=True, slots=True)
class _Group:
    sampled: Samples
    outputs: list[RewardOutput]
    baseline: float | None = None

    @property
    def scored(self) -> list[ScoredRollout]:
        return _with_outputs(self.sampled, self.outputs)


def derive_seed(*parts: object) -> int:
    """A seed that follows from its parts: near seeds and steps have nothing in common."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest())


def _with_outputs(sampled: Samples, outputs: list[RewardOutput]) -> list[ScoredRollout]:
    return [Rollout(*pair) for pair in zip(sampled.trajectories, outputs, strict=True)]


def _groups(
    sampled: Samples, outputs: list[RewardOutput], size: int, baselines: list[RewardOutput] | None
) -> Iterator[_Group]:
    for place, start in enumerate(range(0, len(outputs), size)):
        part = slice(start, start + size)
        ids = None if sampled.prompt_ids is None else sampled.prompt_ids[part]
        baseline = None if baselines is None else baselines[place].reward
        yield _Group(Samples(sampled.trajectories[part], ids), outputs[part], baseline)


def _join(parts: list[Samples]) -> Samples:
    trajectories = [trajectory for part in parts for trajectory in part.trajectories]
    if any(part.prompt_ids is None for part in parts):
        return Samples(trajectories)
    return Samples(trajectories, [ids for part in parts for ids in part.prompt_ids or []])
