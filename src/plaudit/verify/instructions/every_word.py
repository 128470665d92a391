"""IFBench's instructions about each word and each sentence (`words:…`, `sentence:…`).

An instruction about every word or every sentence holds where there is only one.
"""

import itertools
import unicodedata
from collections import Counter

from plaudit.verify.instructions.english import parities, start_verb
from plaudit.verify.instructions.instruction import Instruction, compare, count, positive, result, text_argument
from plaudit.verify.instructions.keywords import at_position, occurrences
from plaudit.verify.instructions.parts import has_word, is_word, lines_of, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict

_CLUSTER = compile_late(r"[b-df-hj-np-tv-z]{2}")


def alphabet(text: str) -> Verdict:
    """Each word starts with the letter that follows that of the word before it."""
    letters = [_first_letter(word) for word in words_of(text)]
    if not all("a" <= letter <= "z" for letter in letters):
        return result(False, "a word does not start with a letter of the alphabet")
    for first, second in itertools.pairwise(letters):
        if (ord(second) - ord(first)) % 26 != 1:
            return result(False, f"a word with {second!r} follows one with {first!r}")
    return result(bool(letters), f"{len(letters)} words in the order of the alphabet")


def vowel(text: str) -> Verdict:
    """One paragraph in which at most three of a, e, i, o, u occur."""
    if len(lines_of(text)) != 1:
        return compare(len(lines_of(text)), "exactly", 1, "paragraphs")
    vowels = sorted(set(_plain(text)) & set("aeiou"))
    return result(len(vowels) <= 3 and has_word(text), f"the vowels are {', '.join(vowels)}")


def consonants(text: str) -> Verdict:
    """Each word has two consonants in a row; y is one."""
    without = next((word for word in words_of(_plain(text)) if not _CLUSTER.search(word)), None)
    return result(
        without is None and has_word(text), f"{without!r:.40} has no cluster of consonants" if without else "all words"
    )


def palindrome(text: str) -> Verdict:
    """At least ten words of five letters or more that read the same backwards; the letters are not all the same."""
    words = [word for word in words_of(text.casefold()) if len(word) >= 5 and word.isalpha() and len(set(word)) > 1]
    return compare(sum(word == word[::-1] for word in words), "at least", 10, "palindromes")


def prime_lengths(text: str) -> Verdict:
    """Each word has a prime number of letters and digits."""
    for word in words_of(text):
        length = sum(map(str.isalnum, word))
        if length < 2 or any(length % divisor == 0 for divisor in range(2, int(length**0.5) + 1)):
            return result(False, f"{word!r:.40} has {length} characters")
    return result(has_word(text), "all lengths are prime")


def repeats(text: str, small_n: int) -> Verdict:
    """No word occurs more often."""
    words = Counter(words_of(text.casefold()))
    word, times = words.most_common(1)[0] if words else ("", 0)
    return compare(times, "at most", small_n, f"times {word!r:.40}")


def no_consecutive(text: str) -> Verdict:
    """No word starts like the word before it."""
    for first, second in itertools.pairwise(words_of(text)):
        if _first_letter(first) == _first_letter(second):
            return result(False, f"{first!r:.30} and {second!r:.30} start with the same letter")
    return result(has_word(text), "no neighbours start with the same letter")


def odd_even_syllables(text: str) -> Verdict:
    """Words with odd and even numbers of syllables alternate; a number that spelling leaves open may be either."""
    words = words_of(text)
    possible = [parities(word) for word in words]
    for first in (0, 1):
        if all((first + index) % 2 in parity for index, parity in enumerate(possible)):
            return result(has_word(text), "odd and even numbers of syllables alternate")
    return result(False, "odd and even numbers of syllables do not alternate")


def last_first(text: str) -> Verdict:
    """Each sentence starts with the last word of the sentence before it."""
    for sentence, following in itertools.pairwise(map(words_of, sentences_of(text))):
        if not is_word(sentence[-1], following[0]):
            return result(False, f"{following[0]!r:.30} starts the sentence after {sentence[-1]!r:.30}")
    return result(has_word(text), "each sentence starts with the last word of the one before")


def paragraph_last_first(text: str) -> Verdict:
    """Each line that has words ends with the word that it starts with."""
    for words in filter(None, map(words_of, lines_of(text))):
        if not is_word(words[0], words[-1]):
            return result(False, f"a paragraph starts with {words[0]!r:.30} and ends with {words[-1]!r:.30}")
    return result(has_word(text), "each paragraph ends with the word that it starts with")


def words_position(text: str, keyword: str) -> Verdict:
    """The second word and the second to last word are the keyword."""
    words = words_of(text)
    if len(words) < 2:
        return result(False, "fewer than two words")
    followed = is_word(words[1], keyword.strip()) and is_word(words[-2], keyword.strip())
    return result(followed, f"the words are {words[1]!r:.30} and {words[-2]!r:.30}, expected {keyword!r:.30}")


def sentence_keyword(text: str, word: str, number: int) -> Verdict:
    """The n-th sentence has the keyword, also inside a word."""
    sentences = sentences_of(text)
    if number > len(sentences):
        return compare(len(sentences), "at least", number, "sentences")
    followed = occurrences(sentences[number - 1], word) > 0
    return result(followed, f"{word!r:.40} is {'' if followed else 'not '}in sentence {number}")


def increment(text: str, small_n: int) -> Verdict:
    """Each sentence has `small_n` more words than the sentence before it."""
    lengths = [len(words_of(sentence)) for sentence in sentences_of(text)]
    followed = all(second - first == small_n for first, second in itertools.pairwise(lengths))
    return result(followed and bool(lengths), f"sentences of {', '.join(map(str, lengths))[:80]} words")


def alliteration_increment(text: str) -> Verdict:
    """Each sentence has a longer run of words with the same first letter than the sentence before it."""
    lengths = [_longest_run(list(map(_first_letter, words_of(sentence)))) for sentence in sentences_of(text)]
    followed = all(second > first for first, second in itertools.pairwise(lengths))
    return result(followed and bool(lengths), f"runs of {', '.join(map(str, lengths))[:80]} words")


def _longest_run(letters: list[str]) -> int:
    return max(len(list(run)) for _, run in itertools.groupby(letters))


def _first_letter(word: str) -> str:
    return _plain(word[0])[0]


def _plain(text: str) -> str:
    """The text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character)) or text


IFBENCH = {
    "words:alphabet": Instruction(alphabet),
    "words:vowel": Instruction(vowel),
    "words:consonants": Instruction(consonants),
    "words:palindrome": Instruction(palindrome),
    "words:prime_lengths": Instruction(prime_lengths),
    "words:repeats": Instruction(repeats, {"small_n": positive}),
    "words:no_consecutive": Instruction(no_consecutive),
    "words:odd_even_syllables": Instruction(odd_even_syllables),
    "words:start_verb": Instruction(start_verb),
    "words:last_first": Instruction(last_first),
    "words:paragraph_last_first": Instruction(paragraph_last_first),
    "words:words_position": Instruction(words_position, {"keyword": text_argument}),
    "words:keywords_specific_position": Instruction(
        at_position, {"keyword": text_argument, "n": positive, "m": positive}
    ),
    "sentence:keyword": Instruction(sentence_keyword, {"word": text_argument, "number": ("N", positive)}),
    "sentence:increment": Instruction(increment, {"small_n": count}),
    "sentence:alliteration_increment": Instruction(alliteration_increment),
}
