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

__all__ = [
    "BoxesReward", "CitationsReward", "QuotesReward", "CountReward", "IfBenchReward", "PointsReward",
    "ChoiceReward", "ContainsReward", "CountdownReward", "IfEvalReward", "IfTrainReward", "KnightsKnavesReward",
    "LanguageReward", "LengthTargetReward", "McqReward", "QaReward", "QuantityReward", "RegexReward", "SqlReward",
    "SudokuReward", "TableF1Reward", "ToolCallReward", "WerReward",
]  # fmt: skip


class McqReward(Mcq, VerifierReward):
    __doc__ = Mcq.__doc__
    pure = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "bounds", (min(0.0, self.abstention), 1.0))

    def value_of(self, verdict: Verdict, score: float) -> float:
        return self.abstention if verdict.details.get(ABSTAINED) else score


class ChoiceReward(Choice, VerifierReward):
    __doc__ = Choice.__doc__
    pure = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "bounds", (min(0.0, self.abstention), 1.0))

    def value_of(self, verdict: Verdict, score: float) -> float:
        return self.abstention if verdict.details.get(ABSTAINED) else score


class QaReward(Qa, VerifierReward):
    __doc__ = Qa.__doc__


class IfBenchReward(IfBench, VerifierReward):
    __doc__ = IfBench.__doc__


class IfEvalReward(IfEval, VerifierReward):
    __doc__ = IfEval.__doc__


class IfTrainReward(IfTrain, VerifierReward):
    __doc__ = IfTrain.__doc__


class LanguageReward(Language, VerifierReward):
    __doc__ = Language.__doc__


class CountdownReward(Countdown, VerifierReward):
    __doc__ = Countdown.__doc__


class SudokuReward(Sudoku, VerifierReward):
    __doc__ = Sudoku.__doc__


class KnightsKnavesReward(KnightsKnaves, VerifierReward):
    __doc__ = KnightsKnaves.__doc__


class LengthTargetReward(LengthTarget, VerifierReward):
    __doc__ = LengthTarget.__doc__


class WerReward(Wer, VerifierReward):
    __doc__ = Wer.__doc__


class QuantityReward(Quantity, VerifierReward):
    __doc__ = Quantity.__doc__


class TableF1Reward(TableF1, VerifierReward):
    __doc__ = TableF1.__doc__


class ContainsReward(Contains, VerifierReward):
    __doc__ = Contains.__doc__


class RegexReward(Regex, VerifierReward):
    __doc__ = Regex.__doc__


class ToolCallReward(ToolCalls, VerifierReward):
    __doc__ = ToolCalls.__doc__
    pure = True


class BoxesReward(Boxes, VerifierReward):
    __doc__ = Boxes.__doc__


class PointsReward(Points, VerifierReward):
    __doc__ = Points.__doc__


class CountReward(Count, VerifierReward):
    __doc__ = Count.__doc__


class SqlReward(Sql, VerifierReward):
    __doc__ = Sql.__doc__
    max_batch = 32

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        return [self.output(verdict) for verdict in self.verify_samples(trajectories)]


class CitationsReward(Citations, VerifierReward):
    __doc__ = Citations.__doc__


class QuotesReward(Quotes, VerifierReward):
    __doc__ = Quotes.__doc__
