"""What Flux's rewards are made of: trajectory, output, base class and composites, as `flux.rewards.base` has them.

Two things differ on purpose. A reward that never calls `super().__init__()` has Flux's defaults instead of failing, and
`FunctionReward` lets an exception through, where Flux records a 0.0. Keywords that only Flux's documentation has
(`target`, `required`, `required_sections`) give plaudit's reward of that name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plaudit.contract.function import RewardFunction as OurReward
from plaudit.trajectory import Trajectory

__all__ = ["BASE", "FluxTrajectory", "RewardFunction", "RewardOutput", "RuleReward"]


class FluxTrajectory(Trajectory, frozen=True):
    """A trajectory with what Flux's rewards read besides prompt and response; lengths count tokens, 0 without any."""

    @property
    def response_tokens(self) -> list[int]:
        """The ids of the response's tokens."""
        return [] if self.tokens is None else self.tokens.ids

    @property
    def response_length(self) -> int:
        """How many tokens the response has; 0 where they are not known."""
        return len(self.response_tokens)

    @property
    def prompt_length(self) -> int:
        """0: the prompt's tokens are not known here."""
        return 0

    @property
    def group_id(self) -> str | None:
        """The group, as text."""
        return None if self.group is None else str(self.group)


@dataclass
class RewardOutput:
    """A reward with rewards of tokens (none where empty) and metadata; all of them can be assigned."""

    reward: float
    token_rewards: list[float] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.reward, int | float):
            raise ValueError(f"the reward must be a number, got {type(self.reward).__name__}")


@dataclass
class RewardBatchOutput:
    """The rewards of a batch."""

    rewards: list[float] = field(default_factory=list)
    token_rewards: list[list[float]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def batch_size(self) -> int:
        """How many rewards there are."""
        return len(self.rewards)

    def mean_reward(self) -> float:
        """Their mean, 0.0 of none."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else 0.0


class RewardFunction(ABC):
    """The base of Flux's rewards: `compute_reward` gives the raw output, a call scales and clips it."""

    name: str = "base"
    scale: float = 1.0
    clip: float | None = None

    def __init__(self, name: str = "base", scale: float = 1.0, clip: float | None = None) -> None:
        self.name, self.scale, self.clip = name, scale, clip

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.name = cls.__name__  # for those that never call our __init__

    @abstractmethod
    def compute_reward(self, trajectory: Any) -> RewardOutput:
        """The raw output for one trajectory."""

    def compute_rewards(self, trajectories: Sequence[Any]) -> RewardBatchOutput:
        """The raw outputs for a batch."""
        outputs = [self.compute_reward(each) for each in trajectories]
        return RewardBatchOutput([each.reward for each in outputs], [each.token_rewards for each in outputs])

    def _apply_scale_and_clip(self, reward: float) -> float:
        scaled = reward * self.scale
        return scaled if self.clip is None else max(-self.clip, min(self.clip, scaled))

    def __call__(self, trajectory: Any) -> RewardOutput:
        output = self.compute_reward(trajectory)
        output.reward = self._apply_scale_and_clip(output.reward)
        return output


class FunctionReward(RewardFunction):
    """A function of a trajectory as a reward."""

    def __init__(
        self, fn: Callable[[Any], float], name: str = "function", scale: float = 1.0, clip: float | None = None
    ) -> None:
        super().__init__(name, scale, clip)
        self.fn = fn

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        return RewardOutput(float(self.fn(trajectory)))


class CompositeReward(RewardFunction):
    """A weighted sum of raw rewards; weights are brought to a sum of 1 unless `normalize` is off."""

    def __init__(
        self, rewards: Sequence[tuple[RewardFunction, float]], name: str = "composite", normalize: bool = True
    ) -> None:
        super().__init__(name)
        self.reward_functions, self.normalize = list(rewards), normalize
        weights = [weight for _, weight in self.reward_functions]
        total = sum(weights)
        if normalize:
            weights = [weight / total if total > 0 else 1.0 / len(weights) for weight in weights]
        self.weights = weights

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        components: dict[str, dict[str, float]] = {}
        for (each, _), weight in zip(self.reward_functions, self.weights, strict=True):
            raw = each.compute_reward(trajectory).reward
            name = str(getattr(each, "name", type(each).__name__))
            components[name if name not in components else f"{name}_{len(components) + 1}"] = {
                "raw": raw,
                "weighted": raw * weight,
                "weight": weight,
            }
        total = sum((each["weighted"] for each in components.values()), 0.0)
        return RewardOutput(total, metadata={"components": components})


class Documented(RewardFunction):
    """A reward of plaudit's in Flux's clothes: what Flux's documentation describes and its code does not have."""

    def __init__(self, reward: OurReward, name: str) -> None:
        super().__init__(name)
        self.ours = reward

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        output = self.ours.compute_reward(trajectory)
        return RewardOutput(output.reward, metadata=dict(output.metadata))


class RuleReward(RewardFunction):
    """A reward of Flux's whose documentation has further keywords, which make plaudit's reward of that name."""

    documented: tuple[str, ...] = ()
    like: type[OurReward]
    spelled: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if not set(cls.documented) & keywords.keys():
            return super().__new__(cls)
        name = str(keywords.pop("name", cls.__name__))
        return Documented(cls.like(*args, **{cls.spelled.get(key, key): each for key, each in keywords.items()}), name)

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        raise NotImplementedError


BASE: dict[str, object] = {
    each.__name__: each for each in (CompositeReward, FunctionReward, RewardBatchOutput, RewardFunction, RewardOutput)
}
"""The names of `flux.rewards.base`."""
