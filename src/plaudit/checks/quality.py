"""Rough measures of how a response is written, each in [0, 1].

They count words and marks and understand nothing. None of them rises with length, repetition or copied text.
"""

import math
import re

from plaudit.verify.math import MathPolicy
from plaudit.verify.math.verdict import settled
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import bare_words, ngrams, normalized, sentences, words

__all__ = ["evaluate_clarity", "evaluate_completeness", "evaluate_conciseness", "evaluate_relevance"]

COMFORTABLE_SENTENCE, UNREADABLE_SENTENCE = 25, 60  # words
CONCISE, VERBOSE = 100, 500  # words
COPIED = 5  # words in a row that count as copied

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been but by can could did do does each every for from had has have he her his how i"
        " if in into is it its me much many my no not of on or our she should so than that the their them then there"
        " these they this those to us was we were what when where which who why will with would you your",
    )
)
_CLOSED = re.compile(r"[.!?。！？…)\]}>\"'”’`*|$\d]\s*\Z")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<think>", "</think>"), ("<answer>", "</answer>"))


def evaluate_completeness(response: str) -> float:
    """A third each for: it ends where a statement ends, nothing is left open (fence, bracket, tag), an answer is given.

    Shows truncation and missing answers. Cannot tell whether everything that was asked has been covered.
    """
    said = without_thinking(response)
    if not words(said):
        return 0.0
    found = settled(response, MathPolicy())
    ended = _CLOSED.search(said[-100:]) is not None and not said.rstrip().endswith(("...", "…"))
    return (ended + (not _is_left_open(response)) + (not found.rejected)) / 3


def evaluate_relevance(response: str, prompt: str) -> float:
    """How far the response takes up the words of the prompt in sentences of its own.

    Half of the prompt's content words are enough. Runs of five words copied from the prompt do not count, and words of
    the prompt count only up to the number of the response's own, so neither a copy nor a list of them pays. Cannot see
    meaning: a bare right answer shares no words with its question, a fluent wrong one may share many.
    """
    prompted = _terms(prompt)
    asked = set(prompted) - _FUNCTION_WORDS
    said = set(_not_copied(_terms(without_thinking(response)), prompted))
    taken_up = min(len(said & asked), len(said - set(prompted)))
    return min(1.0, taken_up / math.ceil(len(asked) / 2)) if asked else 0.0


def evaluate_clarity(response: str) -> float:
    """Short sentences, little repetition: 1.0 for sentences of up to 25 words on average, 0.0 from 60 on.

    Multiplied by the share of three-word runs that are not repeats. Cannot tell sense from fluent nonsense.
    """
    spoken = sentences(without_thinking(response))
    if not spoken:
        return 0.0
    average = sum(len(words(sentence)) for sentence in spoken) / len(spoken)
    return _falling(average, COMFORTABLE_SENTENCE, UNREADABLE_SENTENCE) * _freshness(response)


def evaluate_conciseness(response: str) -> float:
    """1.0 up to 100 words, falling to 0.0 at 500, times the share of three-word runs that are not repeats.

    Nothing said is 0.0. Cannot tell whether few words are enough for the question.
    """
    count = len(words(response))
    return _falling(count, CONCISE, VERBOSE) * _freshness(response) if count else 0.0


def _falling(value: float, full: float, zero: float) -> float:
    return min(1.0, max(0.0, (zero - value) / (zero - full)))


def _freshness(response: str) -> float:
    runs = ngrams(bare_words(response), 3)
    return len(set(runs)) / len(runs) if runs else 1.0


def _terms(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", normalized(text))


def _not_copied(said: list[str], asked: list[str]) -> list[str]:
    copied_runs = set(ngrams(asked, COPIED))
    copied = [False] * len(said)
    for place, run in enumerate(ngrams(said, COPIED)):
        if run in copied_runs:
            copied[place : place + COPIED] = [True] * COPIED
    return [word for word, is_copy in zip(said, copied, strict=True) if not is_copy]


def _is_left_open(response: str) -> bool:
    fences = len(re.findall(r"^[ \t]*```", response, re.MULTILINE))
    return fences % 2 == 1 or any(response.count(opener) > response.count(closer) for opener, closer in _PAIRS)
