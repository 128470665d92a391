"""IFBench's instructions about numbers and shares of words, sentences and marks (`count:…`, `ratio:…`)."""

from collections import Counter
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.verify.instructions.english import CONJUNCTIONS, PRONOUNS, STOP_WORDS
from plaudit.verify.instructions.instruction import (
    Instruction,
    N,
    compare,
    count,
    percentage,
    positive,
    result,
    text_argument,
)
from plaudit.verify.instructions.keywords import occurrences
from plaudit.verify.instructions.parts import sentence_mark, split_words, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict

NAMES = frozenset({
    "Emma", "Liam", "Sophia", "Jackson", "Olivia", "Noah", "Ava", "Lucas", "Isabella", "Mason", "Mia", "Ethan",
    "Charlotte", "Alexander", "Amelia", "Benjamin", "Harper", "Leo", "Zoe", "Daniel", "Chloe", "Samuel", "Lily",
    "Matthew", "Grace", "Owen", "Abigail", "Gabriel", "Ella", "Jacob", "Scarlett", "Nathan", "Victoria", "Elijah",
    "Layla", "Nicholas", "Audrey", "David", "Hannah", "Christopher", "Penelope", "Thomas", "Nora", "Andrew", "Aria",
    "Joseph", "Claire", "Ryan", "Stella", "Jonathan",
})  # fmt: skip
"""The names that the prompts list."""
_CAPITALISED = compile_late(r"(?<!\w)[A-Z][a-z]+(?!\w)")
_NUMBER = compile_late(r"\d+(?:[.,]\d+)*")
_JOINED_NUMBER = compile_late(r"\d+(?:[.,:/]\d+)*")
_INTERROBANG = compile_late(r"\?!|!\?|‽")
_MARKS = ".,!?;:"
_JAPANESE = compile_late(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f々〆]")
_TIMES = (1, 2, 3, 5, 7)


def word_count_range(text: str, min_words: int, max_words: int) -> Verdict:
    """The number of words is in the range; "don't" may be counted as one word or as two."""
    numbers = len(words_of(text)), len(split_words(text))
    reason = f"{numbers[0]} words, expected {min_words} to {max_words}"
    return result(any(min_words <= number <= max_words for number in numbers), reason)


def unique_word_count(text: str, number: int) -> Verdict:
    """At least `number` different words."""
    return compare(len(set(words_of(text.casefold()))), "at least", number, "different words")


def stop_words(text: str, percentage: float) -> Verdict:
    """At most this share of the words are stop words."""
    words = split_words(text.casefold())
    share = 100 * sum(word in STOP_WORDS for word in words) / len(words) if words else 100.0
    return result(bool(words) and share <= percentage, f"{share:.1f} % stop words, expected at most {percentage:g} %")


def sentence_type(text: str) -> Verdict:
    """Twice as many statements as questions, and a question."""
    statements, questions, _ = _sentence_types(text)
    return result(statements == 2 * questions > 0, f"{statements} statements and {questions} questions, expected 2:1")


def sentence_balance(text: str) -> Verdict:
    """As many statements as questions as exclamations, and one of each."""
    numbers = _sentence_types(text)
    reason = f"{numbers[0]} statements, {numbers[1]} questions, {numbers[2]} exclamations, expected as many of each"
    return result(numbers[0] == numbers[1] == numbers[2] > 0, reason)


def _sentence_types(text: str) -> tuple[int, int, int]:
    marks = Counter(map(sentence_mark, sentences_of(text)))
    return marks["."], marks["?"], marks["!"]


def sentence_words(text: str) -> Verdict:
    """Three sentences of the same length in which no word occurs twice."""
    sentences = sentences_of(text)
    if len(sentences) != 3:
        return compare(len(sentences), "exactly", 3, "sentences")
    lengths = [len(sentence) for sentence in sentences]
    if len(set(lengths)) > 1:
        return result(False, f"sentences of {', '.join(map(str, lengths))} characters")
    word, times = Counter(words_of(text.casefold())).most_common(1)[0]
    return result(times == 1, f"{word!r:.40} occurs {times} times")


def conjunctions(text: str, small_n: int) -> Verdict:
    """At least `small_n` different coordinating conjunctions."""
    used = CONJUNCTIONS.intersection(words_of(text.casefold()))
    return compare(len(used), "at least", small_n, "different coordinating conjunctions")


