"""Answers in words: the same words in the same order, whatever their case, articles and punctuation.

Letters in a formula are no words: "2a" is not "2", and "2R" is not "2r".
"""

import re
import unicodedata

__all__ = ["plain_words", "same_words"]

_MARKUP = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s?\{([^{}]*)\}|[{}$\\]")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[-+*/=<>^%()\[\]]")
_EMPTY = {"the", "a", "an", "is", "are", "it", "answer", "so", "therefore", "thus", "hence"}
_SYNONYMS = {"true": "yes", "false": "no", "correct": "yes", "incorrect": "no", "ja": "yes", "nein": "no"}


def same_words(truth: str, answer: str) -> bool:
    """Whether two texts say the same word for word."""
    one, other = plain_words(truth), plain_words(answer)
    return one == other and bool(one)


def plain_words(text: str) -> list[str]:
    """The words that carry meaning, in order; beside digits and signs every letter does, and its case."""
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(lambda found: f" {found[1] or ''} ", text))
    text = plain.casefold()
    found = _WORD.findall(text)
    if not all(word.isalpha() for word in found):
        return _WORD.findall(plain)
    return [_SYNONYMS.get(word, word) for word in found if word not in _EMPTY] or found
