"""A language model as a reward: it rates a response, compares two, or ranks a whole group.

A failed, refused, cut off, unreadable or contradictory verdict is a status with its reason, never a number.

A panel asks several judges about the same samples: their median counts, and where they disagree too much there is no
score.
"""

import asyncio
import statistics
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import msgspec

from plaudit.contract.combination import CompoundReward
from plaudit.contract.failures import attempt
from plaudit.contract.function import RewardFunction, RewardLike
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import ChatConnection, ChatEndpoint, report_calls
from plaudit.judges.comparing import Comparison
from plaudit.judges.rating import Rating, Votes, rate
from plaudit.judges.rubric import UNNAMED, YES_NO, Criterion, Rubric, RubricLike, read_criteria, read_rubric
from plaudit.judges.texts import Refused, SampleTexts, TextLimits
from plaudit.settings import Count, check_fields, check_number, read_settings
from plaudit.trajectory import Trajectory

Mode: TypeAlias = Literal["pointwise", "pairwise", "ranked"]
CALLS_AHEAD = 8
"""The batch size of a judge as a multiple of its endpoint's concurrency, so that few calls wait for the slowest."""
DEFAULT_RUBRIC = Rubric((Criterion(UNNAMED),))


@dataclass(frozen=True, eq=False, repr=False)
class RubricJudge(TextLimits, Votes, RewardFunction):
    """Base of judges: the endpoint, the rubric, and the settings for texts and votes."""

    endpoint: ChatEndpoint | dict[str, Any]
    rubric: RubricLike | None = None
    _: KW_ONLY
    reproducible: bool = False
    """True promises that the server gives equal answers to equal questions, so that scores may be cached."""

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        self._set("endpoint", read_settings(ChatEndpoint, self.endpoint, "endpoint"))
        check_fields(self)
        self.request_fields(self.chat_endpoint)
        self._set("deterministic", self.reproducible)
        self._set("max_batch", CALLS_AHEAD * self.chat_endpoint.channel.policy.concurrency)

    async def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs of some samples; all requests run at once within the limits of the endpoint."""
        async with self.chat_endpoint.connect() as connection:
            calls = [attempt(self.name, partial(self._judge, connection, each)) for each in trajectories]
            return list(await asyncio.gather(*calls))

    async def _judge(self, connection: ChatConnection, trajectory: Trajectory) -> RewardOutput:
        began = time.perf_counter()
        try:
            texts = self.read_texts(trajectory)
        except Refused as refused:
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {refused}")
        output = await self._judge_texts(connection, texts, trajectory)
        return msgspec.structs.replace(output, latency_s=time.perf_counter() - began)

    @abstractmethod
    async def _judge_texts(
        self, connection: ChatConnection, texts: SampleTexts, trajectory: Trajectory
    ) -> RewardOutput:
        """The output of one sample, whose texts are within the limits."""

    @property
    def chat_endpoint(self) -> ChatEndpoint:
        """The endpoint, once it is one."""
        assert isinstance(self.endpoint, ChatEndpoint)
        return self.endpoint

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        rubric = self.rubric.name if isinstance(self.rubric, Rubric) else ""
        return f"{type(self).__name__}({', '.join(filter(None, [self.chat_endpoint.model, rubric]))})"


@dataclass(frozen=True, eq=False, repr=False)
class LLMJudge(RubricJudge):
    """A judge at an endpoint: `LLMJudge(ChatEndpoint(url, model), rubric="helpful.yaml")`.

    "pointwise" rates each response by the rubric. "pairwise" compares the responses of a group two by two, each pair in
    both orders; "ranked" ranks the group in one call. The reward is a share of the scale, of wins, or of the ranks.
    """

    _: KW_ONLY
    mode: Mode = "pointwise"
    opponents: Count | None = None
    """With how many others of its group a response is compared; None: with all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("rubric", DEFAULT_RUBRIC if self.rubric is None else read_rubric(self.rubric))
        if self.opponents is not None and self.mode != "pairwise":
            raise InvalidSettings(f"opponents is for mode='pairwise', got mode={self.mode!r}")
        if self.mode == "pairwise" and self.votes > 1:
            raise InvalidSettings(
                "mode='pairwise' asks about each pair twice, in both orders; votes are for other modes"
            )
        self._set("scope", "sample" if self.mode == "pointwise" else "group")
        if self._criteria.name:
            self._set("name", self._criteria.name)

    @property
    def _criteria(self) -> Rubric:
        assert isinstance(self.rubric, Rubric)
        return self.rubric

    async def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs of some samples, or of one group where the mode compares."""
        if self.mode == "pointwise":
            return await super().compute_rewards(trajectories)
        comparison = Comparison(self.name, self.chat_endpoint, self._criteria, self, self, self.opponents)
        async with self.chat_endpoint.connect() as connection:
            compare = comparison.rank if self.mode == "ranked" else comparison.compare_pairs
            return await compare(connection, trajectories)

    async def _judge_texts(
        self, connection: ChatConnection, texts: SampleTexts, trajectory: Trajectory
    ) -> RewardOutput:
        rubric = self._criteria
        if texts.is_empty:
            return _empty_output(rubric, texts)
        rating = await rate(connection, self.chat_endpoint, texts, rubric, self)
        metadata = {
            **report_calls(rating.outcomes),
            "model": self.chat_endpoint.model,
            **_note_changes([rating], texts),
        }
        return _combine_criteria(self.name, rubric, rating.outputs, texts, rating.reasoning, metadata)


@dataclass(frozen=True, eq=False, repr=False)
class RubricReward(RubricJudge):
    """The share of the criteria that a response meets: `RubricReward(endpoint, "criteria.yaml")`.

    Each criterion is judged in a call of its own and reported as a component (Gunjal et al. 2025, "Rubrics as
    Rewards"; negative weights as in HealthBench). Criteria without a scale are met or not. The reward is
    Σ weight · share over the sum of the positive weights, clipped to [0, 1]; if one criterion could not be judged, the
    sample is not scored.
    """

    _: KW_ONLY
    column: str | None = None
    """The column or the key of the metadata in which each sample has its own criteria."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.rubric is None) == (self.column is None):
            raise InvalidSettings("RubricReward needs a rubric, or the column that holds the criteria of each sample")
        if self.rubric is not None:
            rubric = read_rubric(self.rubric, scale=YES_NO)
            self._set("rubric", rubric)
            if rubric.name:
                self._set("name", rubric.name)

    async def _judge_texts(
        self, connection: ChatConnection, texts: SampleTexts, trajectory: Trajectory
    ) -> RewardOutput:
        try:
            rubric = self._rubric_of(trajectory)
        except InvalidSettings as error:
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {error}")
        if texts.is_empty:
            return _empty_output(rubric, texts)
        alone = [replace(rubric, criteria=(replace(each, weight=1.0),), examples=()) for each in rubric.criteria]
        ratings = await asyncio.gather(*(rate(connection, self.chat_endpoint, texts, each, self) for each in alone))
        outputs = [_with_reasoning(rating) for rating in ratings]
        outcomes = [outcome for rating in ratings for outcome in rating.outcomes]
        metadata = {**report_calls(outcomes), "model": self.chat_endpoint.model, **_note_changes(ratings, texts)}
        return _combine_criteria(self.name, rubric, outputs, texts, _summary(rubric, outputs), metadata)

    def _rubric_of(self, trajectory: Trajectory) -> Rubric:
        if isinstance(self.rubric, Rubric):
            return self.rubric
        name = str(self.column)
        criteria = trajectory.columns.get(name, trajectory.metadata.get(name))
        if criteria is None:
            raise InvalidSettings(f"the sample has no criteria: neither a column nor metadata called {name!r}")
        return Rubric(read_criteria(criteria, scale=YES_NO))


def _combine_criteria(
    name: str,
    rubric: Rubric,
    outputs: Sequence[RewardOutput],
    texts: SampleTexts,
    reasoning: str,
    metadata: dict[str, Any],
) -> RewardOutput:
    """Combine the outputs of the criteria; unscored if one of them is. With a reference, the output has a score."""
    single = len(outputs) == 1
    components = {} if single else {each.name: part for each, part in zip(rubric.criteria, outputs, strict=True)}
    failed = next(((each.name, part) for each, part in zip(rubric.criteria, outputs, strict=True) if not part.ok), None)
    metadata = {**outputs[0].metadata, **metadata} if single else metadata
    if failed is not None:
        reason = f"{name}: {failed[1].reason}"
        return RewardOutput.unscored(failed[1].status, reason, metadata=metadata, components=components)
    value = rubric.combine([part.reward for part in outputs if part.reward is not None])
    score = value if texts.reference is not None else None
    return RewardOutput(value, score=score, reason=reasoning, metadata=metadata, components=components)


def _empty_output(rubric: Rubric, texts: SampleTexts) -> RewardOutput:
    """The lowest reward, for a response that shows a reader nothing: there is nothing to ask about."""
    parts = [RewardOutput(0.0) for _ in rubric.criteria]
    return _combine_criteria("", rubric, parts, texts, "the response is empty; the judge was not asked", {})


def _note_changes(ratings: Sequence[Rating], texts: SampleTexts) -> dict[str, Any]:
    """Metadata on texts that were changed or shortened for the judge."""
    changes = dict(ratings[0].changes) if ratings else {}
    if texts.left_out:
        changes["left_out"] = texts.left_out
    return {"changed": changes} if changes else {}


def _with_reasoning(rating: Rating) -> RewardOutput:
    [output] = rating.outputs
    return msgspec.structs.replace(output, reason=rating.reasoning) if output.ok else output


def _summary(rubric: Rubric, outputs: Sequence[RewardOutput]) -> str:
    if len(outputs) == 1:
        return outputs[0].reason
    met = [criterion.name for criterion, output in zip(rubric.criteria, outputs, strict=True) if output.reward == 1.0]
    return f"fully met: {', '.join(met) or 'none'}"


class JudgePanel(CompoundReward):
    """The median of judges on one scale: `JudgePanel([judge_a, judge_b, judge_c], max_spread=0.4)`.

    All are asked at once, and each is a component under its name. More than half of them must have a verdict; those
    that lie further apart than `max_spread` leave the sample unparsed.
    """

    def __init__(self, judges: Sequence[RewardLike], *, max_spread: float = 0.5, name: str = "JudgePanel") -> None:
        if not isinstance(judges, list | tuple) or len(judges) < 2:
            raise InvalidSettings("a panel is a list of at least two judges")
        check_number("max_spread", max_spread, least=0)
        self.set_parts(judges)
        self.judges = list(self.parts)
        self.max_spread, self.name = float(max_spread), name
        self.judge_names = _names(self.judges)
        bounds = {judge.bounds for judge in self.judges}
        if len(bounds) > 1:
            shown = ", ".join(
                f"{name} {judge.bounds}" for name, judge in zip(self.judge_names, self.judges, strict=True)
            )
            raise InvalidSettings(f"the judges of a panel rate on one scale; these do not: {shown}")
        self.bounds = next(iter(bounds))

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        parts = outputs
        components = dict(zip(self.judge_names, parts, strict=True))
        values = [part.reward for part in parts if part.reward is not None]
        if 2 * len(values) <= len(parts):
            name, failed = next((name, part) for name, part in components.items() if not part.ok)
            reason = f"{len(parts) - len(values)} of {len(parts)} judges gave no verdict; {name}: {failed.reason}"
            return RewardOutput.unscored(failed.status, reason, components=components)
        shown = ", ".join(f"{name} {part.reward:.2f}" for name, part in components.items() if part.reward is not None)
        if max(values) - min(values) > self.max_spread:
            return RewardOutput.unscored(Status.UNPARSED, f"the judges disagree: {shown}", components=components)
        scores = [part.score for part in parts if part.score is not None]
        silent = ", ".join(name for name, part in components.items() if not part.ok)
        return RewardOutput(
            statistics.median(values),
            score=statistics.median(scores) if scores else None,
            reason=f"{shown}; without {silent}" if silent else shown,
            metadata={"spread": max(values) - min(values)},
            components=components,
        )

    def __repr__(self) -> str:
        return f"JudgePanel({', '.join(map(repr, self.judges))})"


def _names(judges: Sequence[RewardFunction]) -> list[str]:
    """The names of the judges; equal names are numbered."""
    names = [judge.name for judge in judges]
    return [
        name if names.count(name) == 1 else f"{name}_{names[: index + 1].count(name)}"
        for index, name in enumerate(names)
    ]
