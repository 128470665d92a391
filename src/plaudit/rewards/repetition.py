"""Penalise saying the same again: −p · (1 − different / all) over runs of n words.

Case and punctuation do not make a run different. A response too short for one run is not penalised.
"""

from dataclasses import dataclass, field

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidSettings
from plaudit.settings import check_number, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.text import bare_words, ngrams


@dataclass(frozen=True, repr=False)
class RepetitionPenalty(RewardFunction):
    """0.0 when no run of `ngram` words repeats, down to −`max_penalty` when nearly all do."""

    deterministic = True
    pure = True

    ngram: int = 3
    max_penalty: float = 1.0
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.ngram, int) or self.ngram < 1:
            raise InvalidSettings(f"ngram is a number of words, 1 or more, got {self.ngram!r}")
        check_number("max_penalty", self.max_penalty, above=0)
        set_field(self, "bounds", (-float(self.max_penalty), 0.0))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        runs = ngrams(bare_words(trajectory.response), self.ngram)
        if not runs:
            return RewardOutput(0.0, reason=f"fewer than {self.ngram} words")
        repeats = len(runs) - len(set(runs))
        reason = f"{repeats} of {len(runs)} runs of {self.ngram} words are repeats"
        return RewardOutput(-self.max_penalty * repeats / len(runs) if repeats else 0.0, reason=reason)
