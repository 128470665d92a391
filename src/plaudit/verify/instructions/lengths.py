"""Instructions about the number of words, sentences, paragraphs and letters."""

from plaudit.verify.instructions.instruction import (
    Instruction,
    N,
    compare,
    count,
    letter,
    quantifier,
    relation,
    result,
    text_argument,
)
from plaudit.verify.instructions.parts import blocks, divided, split_words, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import canonical, sentences_of
from plaudit.verify.verifier import Verdict

_DASH = compile_late("[–—]")


def number_words(text: str, num_words: int, relation: str) -> Verdict:
    """So many words, counted as IFEval does."""
    return compare(len(split_words(text)), relation, num_words, "words")


def number_sentences(text: str, num_sentences: int, relation: str) -> Verdict:
    """So many sentences."""
    return compare(len(sentences_of(text)), relation, num_sentences, "sentences")


def number_paragraphs(text: str, num_paragraphs: int) -> Verdict:
    """So many paragraphs, divided by `***`."""
    paragraphs = divided(text)
    if paragraphs is None:
        return result(False, "a paragraph between two dividers is empty")
    return compare(len(paragraphs), "exactly", num_paragraphs, "paragraphs")


def number_blocks(text: str, num_paragraphs: int) -> Verdict:
    """So many paragraphs, divided by blank lines."""
    return compare(len(blocks(text)), "exactly", num_paragraphs, "paragraphs")


def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> Verdict:
    """So many paragraphs between blank lines, and the n-th starts with the word."""
    paragraphs = blocks(text)
    if len(paragraphs) != num_paragraphs:
        return compare(len(paragraphs), "exactly", num_paragraphs, "paragraphs")
    if not 0 < nth_paragraph <= len(paragraphs):
        return result(False, f"there is no paragraph {nth_paragraph}")
    token = _DASH.split(paragraphs[nth_paragraph - 1].split()[0], maxsplit=1)[0]
    first = token.lstrip("'\"“‘").rstrip(".,?!'\":;…”’)")
    return result(
        first.casefold() == first_word.strip().casefold(),
        f"paragraph {nth_paragraph} starts with {first!r:.40}, expected {first_word!r:.40}",
    )


def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: str) -> Verdict:
    """The character occurs so often, in either case."""
    return compare(text.casefold().count(letter.casefold()), let_relation, let_frequency, f"times {letter!r}")


def number_letters(text: str, number: int, relation: str) -> Verdict:
    """So many letters."""
    return compare(sum(character.isalpha() for character in text), relation, number, "letters")


def number_lowercase_words(text: str, number: int) -> Verdict:
    """At most `number` words in lower case."""
    return compare(sum(word.islower() for word in words_of(text)), "at most", number, "words in lower case")


def composition(text: str, n_sent: int, n_words: int) -> Verdict:
    """Three paragraphs divided by `* * *`, each of `n_sent` sentences of `n_words` words."""
    paragraphs = divided(text) or []
    if len(paragraphs) != 3:
        return compare(len(paragraphs), "exactly", 3, "paragraphs")
    for number, paragraph in enumerate(paragraphs, 1):
        sentences = sentences_of(paragraph)
        if len(sentences) != n_sent:
            return compare(len(sentences), "exactly", n_sent, f"sentences in paragraph {number}")
        wrong = next((each for each in sentences if len(words_of(each)) != n_words), None)
        if wrong is not None:
            return compare(len(words_of(wrong)), "exactly", n_words, f"words in {wrong!r:.60}")
    return result(True, f"3 paragraphs of {n_sent} sentences of {n_words} words")


def unique_words(text: str) -> Verdict:
    """No word occurs twice, in any case."""
    seen: set[str] = set()
    for word in words_of(canonical(text).casefold()):
        if word in seen:
            return result(False, f"{word!r:.40} occurs twice")
        seen.add(word)
    return result(bool(seen), f"{len(seen)} different words")


_LETTER = {"letter": letter, "let_frequency": count, "let_relation": relation}
IFEVAL = {
    "length_constraints:number_words": Instruction(number_words, {"num_words": count, "relation": relation}),
    "length_constraints:number_sentences": Instruction(
        number_sentences, {"num_sentences": count, "relation": relation}
    ),
    "length_constraints:number_paragraphs": Instruction(number_paragraphs, {"num_paragraphs": count}),
    "length_constraints:nth_paragraph_first_word": Instruction(
        nth_paragraph_first_word, {"num_paragraphs": count, "nth_paragraph": count, "first_word": text_argument}
    ),
    "keywords:letter_frequency": Instruction(letter_frequency, _LETTER),
}
TRAINING = {
    "paragraphs:paragraphs": Instruction(number_paragraphs, fixed={"num_paragraphs": 2}),
    "paragraphs:paragraphs2": Instruction(number_blocks, fixed={"num_paragraphs": 2}),
    "letters:letter_counting": Instruction(number_letters, {"number": N, "relation": relation}),
    "letters:letter_counting2": Instruction(letter_frequency, _LETTER),
    "count:lowercase_counting": Instruction(number_lowercase_words, {"number": N}),
    "count:counting_composition": Instruction(composition, {"n_sent": count, "n_words": count}),
    "count:count_unique": Instruction(unique_words),
}
FUNCTIONS = {
    "validate_word_constraint": Instruction(number_words, {"num_words": N, "relation": quantifier}),
    "verify_sentence_constraint": Instruction(number_sentences, {"num_sentences": N, "relation": quantifier}),
    "verify_paragraph_count": Instruction(number_paragraphs, {"num_paragraphs": N}),
    "validate_paragraphs": Instruction(
        nth_paragraph_first_word,
        {"num_paragraphs": N, "nth_paragraph": ("i", count), "first_word": text_argument},
    ),
    "verify_letter_frequency": Instruction(
        letter_frequency, {"letter": letter, "let_frequency": N}, {"let_relation": "exactly"}
    ),
}
