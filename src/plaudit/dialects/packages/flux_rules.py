"""Flux's rule-based rewards, written from how `flux.rewards` behaves: same keywords, same defaults, same numbers."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from plaudit import rewards as ours
from plaudit.dialects.packages.flux_base import BASE, FluxTrajectory, RewardFunction, RewardOutput, RuleReward

__all__ = ["ANSWERS"]


class LengthReward(RuleReward):
    """Length over `max_length` (or 2048), on the way to a target, or its logarithm over ten."""

    documented = ("target", "tolerance", "shape")
    like, spelled = ours.LengthReward, {"reward_type": "shape"}

    def __init__(
        self,
        target_length: int | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        reward_type: str = "linear",
        name: str = "length",
    ) -> None:
        super().__init__(name)
        self.target_length, self.min_length, self.max_length = target_length, min_length, max_length
        self.reward_type = reward_type

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


class LengthPenalty(RewardFunction):
    """Below 0 by the relative distance to the bounds; 0.0 within them."""

    def __init__(
        self, min_length: int = 10, max_length: int = 2048, penalty_scale: float = 0.1, name: str = "length_penalty"
    ) -> None:
        super().__init__(name)
        self.min_length, self.max_length, self.penalty_scale = min_length, max_length, penalty_scale

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        length, penalty = _length(trajectory), 0.0
        if length < self.min_length:
            penalty = (self.min_length - length) / self.min_length * self.penalty_scale
        elif length > self.max_length:
            penalty = (length - self.max_length) / self.max_length * self.penalty_scale
        return RewardOutput(-penalty if penalty else 0.0, metadata={"length": length})


class FormatReward(RuleReward):
    """The share of required patterns that occur, less the share of forbidden ones."""

    documented = ("required_sections", "partial")
    like = ours.FormatReward

    def __init__(
        self,
        required_patterns: Sequence[str] | None = None,
        forbidden_patterns: Sequence[str] | None = None,
        case_sensitive: bool = False,
        name: str = "format",
    ) -> None:
        super().__init__(name)
        self.required_patterns, self.forbidden_patterns = list(required_patterns or ()), list(forbidden_patterns or ())
        self.case_sensitive = case_sensitive

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        def share(patterns: list[str]) -> float:
            flags = re.NOFLAG if self.case_sensitive else re.IGNORECASE
            hits = sum(re.search(pattern, trajectory.response, flags) is not None for pattern in patterns)
            return hits / len(patterns) if patterns else 0.0

        required = share(self.required_patterns) if self.required_patterns else 1.0
        return RewardOutput(max(0.0, required - share(self.forbidden_patterns)))


class KeywordReward(RuleReward):
    """The share of required words that occur anywhere, +0.1 for each bonus word, −0.2 for each penalty word."""

    documented = ("required", "bonus", "penalty")
    like = ours.KeywordReward

    def __init__(
        self,
        required_keywords: Sequence[str] | None = None,
        bonus_keywords: Sequence[str] | None = None,
        penalty_keywords: Sequence[str] | None = None,
        case_sensitive: bool = False,
        name: str = "keyword",
    ) -> None:
        super().__init__(name)
        self.required_keywords, self.bonus_keywords = list(required_keywords or ()), list(bonus_keywords or ())
        self.penalty_keywords, self.case_sensitive = list(penalty_keywords or ()), case_sensitive

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        def hits(words: list[str]) -> int:
            fold = (lambda text: text) if self.case_sensitive else str.lower
            return sum(fold(word) in fold(trajectory.response) for word in words)

        required = hits(self.required_keywords) / len(self.required_keywords) if self.required_keywords else 1.0
        value = required + 0.1 * hits(self.bonus_keywords) - 0.2 * hits(self.penalty_keywords)
        return RewardOutput(min(1.0, max(0.0, value)))


class RepetitionPenalty(RewardFunction):
    """−2 · (repeated share − allowed share) of runs of words, at least −1; 0.0 up to the allowed share."""

    def __init__(
        self, ngram_size: int = 3, max_repetition_ratio: float = 0.3, name: str = "repetition_penalty"
    ) -> None:
        super().__init__(name)
        self.ngram_size, self.max_repetition_ratio = ngram_size, max_repetition_ratio

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        words, size = trajectory.response.split(), self.ngram_size
        runs = [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
        ratio = 1.0 - len(set(runs)) / len(runs) if runs else 0.0
        excess = ratio - self.max_repetition_ratio
        return RewardOutput(-min(1.0, 2 * excess) if excess > 0 else 0.0, metadata={"repetition_ratio": ratio})


class StructuredOutputReward(RewardFunction):
    """Signs of JSON, code blocks, markdown or XML anywhere in the response."""

    def __init__(self, expected_format: str = "json", strict: bool = False, name: str = "structured_output") -> None:
        super().__init__(name)
        self.expected_format, self.strict = expected_format, strict

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


class MathReward(RewardFunction):
    """0.5 for a box, 0.5 for something like an equation: the form of mathematics, not whether it is right."""

    def __init__(self, check_boxed: bool = True, check_equation: bool = True, name: str = "math") -> None:
        super().__init__(name)
        self.check_boxed, self.check_equation = check_boxed, check_equation

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        boxed = self.check_boxed and re.search(r"\\boxed\{[^}]+\}", trajectory.response) is not None
        equation = self.check_equation and any(re.search(sign, trajectory.response) for sign in EQUATIONS)
        return RewardOutput(0.5 * boxed + 0.5 * equation, metadata={"has_boxed": boxed, "has_equation": equation})


class CodeReward(RewardFunction):
    """0.3 for a code block, 0.2 for its language, 0.2 for structure in it, 0.1 for inline code."""

    def __init__(self, language: str | None = None, check_syntax: bool = False, name: str = "code") -> None:
        super().__init__(name)
        self.language, self.check_syntax = language, check_syntax

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

_RULES: dict[str, type[RewardFunction]] = {
    "length": LengthReward,
    "length_penalty": LengthPenalty,
    "format": FormatReward,
    "structured_output": StructuredOutputReward,
    "keyword": KeywordReward,
    "repetition_penalty": RepetitionPenalty,
    "math": MathReward,
    "code": CodeReward,
}


def create_reward_function(reward_type: str, **keywords: Any) -> RewardFunction:
    """A rule-based reward by the name Flux has for it."""
    if reward_type not in _RULES:
        raise ValueError(f"no reward type {reward_type!r}; there are {', '.join(_RULES)}")
    return _RULES[reward_type](**keywords)


def _length(trajectory: Any) -> int:
    return int(trajectory.response_length or len(trajectory.response))


_RULE_NAMES: dict[str, object] = {each.__name__: each for each in _RULES.values()}
_RULE_NAMES["create_reward_function"] = create_reward_function
ANSWERS: dict[str, dict[str, object]] = {
    "flux": {"Trajectory": FluxTrajectory},
    "flux.core": {"Trajectory": FluxTrajectory},
    "flux.core.trajectory": {"Trajectory": FluxTrajectory},
    "flux.rewards": {**BASE, **_RULE_NAMES},
    "flux.rewards.base": BASE,
    "flux.rewards.rule_based": _RULE_NAMES,
}
