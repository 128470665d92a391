"""Each verifier as a reward; settings and documentation are those of the verifier."""

from plaudit.rewards.verifiers.verifier_reward import VerifierReward
from plaudit.verify.texts.matching import Contains, Regex

__all__ = ["ContainsReward", "RegexReward"]


class RegexReward(Regex, VerifierReward):
    __doc__ = Regex.__doc__


class ContainsReward(Contains, VerifierReward):
    __doc__ = Contains.__doc__
