"""Signs of reasoning and of making things up, as far as the response alone shows them."""

import re

from plaudit.verify.arithmetic import false_sums
from plaudit.verify.numbers import without_calculator_marks
from plaudit.verify.text import bare_words, sentences

__all__ = ["has_hallucination", "has_reasoning_steps"]

_LABEL = re.compile(r"(?:[-*•#>\s]|\*\*|step\s*\d*|\d{1,3}\s?[.):]|[a-z]\)|[.:)*-])+", re.IGNORECASE)
_STEP_MARK = re.compile(r"(?=\bstep\s*\d)", re.IGNORECASE)
_EQUATION = re.compile(r"\d[^=\n]{0,80}=\s*[^=\n]{0,20}\d")
_LINKS = frozenset({
    "as", "because", "finally", "first", "given", "gives", "hence", "if", "implies", "means", "next", "second", "since",
    "so", "then", "therefore", "third", "thus",
})  # fmt: skip
MIN_WORDS = 3
MIN_STEPS = 2


def has_reasoning_steps(response: str) -> bool:
    """Whether at least two different statements calculate something or are linked to one another ("so", "because").

    A statement needs three different words besides its label, so "Step 1: Step 2:" is no reasoning, and the same step
    again is no second step. Cannot tell whether the steps are right, or lead anywhere.
    """
    steps = {step for statement in _statements(response) if (step := _step(statement))}
    return len(steps) >= MIN_STEPS


def has_hallucination(response: str) -> bool:
    """Whether the response states arithmetic that is false, as in "13 * 2 = 27".

    That is what a response shows without its sources. Cannot detect invented facts, names or quotations.
    """
    text = re.sub(r" {2,}", " ", without_calculator_marks(response))
    return next(false_sums(text), None) is not None


def _statements(response: str) -> list[str]:
    return [part for sentence in sentences(response) for part in _STEP_MARK.split(sentence)]


def _step(statement: str) -> str | None:
    """The statement in a comparable form if it is a step, else None; only equations may differ by digits alone."""
    label = _LABEL.match(statement)
    content = statement[label.end() :] if label else statement
    if _EQUATION.search(content):
        return " ".join(bare_words(content))
    said = bare_words(re.sub(r"\d+", "", content))
    linked = bool(_LINKS.intersection(said)) or (label is not None and any(mark.isalnum() for mark in label[0]))
    return " ".join(said) if linked and len(set(said) - _LINKS) >= MIN_WORDS else None
