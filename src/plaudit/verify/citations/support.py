"""Does a passage support a sentence, as far as words tell?

Words cannot prove support, so these are necessary conditions: a sentence that breaks one is not supported.
"""

import functools
import re
from collections.abc import Sequence

from plaudit.verify.citations.passages import Passage, Passages
from plaudit.verify.number_words import digits_for_words
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import bare_words

__all__ = ["NEGATION", "find_unsupported"]

LEAST_SHARE = 1 / 3
"""The share of the content words of a sentence that its passages have together."""
LEAST_OF_BEST = 0.5
"""The share of telling words that a cited passage has, relative to the passage that has most."""
_STOP_WORDS = {
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "with", "from", "as", "and", "or", "but", "nor",
    "so", "if", "then", "than", "that", "this", "these", "those", "there", "here", "it", "its", "he", "she", "they",
    "them", "his", "her", "their", "him", "we", "you", "i", "is", "are", "was", "were", "be", "been", "being",
    "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "may", "might", "must", "shall",
    "should", "which", "who", "whom", "whose", "what", "when", "where", "why", "how", "also", "into", "over",
    "under", "about", "after", "before", "between", "during", "through", "while", "because", "however", "both",
    "each", "other", "some", "any", "all", "more", "most", "such", "only", "own", "same", "very", "up", "down",
    "out", "off", "again", "further", "once", "according", "based", "passage", "document", "source", "text",
}  # fmt: skip
_NUMBER = compile_late(r"\d[\d,]*(?:\.\d+)?")
_NAME = compile_late(r"(?<=[\w,;)] )[A-Z][\w'’-]+")
NEGATION = compile_late(r"\b(?:not|never|cannot|neither|nor|without)\b|n['’]t\b", re.IGNORECASE)
_SHORT_NAME = 3


def find_unsupported(
    sentence: str, parts: Sequence[tuple[str, Sequence[Passage]]], passages: Passages, question: str
) -> str | None:
    """Why the passages cited behind its parts do not support a sentence; None where no condition is broken.

    1. Every number and every name of the sentence is in one of them, or in the question.
    2. They have at least a third of its content words.
    3. Each has at least half as many telling words of its part as the passage that has most. Telling are words that
       some passages have and others not.
    4. A sentence that denies needs a passage that denies.
    """
    texts = [_whole(passage) for _, cited in parts for passage in cited]
    known_numbers = _numbers(question).union(*map(_numbers, texts))
    if missing := sorted(_numbers(sentence) - known_numbers):
        return f"{missing[0]} is not in the passage"
    known_names = _name_stems(question).union(*map(_name_stems, texts))
    if unknown := [name for name in _NAME.findall(sentence) if not _is_known(name, known_names)]:
        return f"{unknown[0]} is not in the passage"
    words = _stems(sentence)
    if words and len(words & frozenset().union(*map(_stems, texts))) < LEAST_SHARE * len(words):
        return "too few of its words are in the passage"
    if NEGATION.search(sentence) and not any(NEGATION.search(text) for text in texts):
        return "it denies what the passage does not deny"
    return next(
        (fault for text, cited in parts if (fault := _find_better(_stems(text) or words, cited, passages))), None
    )


def _find_better(words: frozenset[str], cited: Sequence[Passage], passages: Passages) -> str | None:
    stems = {passage.id: _stems(_whole(passage)) for passage in passages.items}
    in_all = frozenset.intersection(*stems.values())
    telling = {name: len((words - in_all) & known) for name, known in stems.items()}
    best = max(telling, key=telling.__getitem__)
    for passage in cited:
        if telling[passage.id] < LEAST_OF_BEST * telling[best]:
            return f"passage {passage.id} is not about it, passage {best} is"
    return None


def _whole(passage: Passage) -> str:
    return f"{passage.title} {passage.text}"


@functools.lru_cache(maxsize=2048)
def _stems(text: str) -> frozenset[str]:
    """Content words, cut so that usual endings do not matter."""
    words = (word for word in bare_words(text.replace("-", " ")) if word not in _STOP_WORDS)
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    plain = word.replace("’", "'").removesuffix("'s").replace(",", "")
    return (plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain)[:6]


@functools.lru_cache(maxsize=2048)
def _numbers(text: str) -> frozenset[str]:
    written = _NUMBER.findall(digits_for_words(text) + " " + text)
    return frozenset(number.replace(",", "").strip(".") for number in written)


@functools.lru_cache(maxsize=2048)
def _name_stems(text: str) -> frozenset[str]:
    return frozenset(word[:4] for word in bare_words(text.replace("-", " ")))


def _is_known(name: str, known: frozenset[str]) -> bool:
    parts = [part for part in bare_words(name.replace("-", " ")) if part not in _STOP_WORDS]
    short = len(name) <= _SHORT_NAME and name.isupper()  # US for United States
    return short or all(part[:4] in known for part in parts)
