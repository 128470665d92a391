"""Potential-based shaping: dense hints that provably leave the best policy unchanged (Ng, Harada, Russell 1999).

Each step earns F = γΦ(s′) − Φ(s), with Φ = 0 at the end of the episode; walking in a circle therefore earns nothing.
"""

from collections.abc import Callable

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, as_number
from plaudit.errors import InvalidReward
from plaudit.trajectory import Trajectory

__all__ = ["PotentialShaping"]


class PotentialShaping(RewardFunction):
    """Σ of γΦ(s′) − Φ(s) over the steps; each step's share is in `metadata["step_rewards"]`.

    `potential` maps the transcript so far (prompt, then responses and observations) to a number. A trajectory without
    steps is one step from prompt to end.
    """

    def __init__(self, potential: Callable[[str], float], *, gamma: float = 1.0) -> None:
        if not 0.0 < gamma <= 1.0:
            raise InvalidReward(f"need 0 < gamma <= 1, got {gamma}")
        self.potential = potential
        self.gamma = gamma

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        potentials = [as_number("potential", self.potential(state)) for state in _states(trajectory)]
        after = [*potentials[1:], 0.0]
        step_rewards = [self.gamma * new - old for old, new in zip(potentials, after, strict=True)]
        return RewardOutput(sum(step_rewards), metadata={"step_rewards": step_rewards})

    def __repr__(self) -> str:
        return f"PotentialShaping({getattr(self.potential, '__name__', 'potential')}, gamma={self.gamma:g})"


def _states(trajectory: Trajectory) -> list[str]:
    """The transcript before each step."""
    states = [trajectory.prompt_text]
    for step, following in zip(trajectory.steps, trajectory.steps[1:], strict=False):
        states.append("\n".join((states[-1], step.response, following.observation)))
    return states
