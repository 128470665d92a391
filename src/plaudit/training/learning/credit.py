"""Where in a response its reward was earned: at single tokens, at the ends of steps, or by the outcome as a whole.

The reward of a sample is what it earned in total: what its token or step rewards do not explain is its outcome. So a
reward that gives token rewards is not counted twice, and nothing is lost.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from plaudit.contract.alignment import token_rewards_of
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidAdvantage, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["CREDITS", "Credit", "CreditBy", "credit_of", "gae", "returns"]

CreditBy: TypeAlias = Literal["outcome", "tokens", "steps"]


@dataclass(frozen=True, slots=True)
class Credit:
    """What one sample earned: `tokens` has one number per token of the response, `outcome` is earned by all of it.

    `chosen` is 1 on tokens that the policy chose and 0 on those it was given, as in `Tokens.mask`.
    """

    outcome: float
    tokens: Sequence[float]
    chosen: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.chosen):
            raise InvalidAdvantage(f"{len(self.tokens)} token rewards but {len(self.chosen)} mask values")
        if not all(map(math.isfinite, (self.outcome, *self.tokens))):
            raise InvalidAdvantage("a credit is made of finite numbers; a sample without a reward has no credit, None")

    @classmethod
    def whole(cls, reward: float, length: int = 1) -> "Credit":
        """All of the reward for the outcome, over `length` chosen tokens."""
        return cls(reward, [0.0] * length, [1] * length)

    @property
    def total(self) -> float:
        return self.outcome + math.fsum(self.tokens)

    @property
    def length(self) -> int:
        """How many tokens the policy chose."""
        return sum(1 for chosen in self.chosen if chosen)

    @property
    def has_token_rewards(self) -> bool:
        return any(self.tokens)

    def less(self, penalties: Sequence[float]) -> "Credit":
        """The credit after a penalty per token, such as β · KL; tokens that were not chosen pay nothing."""
        if len(penalties) != len(self.tokens):
            raise InvalidAdvantage(f"{len(penalties)} penalties for a response of {len(self.tokens)} tokens")
        paid = [
            reward - penalty if chosen else reward
            for reward, penalty, chosen in zip(self.tokens, penalties, self.chosen, strict=True)
        ]
        return replace(self, tokens=paid)


def credit_of(trajectory: Trajectory, output: RewardOutput, by: CreditBy = "tokens") -> Credit | None:
    """Where the sample's reward was earned; None when it was not scored.

    `by="tokens"` takes the output's token rewards where there are any, `"steps"` the trajectory's step rewards, each
    at the last token of its step, and `"outcome"` neither.
    """
    if by not in CREDITS:
        raise InvalidAdvantage(f"no credit by {by!r}{did_you_mean(by, CREDITS)} (there is {', '.join(CREDITS)})")
    if output.reward is None:
        return None
    if trajectory.tokens is None:
        raise InvalidAdvantage("the trajectory carries no tokens, so nothing can be credited; sample it with a Sampler")
    chosen = trajectory.tokens.mask or [1] * len(trajectory.tokens)
    tokens = CREDITS[by](trajectory, output, chosen) or [0.0] * len(chosen)
    return Credit(output.reward - math.fsum(tokens), tokens, chosen)


def returns(credit: Credit, *, gamma: float = 1.0) -> list[float]:
    """What the sample still earned from each token on, later rewards discounted by `gamma` per token.

    >>> returns(Credit(1.0, [0.0, 0.5, 0.0], [1, 1, 1]))
    [1.5, 1.5, 1.0]
    """
    to_go, ahead = [0.0] * len(credit.tokens), credit.outcome
    for place in range(len(to_go) - 1, -1, -1):
        ahead = credit.tokens[place] + ahead
        to_go[place] = ahead
        ahead *= gamma if credit.chosen[place] else 1.0  # tokens that were given take no time
    return to_go


def gae(credit: Credit, values: Sequence[float], *, gamma: float = 1.0, lam: float = 0.95) -> list[float]:
    """Generalised advantage estimation, δ_t = r_t + γ V_{t+1} − V_t and A_t = δ_t + γ λ A_{t+1} (arXiv:1506.02438).

    The outcome is earned at the last chosen token. Tokens that were not chosen are no steps of the process: they are
    passed over, a reward on one counts for the chosen token before it, and their advantage is 0.
    """
    if len(values) != len(credit.tokens):
        raise InvalidAdvantage(f"{len(values)} values for a response of {len(credit.tokens)} tokens; give one each")
    advantages = [0.0] * len(values)
    earned, next_value, next_advantage = credit.outcome, 0.0, 0.0
    for place in range(len(values) - 1, -1, -1):
        earned += credit.tokens[place]
        if credit.chosen[place]:
            delta = earned + gamma * next_value - values[place]
            advantages[place] = next_advantage = delta + gamma * lam * next_advantage
            earned, next_value = 0.0, values[place]
    return advantages


def _no_rewards(trajectory: Trajectory, output: RewardOutput, chosen: Sequence[int]) -> None:
    return None


def _token_rewards(trajectory: Trajectory, output: RewardOutput, chosen: Sequence[int]) -> list[float] | None:
    return token_rewards_of(output, trajectory)


def _step_rewards(trajectory: Trajectory, output: RewardOutput, chosen: Sequence[int]) -> list[float]:
    """The rewards of the steps, each on the last of the tokens chosen in it."""
    ends = [step.metadata["tokens"][1] - 1 for step in trajectory.steps if "tokens" in step.metadata]  # of episodes
    if not ends:
        ends = [at for at, mask in enumerate(chosen) if mask and not (at + 1 < len(chosen) and chosen[at + 1])]
    if len(ends) != len(trajectory.steps):
        raise InvalidAdvantage(
            f"{len(trajectory.steps)} steps but {len(ends)} runs of chosen tokens; "
            "the mask must be 0 between steps, as episodes leave it"
        )
    tokens = [0.0] * len(chosen)
    for end, step in zip(ends, trajectory.steps, strict=True):
        tokens[end] = step.reward or 0.0
    return tokens


_Locate: TypeAlias = Callable[[Trajectory, RewardOutput, Sequence[int]], list[float] | None]
CREDITS: dict[str, _Locate] = {"outcome": _no_rewards, "tokens": _token_rewards, "steps": _step_rewards}
