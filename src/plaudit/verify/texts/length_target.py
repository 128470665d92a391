"""Has the answer the length that its row asks for? LCPO: Aggarwal and Welleck 2025 (arXiv 2503.04697)."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_fields, check_number
from plaudit.trajectory import Trajectory
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, is_at_least, need_column
from plaudit.verify.text import count_words, remove_invisible, sentences, words
from plaudit.verify.verifier import Answer, Verdict, Verifier

ABOUT = 0.1
_PARAGRAPH = compile_late(r"\n[ \t]*\n")
_SPACES = re.compile(r"\s+")
TOKENS = "tokens"
COUNTS: dict[str, Callable[[str], int]] = {
    "words": count_words,
    "sentences": lambda text: len(sentences(text)),
    "paragraphs": lambda text: sum(bool(words(part)) for part in _PARAGRAPH.split(text)),
    "characters": lambda text: len(_SPACES.sub(" ", remove_invisible(text)).strip()),
}
RELATIONS: dict[str, Callable[[float], tuple[float, float]]] = {
    "at least": lambda target: (target, math.inf),
    "at most": lambda target: (0, target),
    "less than": lambda target: (0, math.ceil(target) - 1),
    "more than": lambda target: (math.floor(target) + 1, math.inf),
    "exactly": lambda target: (target, target),
    "about": lambda target: (target * (1 - ABOUT), target * (1 + ABOUT)),
}


@dataclass(frozen=True, slots=True)
class LengthRange:
    """The allowed amount of text in a response; `tokens` is the number of tokens of this one, where it is known."""

    unit: str
    low: float
    high: float
    target: float
    tokens: int | None = None


@dataclass(frozen=True, repr=False)
class LengthTarget(Verifier[LengthRange]):
    """1.0 when the answer is as long as its row asks for, else 0.0; graded by LCPO with `mode` "exact" or "max".

    The row has `min_words` and `max_words`, or `unit`, `relation` and `target`, or `num_tokens`. LCPO's constants are
    `alpha` and `delta`.
    """

    kind: ClassVar[str] = "length_target"

    mode: Literal["count", "exact", "max"] = "count"
    alpha: float = 0.0003
    delta: float = 0.5

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("alpha", self.alpha, above=0)
        check_number("delta", self.delta, least=0)

    def read(self, sample: Trajectory) -> LengthRange:
        tokens = None if sample.tokens is None else sample.tokens.chosen
        if find_column(sample, "num_tokens") is not None:
            target = _number(sample, "num_tokens")
            unit, low, high = TOKENS, (target if self.mode == "exact" else 0.0), target
        elif find_column(sample, "min_words", "max_words") is not None:
            low = _number(sample, "min_words") if find_column(sample, "min_words") is not None else 0.0
            high = _number(sample, "max_words") if find_column(sample, "max_words") is not None else math.inf
            unit, target = "words", high if math.isfinite(high) else low
        else:
            unit, relation = _one_of(sample, "unit", (*COUNTS, TOKENS)), _one_of(sample, "relation", RELATIONS)
            target = _number(sample, "target")
            low, high = RELATIONS[relation](target)
        if low > high:
            raise InvalidTrajectory(f"no number of {unit} is at least {low:g} and at most {high:g}")
        if unit == TOKENS and tokens is None:
            raise InvalidTrajectory("the row asks for a number of tokens, and the sample has none (tokens.ids)")
        return LengthRange(unit, low, high, target, tokens)

    def judge(self, task: LengthRange, answer: Answer) -> Verdict:
        counted = COUNTS[task.unit](answer.text) if task.unit != TOKENS else task.tokens or 0
        limits = f"from {task.low:g}" + (f" to {task.high:g}" if math.isfinite(task.high) else " on")
        reason = f"{counted} {task.unit}, asked for {limits}"
        scores = {
            "count": float(task.low <= counted <= task.high),
            "exact": max(0.0, 1.0 - self.alpha * abs(task.target - counted)),
            "max": min(1.0, max(0.0, self.alpha * (task.target - counted) + self.delta)),
        }
        return Verdict(scores[self.mode] if counted else 0.0, reason, details={task.unit: counted})


def _number(sample: Trajectory, column: str) -> float:
    value = sample.ground_truth if column == "target" and sample.ground_truth is not None else None
    value = need_column(sample, column) if value is None else value
    if not is_at_least(value, 0):
        raise InvalidTrajectory(f"{column} is a number from 0 on, got {value!r:.40}")
    return float(value)


def _one_of(sample: Trajectory, column: str, known: Any) -> str:
    value = need_column(sample, column)
    name = value.strip().casefold() if isinstance(value, str) else ""
    singular = f"{name}s" if f"{name}s" in known else name
    if singular not in known:
        raise InvalidTrajectory(f"{column} is one of {', '.join(known)}, got {value!r:.40}")
    return singular
