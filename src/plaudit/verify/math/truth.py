r"""A ground truth as the text that answers are compared with.

Worked solutions are reduced to the answer that they mark, with a box, a tag, hashes or "the answer is"; anything else
is taken as it stands.
"""

import math
import numbers
import re
from decimal import Decimal
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.verify.math.extract import marks_in, tidied
from plaudit.verify.math.extraction.boxes import boxes_in
from plaudit.verify.text import visible

__all__ = ["read_truth"]

_NUMBER = re.compile(r"-?\d[\d.,/]*")


def read_truth(ground_truth: Any) -> str:
    """The answer in a ground truth; raises InvalidTrajectory for what is no text with something in it and no number."""
    if isinstance(ground_truth, str | bool):
        text = str(ground_truth)
        text = text if text.isascii() else visible(text)
        if text.strip():
            return _reduced(text)
    elif isinstance(ground_truth, numbers.Real | Decimal) and math.isfinite(ground_truth):
        return str(ground_truth)
    raise InvalidTrajectory(
        f"the ground truth must be text or a finite number, got {type(ground_truth).__name__} {ground_truth!r:.60}"
    )


def _reduced(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return text
    marks = boxes_in(text, closed=False) or marks_in(text)
    return tidied(marks[-1].text if marks else text)
