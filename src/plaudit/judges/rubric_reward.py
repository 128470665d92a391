"""Rubrics as rewards: every criterion is judged in a call of its own and reported as a component.

(Gunjal et al. 2025, "Rubrics as Rewards"; negative weights as in HealthBench.) The criteria stand in a file, or with
each sample in a column of the data.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import ChatConnection
from plaudit.judges.judgement import report_calls
from plaudit.judges.llm_judge import RubricJudge, combine_criteria, empty_output, note_changes
from plaudit.judges.rating import Rating, rate
from plaudit.judges.rubric import YES_NO, Rubric, read_criteria, read_rubric
from plaudit.judges.sample_texts import SampleTexts
from plaudit.trajectory import Trajectory

__all__ = ["RubricReward"]


@dataclass(frozen=True, eq=False, repr=False)
class RubricReward(RubricJudge):
    """A share of the criteria that a response meets: `RubricReward(endpoint, "criteria.yaml")`.

    Criteria without a scale are met or not. The reward is Σ weight · share over the sum of the positive weights, kept
    within 0 and 1; where one criterion could not be judged the sample is not scored.
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
            return empty_output(rubric, texts)
        alone = [replace(rubric, criteria=(replace(each, weight=1.0),), examples=()) for each in rubric.criteria]
        ratings = await asyncio.gather(*(rate(connection, self.at, texts, each, self.voting) for each in alone))
        outputs = [_with_reasoning(rating) for rating in ratings]
        judgements = [judgement for rating in ratings for judgement in rating.judgements]
        metadata = {**report_calls(judgements), "model": self.at.model, **note_changes(ratings, texts)}
        return combine_criteria(self.name, rubric, outputs, texts, _summary(rubric, outputs), metadata)

    def _rubric_of(self, trajectory: Trajectory) -> Rubric:
        if isinstance(self.rubric, Rubric):
            return self.rubric
        name = str(self.column)
        given = trajectory.columns.get(name, trajectory.metadata.get(name))
        if given is None:
            raise InvalidSettings(f"the sample has no criteria: neither a column nor metadata called {name!r}")
        return Rubric(read_criteria(given, scale=YES_NO))


def _with_reasoning(rating: Rating) -> RewardOutput:
    [output] = rating.outputs
    return msgspec.structs.replace(output, reason=rating.reasoning) if output.ok else output


def _summary(rubric: Rubric, outputs: Sequence[RewardOutput]) -> str:
    met = [criterion.name for criterion, output in zip(rubric.criteria, outputs, strict=True) if output.reward == 1.0]
    return f"fully met: {', '.join(met) or 'none'}"
