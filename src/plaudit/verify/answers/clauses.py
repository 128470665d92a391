"""The clause and the sentence around a place in a text: is what is named there denied, or asked about?"""

from plaudit.verify.patterns import compile_late

__all__ = ["NEGATION", "clause_before", "is_denied", "is_question"]

LONGEST_CLAUSE = 300
_CLAUSE_END = compile_late(
    r"[.!?\n,;:]|(?<!thing )(?<!all )\bbut\b|\b(?:rather|instead|so|therefore|thus|hence|because|since|and)\b"
)
NEGATION = compile_late(
    r"\b(?:not|never|cannot|neither|nor|without|\w+n['’]t|except|excluding|but|rul\w+ out|eliminat\w+)\b"
)
_WRONG_AFTER = compile_late(r"\W{0,3}(?:is|are|was|seems?)\s+(?:not|wrong|incorrect|false|out|n['’]t)\b|n['’]t\b")


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether what is named here is denied or asked about."""
    denied = NEGATION.search(clause_before(text, start)) or _WRONG_AFTER.match(text, end)
    return denied is not None or is_question(text, end)


def clause_before(text: str, position: int) -> str:
    """The part of a clause before a position; marks are found first, since the pattern is slow on long texts."""
    first = max(0, position - LONGEST_CLAUSE)
    start = max(first, *(text.rfind(mark, first, position) + 1 for mark in ".!?\n,;:"))
    return _CLAUSE_END.split(text[start:position])[-1].casefold()


def is_question(text: str, position: int) -> bool:
    """Whether the sentence at a position ends in a question mark."""
    ends = [place for mark in (". ", "!", "\n", "?") if (place := text.find(mark, position, position + 200)) >= 0]
    return bool(ends) and text[min(ends)] == "?"
