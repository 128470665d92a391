"""Rough measures of how a response is written: the form asked for, reasoning, clarity, brevity.

They count words and punctuation, not meaning. None of them rises with length, repetition or copied text.
"""

import math
import re

from plaudit.verify import MathPolicy
from plaudit.verify.arithmetic import false_sums
from plaudit.verify.math.verdict import find_committed_answer
from plaudit.verify.numbers import without_calculator_marks
from plaudit.verify.tags import without_thinking
from plaudit.verify.templates import TemplateMatch, match_template
from plaudit.verify.text import bare_words, count_words, ngrams, normalize_text, sentences, words

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
    answer = without_thinking(response)
    if not words(answer):
        return 0.0
    commitment = find_committed_answer(response, MathPolicy())
    ended = _CLOSED.search(answer[-100:]) is not None and not answer.rstrip().endswith(("...", "…"))
    return (ended + (not _is_left_open(response)) + (not commitment.rejected)) / 3


def evaluate_relevance(response: str, prompt: str) -> float:
    """How far the response takes up the words of the prompt in sentences of its own.

    Half of the prompt's content words are enough. Runs of five words copied from the prompt do not count, and words of
    the prompt count only up to the number of the response's own, so neither a copy nor a list of them pays. Cannot see
    meaning: a bare right answer shares no words with its question, a fluent wrong one may share many.
    """
    prompted = _terms(prompt)
    prompt_terms = set(prompted) - _FUNCTION_WORDS
    response_terms = set(_drop_copied(_terms(without_thinking(response)), prompted))
    taken_up = min(len(response_terms & prompt_terms), len(response_terms - set(prompted)))
    return min(1.0, taken_up / math.ceil(len(prompt_terms) / 2)) if prompt_terms else 0.0


def evaluate_clarity(response: str) -> float:
    """Short sentences, little repetition: 1.0 for sentences of up to 25 words on average, 0.0 from 60 on.

    Multiplied by the share of three-word runs that are not repeats. Cannot tell sense from fluent nonsense.
    """
    spoken = sentences(without_thinking(response))
    if not spoken:
        return 0.0
    average = sum(count_words(sentence) for sentence in spoken) / len(spoken)
    return _linear_decline(average, COMFORTABLE_SENTENCE, UNREADABLE_SENTENCE) * _distinct_share(response)


def evaluate_conciseness(response: str) -> float:
    """1.0 up to 100 words, falling to 0.0 at 500, times the share of three-word runs that are not repeats.

    Nothing said is 0.0. Cannot tell whether few words are enough for the question.
    """
    count = count_words(response)
    return _linear_decline(count, CONCISE, VERBOSE) * _distinct_share(response) if count else 0.0


def _linear_decline(value: float, full: float, zero: float) -> float:
    return min(1.0, max(0.0, (zero - value) / (zero - full)))


def _distinct_share(response: str) -> float:
    runs = ngrams(bare_words(response), 3)
    return len(set(runs)) / len(runs) if runs else 1.0


def _terms(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", normalize_text(text))


def _drop_copied(terms: list[str], prompted: list[str]) -> list[str]:
    copied_runs = set(ngrams(prompted, COPIED))
    copied = [False] * len(terms)
    for index, run in enumerate(ngrams(terms, COPIED)):
        if run in copied_runs:
            copied[index : index + COPIED] = [True] * COPIED
    return [word for word, is_copy in zip(terms, copied, strict=True) if not is_copy]


def _is_left_open(response: str) -> bool:
    fences = len(re.findall(r"^[ \t]*```", response, re.MULTILINE))
    return fences % 2 == 1 or any(response.count(opener) > response.count(closer) for opener, closer in _PAIRS)


_VALUES = {TemplateMatch.PERFECT: 1.0, TemplateMatch.PARTIAL: 0.5, TemplateMatch.NONE: 0.0}


def match_format_exactly(response: str, expected_format: str) -> float:
    """1.0 when the response closes with the template's statement, 0.5 for a partial match, else 0.0.

    `[NUM]`, `[WORD]` and `[TEXT]` are placeholders. Measures form alone: any number fills `[NUM]`.

    >>> match_format_exactly("The answer is 4.", "The answer is [NUM].")
    1.0
    """
    return _VALUES[match_template(response, expected_format)]


def check_format(response: str, expected_format: str) -> float:
    """The value of `match_format_exactly`; 0.8 and more means a perfect match."""
    return match_format_exactly(response, expected_format)


def evaluate_format(response: str, expected_format: str | None = None) -> float:
    """How well the response fits the template; where none was asked for, any readable response fits.

    Cannot judge whether a free response is well laid out.
    """
    if expected_format is None:
        return 1.0 if words(response) else 0.0
    return match_format_exactly(response, expected_format)


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
    parts = (part for line in response.splitlines() if line for part in _STEP_MARK.split(line))
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
    return [_step(sentence, labelled and index == 0) for index, sentence in enumerate(sentences(content))]


def _step(sentence: str, labelled: bool) -> str | None:
    """The sentence in a comparable form if it is a step, else None; only equations may differ by digits alone."""
    if _EQUATION.search(sentence):
        return " ".join(bare_words(sentence))
    terms = bare_words(re.sub(r"\d+", "", sentence))
    linked = labelled or bool(_LINKS.intersection(terms))
    return " ".join(terms) if linked and len(set(terms) - _LINKS) >= MIN_WORDS else None
