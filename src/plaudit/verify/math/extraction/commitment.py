"""Whether a response stands behind a number that it does not mark as its answer.

"I don't know. 14?" and "my lucky number is 7" name a number and answer nothing. A marked answer is an act of its own
and counts, however shy the words around it.
"""

import re

from plaudit.verify.math.extraction.marks import Mark
from plaudit.verify.patterns import compile_late

__all__ = ["is_guessed"]

AROUND = 250  # characters before and after a number in which its author may disown it
_ABLE = r"(?:can\s?not|can['’]t|could\s?n['’]t|could not|(?:am|was|is|are) (?:unable|not able) to)"
_FIND_OUT = r"(?:solve|determine|answer|find|tell|compute|calculate|figure|help|say|know|work|do)"
_DISOWNED = compile_late(
    rf"\bI\s+(?:\w+ly\s+|just\s+)?(?:{_ABLE}\s+(?:\w+\s+)?{_FIND_OUT}|(?:do not|don['’]t) (?:know|understand|have)"
    r"|g[ia]ve up|refuse|doubt|need more)\b"
    r"|\bno (?:idea|clue)\b|\bnot enough information\b"
    r"|\b(?:impossible|unable|not possible) to (?:tell|say|know|answer)\b"
    r"|\b(?:answer|result|solution) is (?:unknown|unclear|not known)\b"
    r"|\b(?:my|wild|just(?: an?)?|I(?:['’](?:m|ll|d))?|am|had to|will)\s+guess(?:ing)?\b|\bmy (?:favou?rite|lucky)\b"
    r"|\b(?:pretend|placeholder|pick a random|random guess)\b",
    re.IGNORECASE,
)
_CUES = (
    "know", "guess", "idea", "clue", "solve", "determine", "give up", "gave up", "favo", "lucky", "random", "refuse",
    "pretend", "placeholder", "not enough", "unable", "impossible", "not possible", "can't", "can’t", "cannot",
    "could", "doubt", "need more", "unclear",
)  # fmt: skip


def is_guessed(mark: Mark, text: str) -> bool:
    """Whether the words around an unmarked number say that its author does not know the answer."""
    near = text[max(0, mark.start - AROUND) : mark.end + AROUND]
    lowered = near.lower()
    return any(cue in lowered for cue in _CUES) and _DISOWNED.search(near) is not None
