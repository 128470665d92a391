"""Words, sentences and comparable text.

Only words that a reader sees count: a word needs a letter or a digit, and characters without ink (zero-width, fillers)
are dropped first, so padding is never length.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from plaudit.verify.patterns import compile_late

MARK, MARK_START, MARK_END = "\x01", "\ue000", "\ue001"
"""Characters that verifiers put into a text to mark what they have read; `remove_marks` keeps answers free of them."""

# Format characters, and the fillers that Unicode calls letters or symbols but that print nothing.
_WITHOUT_INK = compile_late(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
_FULL_WIDTH = {code + 0xFEE0: chr(code) for code in range(0x21, 0x7F)}
_ASCII_FORMS: dict[int, str] = {**_FULL_WIDTH, ord("‘"): "'", ord("’"): "'", ord("“"): '"', ord("”"): '"'}
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # scripts that put no spaces between words
_WORD = compile_late(f"[{_UNSPACED}]|[^\\s{_UNSPACED}]+")
_ASCII_MARKS = "".join(chr(code) for code in range(128) if not chr(code).isalnum())
_SPACED = bytes(ord(" ") if chr(code).isspace() else code for code in range(256))
_UNCOUNTED = "".join(mark for mark in _ASCII_MARKS if not mark.isspace()).encode()
_LETTER_OR_DIGIT = compile_late(r"[^\W_]")
_BARE_WORD = compile_late(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}](?:[^\\s{_UNSPACED}]*[^\\W_{_UNSPACED}])?")
_STOP = compile_late(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？।॥۔؟]+[」』”]?|\n(?=[ \t]*\d+[.)]\s)")
_LAST_TOKEN = compile_late(r"\S+\Z")
_NEXT_WORD = compile_late(r"\s*([\"'“‘(\[*_]*)(\w*)")
_SPACE = compile_late(r"\s+")
_LEADING = compile_late(r"[\s*_`~#>\"'“”‘’«»]+")
_QUOTES_AND_STOPS = " \t\n*_`~\"'“”‘’«».,;:?"
_ONE_WORD_IN_BRACKETS = compile_late(r"[(\[{](\w+)[)\]}]")
_MATH_MARKS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_BEFORE_A_NAME = {
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "gen", "col", "sen", "rep", "rev", "lt", "capt", "sgt", "hon", "gov",
    "pres", "mt", "fr", "vs", "e.g", "i.e", "cf", "fig", "eq", "approx", "messrs",
}  # fmt: skip
_MAY_END = {
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "al", "ph.d", "a.m", "p.m", "u.s", "u.k", "u.n", "e.u", "u.s.a",
    "d.c", "b.c", "a.d",
}  # fmt: skip
"""Abbreviations that end a sentence only before a word that starts one."""
_STARTERS = {
    "The", "It", "He", "She", "They", "We", "I", "A", "An", "In", "On", "At", "This", "That", "These", "Those",
    "There", "But", "And", "So", "My", "You", "Your", "His", "Her", "Our", "Their", "If", "When", "While", "After",
    "Before", "As", "Then", "However", "For", "To", "What", "Who", "How", "Why", "Not", "No", "Yes",
}  # fmt: skip


def remove_invisible(text: str) -> str:
    """The text without characters that print nothing."""
    return text if text.isascii() else _WITHOUT_INK.sub("", text)


def replace_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The text with other texts in place of spans (start, end, text) that do not overlap."""
    pieces, position = [], 0
    for start, end, other in sorted(spans):
        pieces += [text[position:start], other]
        position = end
    return "".join([*pieces, text[position:]])


def remove_marks(text: str) -> str:
    """The text without the characters that verifiers use as marks."""
    for mark in (MARK, MARK_START, MARK_END):
        if mark in text:
            text = text.replace(mark, "")
    return text


def canonical(text: str) -> str:
    """The visible text in one Unicode form: composed letters, ASCII for full-width forms and for curly quotes.

    >>> canonical("Ｃ’s cafe\u0301")
    "C's café"
    """
    return text if text.isascii() else unicodedata.normalize("NFC", remove_invisible(text)).translate(_ASCII_FORMS)


def words(text: str) -> list[str]:
    """The words that count, as written; in scripts without spaces every character is a word.

    >>> words("Yes , 2\u200b2 -- ok!")
    ['Yes', '22', 'ok!']
    """
    if text.isascii():  # several times faster, with the same result
        return [word for word in text.split() if word.isalnum() or word.strip(_ASCII_MARKS)]
    return [word for word in _WORD.findall(remove_invisible(text)) if word.isalnum() or _LETTER_OR_DIGIT.search(word)]