def person_names(text: str, number: int) -> Verdict:
    """At least `number` different names of the list, each as a word."""
    return compare(len(NAMES.intersection(_CAPITALISED.findall(text))), "at least", number, "different names")


def numbers(text: str, number: int) -> Verdict:
    """Exactly `number` numbers in digits; 10:30 and 1/2 may be counted as one number or as two."""
    total = len(_NUMBER.findall(text))
    return result(number in (total, len(_JOINED_NUMBER.findall(text))), f"{total} numbers, expected exactly {number}")


def punctuation(text: str) -> Verdict:
    """An interrobang, and each of . , ! ? ; : in addition."""
    beside = _INTERROBANG.sub("", text, count=1)
    missing = [mark for mark in _MARKS if mark not in beside]
    if beside == text:
        missing.append("?!")
    return result(not missing, f"{' '.join(missing)} missing" if missing else "all punctuation marks are there")


def pronouns(text: str, number: int) -> Verdict:
    """At least `number` pronouns, also in contractions such as "I'm"."""
    return compare(sum(word in PRONOUNS for word in split_words(text.casefold())), "at least", number, "pronouns")


def keywords_multiple(text: str, **keywords: str) -> Verdict:
    """The five keywords occur once, twice, three, five and seven times."""
    for keyword, times in zip(keywords.values(), _TIMES, strict=True):
        if occurrences(text, keyword) != times:
            return compare(occurrences(text, keyword), "exactly", times, f"times {keyword!r:.40}")
    return result(True, "every keyword occurs as often as it must")


def words_japanese(text: str, number: int) -> Verdict:
    """Every n-th word, counted at spaces, has Japanese characters."""
    words = [word for word in text.split() if words_of(word)]
    other = next((word for word in words[number - 1 :: number] if not _JAPANESE.search(word)), None)
    return result(other is None, f"{other!r:.40} is not Japanese" if other else f"every {number}th word is Japanese")


def overlap(text: str, reference_text: str, percentage: float) -> Verdict:
    """The share of runs of three characters that the reference text has too, within 2 points."""
    runs, reference = _trigrams(text), _trigrams(reference_text)
    share = 100 * len(runs & reference) / len(runs) if runs else 0.0
    return result(abs(share - percentage) <= 2, f"trigram overlap of {share:.1f} %, expected {percentage:g} % ± 2 %")


def _trigrams(text: str) -> set[str]:
    return {text[start : start + 3] for start in range(len(text) - 2)}


def _is_range(min_words: int, max_words: int) -> None:
    if min_words > max_words:
        raise InvalidTrajectory(f"no number of words is from {min_words} to {max_words}")


def _at_most(most: int) -> Any:
    def read(value: Any) -> int:
        if (number := count(value)) > most:
            raise InvalidTrajectory(f"a number from 0 to {most}")
        return number

    return read


_NUMBER_N = {"number": N}
IFBENCH = {
    "count:word_count_range": Instruction(
        word_count_range, {"min_words": count, "max_words": count}, consistent=_is_range
    ),
    "count:unique_word_count": Instruction(unique_word_count, _NUMBER_N),
    "count:conjunctions": Instruction(conjunctions, {"small_n": _at_most(len(CONJUNCTIONS))}),
    "count:person_names": Instruction(person_names, {"number": ("N", _at_most(len(NAMES)))}),
    "count:numbers": Instruction(numbers, _NUMBER_N),
    "count:punctuation": Instruction(punctuation),
    "count:pronouns": Instruction(pronouns, _NUMBER_N),
    "count:keywords_multiple": Instruction(
        keywords_multiple, {f"keyword{number}": text_argument for number in range(1, 6)}
    ),
    "count:words_japanese": Instruction(words_japanese, {"number": ("N", positive)}),
    "ratio:stop_words": Instruction(stop_words, {"percentage": percentage}),
    "ratio:sentence_type": Instruction(sentence_type),
    "ratio:sentence_balance": Instruction(sentence_balance),
    "ratio:sentence_words": Instruction(sentence_words),
    "ratio:overlap": Instruction(overlap, {"reference_text": text_argument, "percentage": percentage}),
}
