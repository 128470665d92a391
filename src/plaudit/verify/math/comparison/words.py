"""Answers in words: equal words in the same order, ignoring case, articles and punctuation.

Letters in a formula are no words: "2a" is not "2", and "2R" is not "2r".
"""

import re
import unicodedata

from plaudit.verify.patterns import compile_late

__all__ = ["same_words"]

_MARKUP = compile_late(r"\\(?:text|mathrm|mathbf)\s?\{([^{}]*)\}|(?<!\\)[{}$]")
_PIECE = compile_late(r"[^\W_]+(?:['-][^\W_]+)*|[^\s.,;:!?\"'*`]")
_EMPTY = {"the", "a", "an", "is", "are", "it", "answer", "so", "therefore", "thus", "hence"}
_SYNONYMS = {"true": "yes", "false": "no", "correct": "yes", "incorrect": "no", "ja": "yes", "nein": "no"}
_LONGEST_SENTENCE = 200
_COPULA = compile_late(r"\b(?:is|are|was|were|will be)\s", re.IGNORECASE)
_OPENING = compile_late(r"\W*(?:\\text\s?\{\s?)?(yes|no|true|false)[,.;:]\s", re.IGNORECASE)
_VERDICTS = (["yes"], ["no"])
_LONG_PLURAL = 5  # letters of a word that may be a plural
_LONG = 3  # letters that make a word rather than a product


def same_words(truth: str, answer: str) -> bool:
    """Whether two texts say the same word for word."""
    one, other = _words(truth), _words(answer)
    if one == other and one:
        return True
    if " " not in truth and " " not in answer:
        return False
    return _is_said_of_something(truth, answer) or _is_said_of_something(answer, truth)


def _is_said_of_something(words: str, sentence: str) -> bool:
    """Whether a sentence says nothing but these words of its subject: "odd" in "the sum is odd"."""
    if len(sentence) > _LONGEST_SENTENCE or _COPULA.search(words):
        return False
    wanted = _words(words)
    if wanted in _VERDICTS and (opening := _OPENING.match(sentence)):
        return _words(opening[1]) == wanted
    copulas = list(_COPULA.finditer(sentence))
    if len(copulas) != 1 or not wanted or any(not piece[0].isalpha() for piece in wanted):
        return False
    return _words(sentence[copulas[0].end() :]) == wanted


def _words(text: str) -> list[str]:
    """The words that carry meaning, in order; a formula is kept unchanged."""
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(lambda match: f" {match[1] or ''} ", text))
    pieces = _PIECE.findall(plain)
    if not all(piece[0].isalnum() for piece in pieces) or not any(_is_word(piece) for piece in pieces):
        return [plain]
    lowered = [piece.casefold() for piece in pieces]
    kept = [_SYNONYMS.get(word, _singular(word)) for word in lowered if word not in _EMPTY]
    return kept or lowered


def _singular(word: str) -> str:
    """ "solutions" as "solution"; short words and those on "ss" are left alone."""
    return (
        word[:-1] if len(word) > _LONG_PLURAL and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def _is_word(piece: str) -> bool:
    return (len(piece) >= _LONG and piece.isalpha()) or not piece.isascii()
