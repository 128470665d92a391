"""Each verifier as a reward; settings and documentation are those of the verifier."""

from collections.abc import Sequence

from plaudit.contract.output import RewardOutput
from plaudit.rewards.verifiers.verifier_reward import VerifierReward
from plaudit.settings import set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.count import Count
from plaudit.verify.answers.mcq import ABSTAINED, Choice, Mcq
from plaudit.verify.answers.qa import Qa
from plaudit.verify.answers.quantities import Quantity
from plaudit.verify.citations.cited_sentences import Citations
from plaudit.verify.citations.quotes import Quotes
from plaudit.verify.geometry.bounding_boxes import Boxes
from plaudit.verify.geometry.points import Points
from plaudit.verify.instructions.following import IfBench, IfEval, IfTrain
from plaudit.verify.puzzles import Countdown, KnightsKnaves, Sudoku
from plaudit.verify.sql.sql import Sql
from plaudit.verify.texts.language import Language
from plaudit.verify.texts.length_target import LengthTarget
from plaudit.verify.texts.matching import Contains, Regex
from plaudit.verify.texts.tables import TableF1
from plaudit.verify.texts.wer import Wer
from plaudit.verify.tools.tool_call import ToolCalls
from plaudit.verify.verifier import Verdict


class _Abstaining:
    """Pays `abstention` for an answer that declares ignorance."""

    abstention: float
    pure = True

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]  # the verifier's
        set_field(self, "bounds", (min(0.0, self.abstention), 1.0))

    def value_of(self, verdict: Verdict, score: float) -> float:
        return self.abstention if verdict.details.get(ABSTAINED) else score


class McqReward(_Abstaining, Mcq, VerifierReward): ...


class ChoiceReward(_Abstaining, Choice, VerifierReward): ...


class QaReward(Qa, VerifierReward): ...


class IfBenchReward(IfBench, VerifierReward): ...


class IfEvalReward(IfEval, VerifierReward): ...


class IfTrainReward(IfTrain, VerifierReward): ...


class LanguageReward(Language, VerifierReward): ...


class CountdownReward(Countdown, VerifierReward): ...


class SudokuReward(Sudoku, VerifierReward): ...


class KnightsKnavesReward(KnightsKnaves, VerifierReward): ...


class LengthTargetReward(LengthTarget, VerifierReward): ...


class WerReward(Wer, VerifierReward): ...


class QuantityReward(Quantity, VerifierReward): ...


class TableF1Reward(TableF1, VerifierReward): ...


class ContainsReward(Contains, VerifierReward): ...


class RegexReward(Regex, VerifierReward): ...


class ToolCallReward(ToolCalls, VerifierReward):
    pure = True


class BoxesReward(Boxes, VerifierReward): ...


class PointsReward(Points, VerifierReward): ...


class CountReward(Count, VerifierReward): ...


class SqlReward(Sql, VerifierReward):
    max_batch = 32

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        return [self.output(verdict) for verdict in self.verify_samples(trajectories)]


class CitationsReward(Citations, VerifierReward): ...


class QuotesReward(Quotes, VerifierReward): ...
