"""Instructions about keywords, case, characters and language.

Keywords are found as IFEval finds them, in any case and inside longer words ("cat" in "category"). Forbidden words are
whole words. Both are compared in one Unicode form, in which can’t is can't.
"""

import functools
import itertools
import re

from plaudit.verify.instructions.instruction import (
    Instruction,
    N,
    compare,
    count,
    language,
    quantifier,
    relation,
    result,
    text_argument,
    texts,
)
from plaudit.verify.instructions.parts import is_word, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import canonical, sentences_of
from plaudit.verify.texts.language import Language
from plaudit.verify.verifier import Answer, Verdict


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
    """The number of occurrences of a keyword, in any case, also inside words."""
    return canonical(text).casefold().count(canonical(keyword.strip()).casefold())


@functools.lru_cache(maxsize=2048)
def whole_word(word: str) -> re.Pattern[str]:
    """A pattern for a word or a phrase that is not part of a longer word, in canonical text."""
    spaced = r"\s+".join(re.escape(part) for part in canonical(word).split())
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


_POSSESSIVE = ("'s", "’s")
_QUOTED = compile_late(r"[\"“]([^\"“”\n]{3,400})[\"”]")
_LINE_OR_COLON = compile_late(r"[\n:]")
COMMAS, DOTS, EXCLAMATIONS = ",，،、", ".…。．", "!！"


def response_language(text: str, language: str) -> Verdict:
    """The whole text is in the language; not decided for texts that are too short to tell."""
    return Language().judge(language, Answer(text, text))


def capital_words(text: str, capital_frequency: int, capital_relation: str) -> Verdict:
    """So many words in capitals."""
    words = (word[:-2] if word.endswith(_POSSESSIVE) else word for word in words_of(text))
    return compare(sum(word.isupper() for word in words), capital_relation, capital_frequency, "words in capitals")


def english_capital(text: str) -> Verdict:
    """All letters are capitals, and the text is not in another language than English."""
    return _in_case(text, text.isupper(), "capitals")


def english_lowercase(text: str) -> Verdict:
    """All letters are in lower case, and the text is not in another language than English."""
    return _in_case(text, text.islower(), "lower case")


def _in_case(text: str, followed: bool, case: str) -> Verdict:
    if not followed:
        return result(False, f"not all letters are in {case}" if any(map(str.isalpha, text)) else "there is no letter")
    in_english = response_language(text, "en")
    return in_english if in_english.score == 0.0 else result(True, f"all letters are in {case}")


def without_characters(text: str, characters: str) -> Verdict:
    """None of the characters is there."""
    present = next((character for character in characters if character in text), None)
    return result(present is None, f"{present!r} must not occur" if present else f"no {characters[0]!r}")


def no_alphabetical_neighbours(text: str) -> Verdict:
    """No word starts with the letter that follows that of the word before it."""
    words = words_of(text.casefold())
    for first, second in itertools.pairwise(words):
        if first[0].isalpha() and ord(second[0]) - ord(first[0]) == 1:
            return result(False, f"{first!r:.30} and {second!r:.30} start with letters that follow each other")
    return result(True, "no neighbours start with letters that follow each other")


def palindrome(text: str) -> Verdict:
    """A word of three letters or more that is the same backwards, or such a sentence, line or quotation."""
    phrases = [*_QUOTED.findall(text)]
    for sentence in sentences_of(text):
        phrases += [sentence, *_LINE_OR_COLON.split(sentence)]
    for candidate in (*words_of(text), *phrases):
        letters = [character for character in candidate.casefold() if character.isalpha()]
        if len(letters) >= 3 and letters == letters[::-1] and len(set(letters)) > 1:
            return result(True, f"{candidate!r:.60} reads the same backwards")
    return result(False, "no palindrome of three letters or more")


_KEYWORD = {"keyword": text_argument}
IFEVAL = {
    "keywords:existence": Instruction(existence, {"keywords": texts}),
    "keywords:frequency": Instruction(frequency, {**_KEYWORD, "frequency": count, "relation": relation}),
    "keywords:forbidden_words": Instruction(forbidden_words, {"forbidden_words": texts}),
    "language:response_language": Instruction(response_language, {"language": language}),
    "change_case:capital_word_frequency": Instruction(
        capital_words, {"capital_frequency": count, "capital_relation": relation}
    ),
    "change_case:english_capital": Instruction(english_capital),
    "change_case:english_lowercase": Instruction(english_lowercase),
    "punctuation:no_comma": Instruction(without_characters, fixed={"characters": COMMAS}),
}
TRAINING = {
    "keywords:word_once": Instruction(frequency, _KEYWORD, fixed={"frequency": 1, "relation": "exactly"}),
    "keywords:word_count_different_numbers": Instruction(
        frequency, {**_KEYWORD, "frequency": count}, fixed={"relation": "exactly"}
    ),
    "keywords:exclude_word_harder": Instruction(excluded, _KEYWORD),
    "keywords:keyword_specific_position": Instruction(at_position, {**_KEYWORD, "n": count, "m": count}),
    "count:count_increment_word": Instruction(once_and_twice, {"keyword1": text_argument, "keyword2": text_argument}),
    "punctuation:punctuation_dot": Instruction(without_characters, fixed={"characters": DOTS}),
    "punctuation:punctuation_exclamation": Instruction(without_characters, fixed={"characters": EXCLAMATIONS}),
    "keywords:no_adjacent_consecutive": Instruction(no_alphabetical_neighbours),
    "keywords:palindrome": Instruction(palindrome),
}
FUNCTIONS = {
    "verify_keywords": Instruction(existence, {"keywords": ("keyword_list", texts)}),
    "verify_keyword_frequency": Instruction(
        word_frequency, {"keyword": ("word", text_argument), "frequency": N}, {"relation": "exactly"}
    ),
    "validate_forbidden_words": Instruction(forbidden_words, {"forbidden_words": texts}),
    "validate_response_language": Instruction(response_language, {"language": language}),
    "validate_frequency_capital_words": Instruction(
        capital_words, {"capital_frequency": N, "capital_relation": quantifier}
    ),
    "validate_uppercase": Instruction(english_capital),
    "validate_lowercase": Instruction(english_lowercase),
    "validate_no_commas": Instruction(without_characters, fixed={"characters": COMMAS}),
}
