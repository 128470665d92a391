"""Answers in words: the same words in the same order, whatever their case, articles and punctuation.

Letters in a formula are no words: "2a" is not "2", and "2R" is not "2r".
"""

import re
import unicodedata

__all__ = ["same_words"]

_MARKUP = re.compile(r"\\(?:text|mathrm|mathbf)\s?\{([^{}]*)\}|(?<!\\)[{}$]")
_PIECE = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[^\s.,;:!?\"'*`]")
_EMPTY = {"the", "a", "an", "is", "are", "it", "answer", "so", "therefore", "thus", "hence"}
_SYNONYMS = {"true": "yes", "false": "no", "correct": "yes", "incorrect": "no", "ja": "yes", "nein": "no"}
_LONG = 3  # letters that make a word rather than a product


def same_words(truth: str, answer: str) -> bool:
    """Whether two texts say the same word for word."""
    one, other = _words(truth), _words(answer)
    return one == other and bool(one)


def _words(text: str) -> list[str]:
    """The words that carry meaning, in order; of a formula every sign as it stands."""
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(lambda found: f" {found[1] or ''} ", text))
    pieces = _PIECE.findall(plain)
    if not all(piece[0].isalnum() for piece in pieces) or not any(_is_word(piece) for piece in pieces):
        return [plain]
    lowered = [piece.casefold() for piece in pieces]
    kept = [_SYNONYMS.get(word, word) for word in lowered if word not in _EMPTY]
    return kept or lowered


def _is_word(piece: str) -> bool:
    return (len(piece) >= _LONG and piece.isalpha()) or not piece.isascii()
