"""Instructions about keywords.

Keywords are found as IFEval finds them, in any case and inside longer words ("cat" in "category"). Forbidden words are
whole words. Both are compared in one Unicode form, in which can’t is can't.
"""

import functools
import re

from plaudit.verify.instructions.instruction import (
    Instruction,
    compare,
    count,
    relation,
    result,
    text_argument,
    texts,
)  # fmt: skip
from plaudit.verify.instructions.parts import is_word, sentences_of, words_of
from plaudit.verify.text import canonical
from plaudit.verify.verifier import Verdict

__all__ = ["FUNCTIONS", "IFEVAL", "TRAINING", "at_position", "occurrences", "whole_word"]


def existence(text: str, keywords: tuple[str, ...]) -> Verdict:
    """Every keyword is there."""
    missing = [keyword for keyword in keywords if not occurrences(text, keyword)]
    return result(not missing, f"{', '.join(missing)!r:.80} missing" if missing else "all keywords are there")


def frequency(text: str, keyword: str, frequency: int, relation: str) -> Verdict:
    """The keyword occurs so often."""
    return compare(occurrences(text, keyword), relation, frequency, f"times {keyword!r:.40}")


def word_frequency(text: str, keyword: str, frequency: int, relation: str) -> Verdict:
    """The keyword occurs so often as a word of its own."""
    times = len(whole_word(keyword).findall(canonical(text)))
    return compare(times, relation, frequency, f"times the word {keyword!r:.40}")


def forbidden_words(text: str, forbidden_words: tuple[str, ...]) -> Verdict:
    """None of the words is there."""
    plain = canonical(text)
    present = [word for word in forbidden_words if whole_word(word).search(plain)]
    return result(not present, f"{', '.join(present)!r:.80} must not occur" if present else "no forbidden word")


def once_and_twice(text: str, keyword1: str, keyword2: str) -> Verdict:
    """The first keyword occurs once, the second twice."""
    numbers = occurrences(text, keyword1), occurrences(text, keyword2)
    return result(numbers == (1, 2), f"{numbers[0]} and {numbers[1]} times, expected 1 and 2")


def excluded(text: str, keyword: str) -> Verdict:
    """The word is not there."""
    return forbidden_words(text, (keyword,))


def at_position(text: str, keyword: str, n: int, m: int) -> Verdict:
    """The m-th word of the n-th sentence is the keyword."""
    sentences = sentences_of(text)
    words = words_of(sentences[n - 1]) if 0 < n <= len(sentences) else []
    word = words[m - 1] if 0 < m <= len(words) else None
    reason = f"the word there is {word!r:.40}" if word is not None else f"there is no word {m} in sentence {n}"
    return result(word is not None and is_word(word, keyword), reason)


def occurrences(text: str, keyword: str) -> int:
    """How often a keyword occurs, in any case, also inside words."""
    return canonical(text).casefold().count(canonical(keyword.strip()).casefold())


@functools.lru_cache(maxsize=2048)
def whole_word(word: str) -> re.Pattern[str]:
    """A pattern for a word or a phrase that is not part of a longer word, in canonical text."""
    spaced = r"\s+".join(re.escape(part) for part in canonical(word).split())
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


_KEYWORD = {"keyword": text_argument}
IFEVAL = {
    "keywords:existence": Instruction(existence, {"keywords": texts}),
    "keywords:frequency": Instruction(frequency, {**_KEYWORD, "frequency": count, "relation": relation}),
    "keywords:forbidden_words": Instruction(forbidden_words, {"forbidden_words": texts}),
}
TRAINING = {
    "keywords:word_once": Instruction(frequency, _KEYWORD, fixed={"frequency": 1, "relation": "exactly"}),
    "keywords:word_count_different_numbers": Instruction(
        frequency, {**_KEYWORD, "frequency": count}, fixed={"relation": "exactly"}
    ),
    "keywords:exclude_word_harder": Instruction(excluded, _KEYWORD),
    "keywords:keyword_specific_position": Instruction(at_position, {**_KEYWORD, "n": count, "m": count}),
    "count:count_increment_word": Instruction(once_and_twice, {"keyword1": text_argument, "keyword2": text_argument}),
}
FUNCTIONS = {
    "verify_keywords": Instruction(existence, {"keywords": texts}, names={"keywords": "keyword_list"}),
    "verify_keyword_frequency": Instruction(
        word_frequency,
        {"keyword": text_argument, "frequency": count},
        names={"keyword": "word", "frequency": "N"},
        fixed={"relation": "exactly"},
    ),
    "validate_forbidden_words": Instruction(forbidden_words, {"forbidden_words": texts}),
}
