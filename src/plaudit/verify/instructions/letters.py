"""Instructions about case, characters and language."""

import itertools

from plaudit.verify.instructions.instruction import Instruction, compare, count, language, quantifier, relation, result
from plaudit.verify.instructions.parts import sentences_of, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.texts.language import Language
from plaudit.verify.verifier import Answer, Verdict

__all__ = ["FUNCTIONS", "IFEVAL", "TRAINING"]

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
    """A word of three letters or more that reads the same backwards, or such a sentence, line or quotation."""
    phrases = [*_QUOTED.findall(text)]
    for sentence in sentences_of(text):
        phrases += [sentence, *_LINE_OR_COLON.split(sentence)]
    for candidate in (*words_of(text), *phrases):
        letters = [character for character in candidate.casefold() if character.isalpha()]
        if len(letters) >= 3 and letters == letters[::-1] and len(set(letters)) > 1:
            return result(True, f"{candidate!r:.60} reads the same backwards")
    return result(False, "no palindrome of three letters or more")


IFEVAL = {
    "language:response_language": Instruction(response_language, {"language": language}),
    "change_case:capital_word_frequency": Instruction(
        capital_words, {"capital_frequency": count, "capital_relation": relation}
    ),
    "change_case:english_capital": Instruction(english_capital),
    "change_case:english_lowercase": Instruction(english_lowercase),
    "punctuation:no_comma": Instruction(without_characters, fixed={"characters": COMMAS}),
}
TRAINING = {
    "punctuation:punctuation_dot": Instruction(without_characters, fixed={"characters": DOTS}),
    "punctuation:punctuation_exclamation": Instruction(without_characters, fixed={"characters": EXCLAMATIONS}),
    "keywords:no_adjacent_consecutive": Instruction(no_alphabetical_neighbours),
    "keywords:palindrome": Instruction(palindrome),
}
FUNCTIONS = {
    "validate_response_language": Instruction(response_language, {"language": language}),
    "validate_frequency_capital_words": Instruction(
        capital_words,
        {"capital_frequency": count, "capital_relation": quantifier},
        {"capital_frequency": "N", "capital_relation": "quantifier"},
    ),
    "validate_uppercase": Instruction(english_capital),
    "validate_lowercase": Instruction(english_lowercase),
    "validate_no_commas": Instruction(without_characters, fixed={"characters": COMMAS}),
}
