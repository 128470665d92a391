"""Flux's rewards, written from how `flux.rewards` behaves: same keywords, same defaults, same numbers.

Two things differ on purpose. A reward that never calls `super().__init__()` has Flux's defaults instead of failing, and
`FunctionReward` lets an exception through, where Flux records a 0.0. Keywords that only Flux's documentation has
(`target`, `required`, `required_sections`) give plaudit's reward of that name.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plaudit import rewards as ours
from plaudit.contract.function import RewardFunction as OurReward
from plaudit.dialects.packages.flux_data import FluxTrajectory
from plaudit.dialects.stub_packages import StubTable


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
        """The number of rewards."""
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
        if "name" not in vars(cls):
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


@dataclass(eq=False)
class FunctionReward(RewardFunction):
    """A function of a trajectory as a reward."""

    fn: Callable[[Any], float]
    name: str = "function"
    scale: float = 1.0
    clip: float | None = None

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
    """Adapter: a reward of plaudit behind Flux's interface, for what only Flux's documentation describes."""

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
    aliases: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if not set(cls.documented) & keywords.keys():
            return super().__new__(cls)
        name = str(keywords.pop("name", cls.__name__))
        return Documented(cls.like(*args, **{cls.aliases.get(key, key): each for key, each in keywords.items()}), name)

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        raise NotImplementedError


@dataclass(eq=False)
class LengthReward(RuleReward):
    """Length over `max_length` (or 2048), on the way to a target, or its logarithm over ten."""

    documented = ("target", "tolerance", "shape")
    like, aliases = ours.LengthReward, {"reward_type": "shape"}

    target_length: int | None = None
    min_length: int = 0
    max_length: int | None = None
    reward_type: str = "linear"
    name: str = "length"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        length = _length(trajectory)
        if length < self.min_length or (self.max_length is not None and length > self.max_length):
            return RewardOutput(0.0, metadata={"length": length})
        if self.reward_type == "target" and self.target_length is not None:
            value = max(0.0, 1.0 - abs(length - self.target_length) / self.target_length)
        elif self.reward_type == "log":
            value = math.log(1 + length) / 10.0
        else:
            value = min(1.0, length / (self.max_length or 2048))
        return RewardOutput(value, metadata={"length": length})


@dataclass(eq=False)
class LengthPenalty(RewardFunction):
    """Below 0 by the relative distance to the bounds; 0.0 within them."""

    min_length: int = 10
    max_length: int = 2048
    penalty_scale: float = 0.1
    name: str = "length_penalty"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        length, penalty = _length(trajectory), 0.0
        if length < self.min_length:
            penalty = (self.min_length - length) / self.min_length * self.penalty_scale
        elif length > self.max_length:
            penalty = (length - self.max_length) / self.max_length * self.penalty_scale
        return RewardOutput(-penalty if penalty else 0.0, metadata={"length": length})


@dataclass(eq=False)
class FormatReward(RuleReward):
    """The share of required patterns that occur, less the share of forbidden ones."""

    documented = ("required_sections", "partial")
    like = ours.FormatReward

    required_patterns: Sequence[str] | None = None
    forbidden_patterns: Sequence[str] | None = None
    case_sensitive: bool = False
    name: str = "format"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        required = self._share(self.required_patterns or (), trajectory.response, none=1.0)
        return RewardOutput(max(0.0, required - self._share(self.forbidden_patterns or (), trajectory.response)))

    def _share(self, patterns: Sequence[str], text: str, none: float = 0.0) -> float:
        flags = re.NOFLAG if self.case_sensitive else re.IGNORECASE
        hits = sum(re.search(pattern, text, flags) is not None for pattern in patterns)
        return hits / len(patterns) if patterns else none


@dataclass(eq=False)
class KeywordReward(RuleReward):
    """The share of required words that occur anywhere, +0.1 for each bonus word, −0.2 for each penalty word."""

    documented = ("required", "bonus", "penalty")
    like = ours.KeywordReward

    required_keywords: Sequence[str] | None = None
    bonus_keywords: Sequence[str] | None = None
    penalty_keywords: Sequence[str] | None = None
    case_sensitive: bool = False
    name: str = "keyword"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        def hits(words: Sequence[str] | None) -> int:
            normalize = str if self.case_sensitive else str.lower
            return sum(normalize(word) in normalize(trajectory.response) for word in words or ())

        required = hits(self.required_keywords) / len(self.required_keywords) if self.required_keywords else 1.0
        value = required + 0.1 * hits(self.bonus_keywords) - 0.2 * hits(self.penalty_keywords)
        return RewardOutput(min(1.0, max(0.0, value)))


@dataclass(eq=False)
class RepetitionPenalty(RewardFunction):
    """−2 · (repeated share − allowed share) of runs of words, at least −1; 0.0 up to the allowed share."""

    ngram_size: int = 3
    max_repetition_ratio: float = 0.3
    name: str = "repetition_penalty"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        words, size = trajectory.response.split(), self.ngram_size
        runs = [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
        ratio = 1.0 - len(set(runs)) / len(runs) if runs else 0.0
        excess = ratio - self.max_repetition_ratio
        return RewardOutput(-min(1.0, 2 * excess) if excess > 0 else 0.0, metadata={"repetition_ratio": ratio})


@dataclass(eq=False)
class StructuredOutputReward(RewardFunction):
    """Signs of JSON, code blocks, markdown or XML anywhere in the response."""

    expected_format: str = "json"
    strict: bool = False
    name: str = "structured_output"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        text, value = trajectory.response, 0.0
        if self.expected_format == "json":
            value = self._json(text)
        elif self.expected_format == "code":
            value = float(re.search(r"```\w*\n[\s\S]*?```", text) is not None)
        elif self.expected_format == "markdown":
            value = min(1.0, sum(amount for sign, amount in MARKDOWN.items() if re.search(sign, text, re.MULTILINE)))
        elif self.expected_format == "xml":
            value = float(re.search(r"<[^>]+>.*?</[^>]+>", text, re.DOTALL) is not None)
        return RewardOutput(value, metadata={"format": self.expected_format})

    def _json(self, text: str) -> float:
        pieces = re.findall(r"\{[^{}]*\}|\[[^\[\]]*\]", text)
        for piece in pieces:
            try:
                json.loads(piece)
            except ValueError:
                continue
            return 1.0
        return 0.5 if pieces and not self.strict else 0.0


@dataclass(eq=False)
class MathReward(RewardFunction):
    """0.5 for a box, 0.5 for something like an equation: the form of mathematics, not whether it is right."""

    check_boxed: bool = True
    check_equation: bool = True
    name: str = "math"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        boxed = self.check_boxed and re.search(r"\\boxed\{[^}]+\}", trajectory.response) is not None
        equation = self.check_equation and any(re.search(sign, trajectory.response) for sign in EQUATIONS)
        return RewardOutput(0.5 * boxed + 0.5 * equation, metadata={"has_boxed": boxed, "has_equation": equation})


@dataclass(eq=False)
class CodeReward(RewardFunction):
    """0.3 for a code block, 0.2 for its language, 0.2 for structure in it, 0.1 for inline code."""

    language: str | None = None
    check_syntax: bool = False
    name: str = "code"

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        blocks = re.findall(r"```(\w*)\n([\s\S]*?)```", trajectory.response)
        value = 0.3 if blocks else 0.0
        if self.language and any(language.lower() == self.language.lower() for language, _ in blocks):
            value += 0.2
        if any(re.search(sign, code) for _, code in blocks for sign in CODE):
            value += 0.2
        if re.search(r"`[^`]+`", trajectory.response):
            value += 0.1
        return RewardOutput(min(1.0, value), metadata={"code_blocks": len(blocks)})


MARKDOWN = {
    r"^#{1,6}\s": 0.2, r"\*\*[^*]+\*\*": 0.1, r"\*[^*]+\*": 0.1, r"^\s*[-*+]\s": 0.2, r"```": 0.2, r"\[.+\]\(.+\)": 0.2,
}  # fmt: skip
EQUATIONS = (r"[0-9]+\s*[+\-*/=]\s*[0-9]+", r"\\frac\{", r"\\sqrt\{", r"[a-z]\s*=\s*[0-9]")
CODE = (
    r"def\s+\w+\s*\(", r"function\s+\w+\s*\(", r"class\s+\w+", r"import\s+", r"return\s+", r"if\s+.*:", r"for\s+.*:",
)  # fmt: skip

_RULE_CLASSES: tuple[type[RewardFunction], ...] = (
    LengthReward, LengthPenalty, FormatReward, StructuredOutputReward, KeywordReward, RepetitionPenalty, MathReward,
    CodeReward,
)  # fmt: skip
_RULES = {each.name: each for each in _RULE_CLASSES}


def create_reward_function(reward_type: str, **keywords: Any) -> RewardFunction:
    """A rule-based reward by the name Flux has for it."""
    if reward_type not in _RULES:
        raise ValueError(f"no reward type {reward_type!r}; there are {', '.join(_RULES)}")
    return _RULES[reward_type](**keywords)


def _length(trajectory: Any) -> int:
    return int(getattr(trajectory, "response_length", 0) or len(trajectory.response))


_BASE: dict[str, object] = {
    each.__name__: each for each in (CompositeReward, FunctionReward, RewardBatchOutput, RewardFunction, RewardOutput)
}
_RULE_NAMES: dict[str, object] = {each.__name__: each for each in _RULE_CLASSES}
_RULE_NAMES["create_reward_function"] = create_reward_function
STUBS: StubTable = {
    "flux": {"Trajectory": FluxTrajectory},
    "flux.core": {"Trajectory": FluxTrajectory},
    "flux.core.trajectory": {"Trajectory": FluxTrajectory},
    "flux.rewards": {**_BASE, **_RULE_NAMES},
    "flux.rewards.base": _BASE,
    "flux.rewards.rule_based": _RULE_NAMES,
}
