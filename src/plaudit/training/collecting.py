"""One batch of a step: prompts are sampled, responses scored, and groups without a learning signal replaced.

A batch follows from the config, the step and the weights alone: its random numbers come from the seed and the step, so
a resumed run draws what an uninterrupted one would have drawn.
"""

import statistics
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.config.schema import FilterConfig, RunConfig, SamplingSettings
from plaudit.training.data.prompts import Prompts, Stream
from plaudit.training.sampling.sampler import Sampler, Samples, derive_seed
from plaudit.trajectory import GroupKey, Trajectory

if TYPE_CHECKING:  # it needs torch
    from plaudit.training.model.policy import Policy


@dataclass(frozen=True, slots=True)
class Batch:
    """The sampled and scored responses of a step, group by group, and those that were filtered out."""

    step: int
    sampled: Samples
    outputs: list[RewardOutput]
    left_out: list[ScoredRollout]
    reasons: dict[str, int]
    """The number of groups left out, by reason."""
    position: int
    """The number of prompts taken from the stream when the batch was complete."""
    epoch: float
    """The number of passes over all prompts by then."""
    staleness: int
    """The number of updates since the weights of the sampling policy."""
    sample_s: float
    reward_s: float
    stream_state: dict[str, Any] = field(default_factory=dict)
    """The state of the prompt stream after this batch."""
    stream_metrics: dict[str, float] = field(default_factory=dict)
    """The metrics of a curriculum."""

    @property
    def scored(self) -> list[ScoredRollout]:
        """The responses that are trained on, each with its output."""
        return list(map(Rollout, self.sampled.trajectories, self.outputs))


