"""Are a ground truth and an answer the same? Exact, or undecided with a reason; never by a float tolerance."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import parse_number

__all__ = ["Decision", "Method", "decide"]


class Method(StrEnum):
    """How a truth and an answer were compared."""

    TEXT = "text"
    NUMBER = "number"
    ALGEBRA = "algebra"
    SET = "set"
    INTERVAL = "interval"
    TUPLE = "tuple"
    MATRIX = "matrix"
    EQUATION = "equation"
    CHOICE = "choice"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether truth and answer are equal, how that was found, and why; `equal` is None where nobody can tell."""

    equal: bool | None
    method: Method
    reason: str
    unparsed: Literal["truth", "answer"] | None = None


def decide(ground_truth: str, answer: str, policy: MathPolicy) -> Decision:
    """Compare an extracted answer with a ground truth."""
    if ground_truth.strip().strip("$") == answer.strip().strip("$"):
        return Decision(True, Method.TEXT, "the same text")
    truth, value = parse_number(ground_truth.strip("$ ")), parse_number(answer.strip("$ "))
    if truth is not None and value is not None:
        return Decision(truth == value, Method.NUMBER, f"{value} against {truth}")
    return Decision(False, Method.TEXT, "different text")
