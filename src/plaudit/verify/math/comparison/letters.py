"""Multiple choice: the letter alone, in brackets or before its text is the same choice."""

import re

__all__ = ["same_choice"]

_CHOICE = re.compile(r"(?:\\text\s?\{\s?)?\(?\s?([A-Ja-j])\s?(?:(?:[).:]|\\?\})\s?\}?(.*)|)", re.DOTALL)
_ALONE = re.compile(r"(?:\\text\s?\{\s?)?\(?\s?([A-Ja-j])\s?[).:]?\s?\}?\s?\)?")


def same_choice(truth: str, answer: str) -> bool:
    """Whether one side is a letter and the other that letter, alone or with its text."""
    one, other = _ALONE.fullmatch(truth), _ALONE.fullmatch(answer)
    if one and other:
        return one[1].upper() == other[1].upper() and (one[1].isupper() or other[1].isupper())
    lettered, full = (one, _CHOICE.fullmatch(answer)) if one else (other, _CHOICE.fullmatch(truth))
    return bool(lettered and full and lettered[1].isupper() and lettered[1] == full[1])