class Scoring(Protocol):
    """Scores the samples of a run."""

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
        size = self.config.sampling.samples_per_prompt
        kept: list[ScoredRollout] = []
        prompt_ids: list[list[int]] = []
        left_out: list[ScoredRollout] = []
        reasons: Counter[str] = Counter()
        sample_s = reward_s = 0.0
        for turn in range(1 + self.config.filter.max_refills):
            taken = len(kept) // size
            rows = self._rows(step, taken + len(left_out) // size, wanted - taken)
            began = time.perf_counter()
            sampled = self._sample(sampler, rows, step, turn)
            drawn = time.perf_counter()
            outputs = self.scorer.score(sampled.trajectories)
            self._observe(outputs)
            sample_s, reward_s = sample_s + drawn - began, reward_s + time.perf_counter() - drawn
            filtered = filter_groups(zip(sampled.trajectories, outputs, strict=True), self.config.filter)
            kept, left_out = [*kept, *filtered.kept], [*left_out, *filtered.left_out]
            reasons.update(filtered.dropped)
            stay = {rollout.trajectory.group for rollout in filtered.kept}
            pairs = zip(sampled.trajectories, sampled.prompt_ids or (), strict=False)
            prompt_ids += [ids for trajectory, ids in pairs if trajectory.group in stay]
            if len(kept) == wanted * size:
                break
        return Batch(
            step=step,
            sampled=Samples([each.trajectory for each in kept], prompt_ids if len(prompt_ids) == len(kept) else None),
            outputs=[each.output for each in kept],
            left_out=left_out,
            reasons=dict(reasons),
            position=self.stream.position,
            epoch=self.stream.position / len(self.stream.prompts),
            staleness=staleness,
            sample_s=sample_s,
            reward_s=reward_s,
            stream_state=self.stream.state(),
            stream_metrics=self.stream.metrics(),
        )

    def _observe(self, outputs: list[RewardOutput]) -> None:
        """Report scores to the stream of prompts; unscored samples are left out."""
        if self.config.curriculum.by == "none":
            return
        _require_scores(outputs, f"curriculum.by={self.config.curriculum.by}", "use no curriculum")
        size = self.config.sampling.samples_per_prompt
        groups = [outputs[start : start + size] for start in range(0, len(outputs), size)]
        self.stream.observe([[output.score for output in group if output.score is not None] for group in groups])

    def _rows(self, step: int, before: int, count: int) -> Prompts:
        """The next prompts, each a group of its own even where a prompt comes twice."""
        rows = self.stream.prompts.pick(self.stream.indices(count))
        return Prompts(
            tuple(
                msgspec.structs.replace(row, group=f"{step}-{before + index}", training_step=step)
                for index, row in enumerate(rows)
            )
        )

    def _sample(self, sampler: Sampler, rows: Prompts, step: int, turn: int) -> Samples:
        settings = msgspec.structs.replace(self.settings, seed=derive_seed(self.config.seed, "sample", step, turn))
        return sampler.sample(rows, self.config.sampling.samples_per_prompt, settings=settings)


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The samples of the groups that stay and of those left out, and how many groups were left out for each reason."""

    kept: list[ScoredRollout]
    left_out: list[ScoredRollout]
    dropped: dict[str, int]


def filter_groups(scored: Iterable[tuple[Trajectory, RewardOutput]], settings: FilterConfig) -> FilterResult:
    """Keep the groups with a learning signal, in their order.

    by="mean" keeps a group when low < mean(scores) < high, by="spread" when max − min of its scores exceeds min_spread.
    The bounds themselves are outside, so that 0 and 1 drop the groups that are all wrong and all right (DAPO's dynamic
    sampling, arXiv:2503.14476).
    """
    groups: dict[GroupKey, list[ScoredRollout]] = defaultdict(list)
    for trajectory, output in scored:
        groups[trajectory.group_key].append(Rollout(trajectory, output))
    kept: list[ScoredRollout] = []
    left_out: list[ScoredRollout] = []
    dropped: Counter[str] = Counter()
    for members in groups.values():
        reason = _reason_to_drop([output for _, output in members], settings)
        if reason:
            dropped[reason] += 1
        (left_out if reason else kept).extend(members)
    return FilterResult(kept, left_out, dict(dropped))


def _require_scores(outputs: Iterable[RewardOutput], what: str, remedy: str) -> None:
    if any(output.ok and output.score is None for output in outputs):
        raise TrainingError(
            f"{what} needs a score of every sample, and this reward gives none: let it return "
            f"RewardOutput(reward, score=…), or {remedy}"
        )


def _reason_to_drop(outputs: Sequence[RewardOutput], settings: FilterConfig) -> str:
    """The reason why a group is left out; the empty string when it stays."""
    if settings.by == "none":
        return ""
    _require_scores(outputs, f"filtering by {settings.by}", "do not filter")
    scores = [output.score for output in outputs if output.score is not None]
    if not scores:
        return "not scored"
    if settings.by == "spread":
        return "" if max(scores) - min(scores) > settings.min_spread else "all alike"
    mean = statistics.fmean(scores)
    if mean <= settings.low:
        return "too hard"
    return "too easy" if mean >= settings.high else ""


class SequentialBatches:
    """Batches one by one, each drawn when it is wanted."""

    def __init__(self, collector: Collector, sampler: Sampler) -> None:
        self._collector, self._sampler = collector, sampler

    def next(self, step: int) -> Batch:
        """The batch of a step, drawn with the current policy."""
        return self._collector.collect(step, self._sampler)

    def close(self) -> None:
        """Does nothing."""


class PrefetchedBatches:
    """Batches drawn early by a copy of the policy, at each step up to `last_prefetchable_step(step)`."""

    def __init__(
        self,
        collector: Collector,
        policy: "Policy",
        *,
        build_sampler: "Callable[[Policy], Sampler]",
        max_staleness: int,
        last_prefetchable_step: Callable[[int], int],
    ) -> None:
        self._collector, self._policy = collector, policy
        self._copy = policy.copy()
        self._sampler = build_sampler(self._copy)
        self._max_staleness, self._last_prefetchable_step = max_staleness, last_prefetchable_step
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="plaudit-prefetch")
        self._pending: deque[Future[Batch]] = deque()
        self._requested = 0

    def next(self, step: int) -> Batch:
        """The batch of a step; batches of the steps after it are requested, with the current policy."""
        self._requested = max(self._requested, step - 1)
        if not self._pending:
            self._request(step, step)
        batch = self._pending.popleft().result()
        for ahead in range(
            self._requested + 1, min(step + self._max_staleness, self._last_prefetchable_step(step)) + 1
        ):
            self._request(ahead, step)
        return batch

    def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _request(self, step: int, now: int) -> None:
        weights = self._policy.state()
        self._requested = step

        def collect() -> Batch:
            self._copy.restore(weights)
            return self._collector.collect(step, self._sampler, staleness=step - now)

        self._pending.append(self._thread.submit(collect))
