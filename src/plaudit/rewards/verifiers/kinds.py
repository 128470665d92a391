"""Each verifier as a reward; settings and documentation are those of the verifier."""

from plaudit.rewards.verifiers.verifier_reward import VerifierReward
from plaudit.settings import set_field
from plaudit.verify.answers.mcq import ABSTAINED, Choice, Mcq
from plaudit.verify.answers.qa import Qa
from plaudit.verify.texts.matching import Contains, Regex
from plaudit.verify.verifier import Verdict

__all__ = ["ChoiceReward", "ContainsReward", "McqReward", "QaReward", "RegexReward"]


class McqReward(Mcq, VerifierReward):
    __doc__ = Mcq.__doc__

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "bounds", (min(0.0, self.abstention), 1.0))

    def value_of(self, verdict: Verdict, score: float) -> float:
        return self.abstention if verdict.details.get(ABSTAINED) else score


class ChoiceReward(Choice, VerifierReward):
    __doc__ = Choice.__doc__

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "bounds", (min(0.0, self.abstention), 1.0))

    def value_of(self, verdict: Verdict, score: float) -> float:
        return self.abstention if verdict.details.get(ABSTAINED) else score


class QaReward(Qa, VerifierReward):
    __doc__ = Qa.__doc__


class ContainsReward(Contains, VerifierReward):
    __doc__ = Contains.__doc__


class RegexReward(Regex, VerifierReward):
    __doc__ = Regex.__doc__
