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
    parts = (part for line in response.splitlines() for part in _STEP_MARK.split(line))
    steps = {step for part in parts for step in _steps(part) if step}
    return len(steps) >= MIN_STEPS


def has_hallucination(response: str) -> bool:
    """Whether the response states arithmetic that is false, as in "13 * 2 = 27".

    That is what a response shows without its sources. Cannot detect invented facts, names or quotations.
    """
    text = re.sub(r" {2,}", " ", without_calculator_marks(response))
    return next(false_sums(text), None) is not None


def _steps(part: str) -> list[str | None]:
    """The sentences of a line or labelled part; the label is for the first of them."""
    label = _LABEL.match(part)
    labelled = label is not None and any(mark.isalnum() for mark in label[0])
    content = part[label.end() :] if label else part
    return [_step(sentence, labelled and place == 0) for place, sentence in enumerate(sentences(content))]


def _step(sentence: str, labelled: bool) -> str | None:
    """The sentence in a comparable form if it is a step, else None; only equations may differ by digits alone."""
    if _EQUATION.search(sentence):
        return " ".join(bare_words(sentence))
    said = bare_words(re.sub(r"\d+", "", sentence))
    linked = labelled or bool(_LINKS.intersection(said))
    return " ".join(said) if linked and len(set(said) - _LINKS) >= MIN_WORDS else None