def count_words(text: str) -> int:
    """The number of words that count; in ASCII, of those that are left without all marks, which is quicker to tell.

    >>> count_words("Yes , 22 -- ok!")
    3
    """
    return len(text.encode().translate(_SPACED, _UNCOUNTED).split()) if text.isascii() else len(words(text))


def bare_words(text: str) -> list[str]:
    """The words that count, in one case and without punctuation around them."""
    return _BARE_WORD.findall(unicodedata.normalize("NFKC", remove_invisible(text)).casefold())


def sentences(text: str) -> list[str]:
    """The sentences that have a word; each line is one or more of its own.

    >>> sentences("A heading\nDr. Smith paid. Why?")
    ['A heading', 'Dr. Smith paid.', 'Why?']
    """
    return [sentence for line in remove_invisible(text).splitlines() for sentence in sentences_of(line)]


def sentences_of(text: str) -> list[str]:
    """The sentences that have a word, also over several lines.

    A stop ends a sentence unless it belongs to an abbreviation, an initial, a list number or a quotation that goes on.
    Items of a numbered list are sentences of their own; other lines without a stop belong to the sentence that follows,
    as headings and verses do.

    >>> sentences_of("Dr. Smith paid 3.50 dollars. Why? He knew... nothing.")
    ['Dr. Smith paid 3.50 dollars.', 'Why?', 'He knew... nothing.']
    """
    parts, start = [], 0
    for stop in _STOP.finditer(text):
        if not _goes_on(text, stop, start):
            parts.append(text[start : stop.end()].strip())
            start = stop.end()
    parts.append(text[start:].strip())
    return [part for part in parts if _LETTER_OR_DIGIT.search(part)]


def _goes_on(text: str, stop: re.Match[str], start: int) -> bool:
    """Whether the sentence goes on after this stop."""
    following = _NEXT_WORD.match(text, stop.end())
    word = following[2] if following else ""
    marks = stop[0]
    if marks == "\n":
        return False
    if word[:1].islower() and (marks[-1] in "\"'”’»)]" or marks.startswith(("..", "…"))):
        return True
    if marks[0] != "." or marks.startswith(".."):
        return False
    token = _LAST_TOKEN.search(text, max(start, stop.start() - 20), stop.start())
    before = token[0].lstrip("([\"'“‘*_") if token else ""
    if before.lower() in _BEFORE_A_NAME or (before.lower() in ("no", "nos") and word.isdigit()):
        return True
    if before.lower() in _MAY_END:
        return bool(word) and word not in _STARTERS
    if len(before) == 1 and before.isupper() and before != "I":
        return word[:1].isupper() and word not in _STARTERS
    numbers_an_item = before.isdigit() or (len(before) == 1 and before.isalpha())
    return numbers_an_item and bool(word) and token is not None and _starts_line(text, start, token.start())


def _starts_line(text: str, start: int, index: int) -> bool:
    """Whether only markup comes before an index on its line; the sentence starts at `start`."""
    line = text.rfind("\n", max(0, start - 1), index) + 1 or (0 if start == 0 else index + 1)
    return line <= index and not text[line:index].strip(" \t#*>-")


def ngrams(items: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of `n` neighbours.

    >>> ngrams(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return list(zip(*(items[first:] for first in range(n)), strict=False))


def normalize_text(text: str) -> str:
    """Text for comparison: one Unicode form, one case, single spaces, no markdown or punctuation around it.

    Signs that carry meaning stay: `-5`, `.5`, `5!`, `50%` and brackets around more than one word.

    >>> normalize_text("  **(B)**. ")
    'b'
    """
    if text.isascii() and text.isalnum():
        return text.lower()
    plain = _SPACE.sub(" ", unicodedata.normalize("NFKC", remove_invisible(text))).casefold()
    before = None
    while plain != before and len(plain) < 10_000:
        before = plain
        plain = _unwrap(_LEADING.sub("", plain, count=1) if _LEADING.match(plain) else plain)
    return plain.strip()


def _unwrap(text: str) -> str:
    text = text.rstrip(_QUOTES_AND_STOPS)
    for opening, closing in _MATH_MARKS:
        if len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing):
            text = text[len(opening) : -len(closing)]
    if bracketed := _ONE_WORD_IN_BRACKETS.fullmatch(text):
        return bracketed[1]
    return text
