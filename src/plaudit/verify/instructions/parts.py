"""Words, sentences and paragraphs as instructions count them.

Sentences are split by rule: a stop ends a sentence unless it belongs to an abbreviation, an initial, a list number or a
quotation that goes on. Items of a numbered list are sentences of their own; other lines without a stop belong to the
sentence that follows, as headings and verses do.
"""

import re

from plaudit.verify.patterns import compile_late
from plaudit.verify.text import canonical

__all__ = [
    "blocks", "divided", "has_word", "is_word", "lines_of", "same_text", "sentence_mark", "sentences_of", "split_words",
    "words_of",
]  # fmt: skip

_SPLIT_WORD = compile_late(r"\w+")
_WORD = compile_late(r"[^\W_]+(?:['’.&\-][^\W_]+)*")
_ALPHANUMERIC = compile_late(r"[^\W_]")
_STOP = compile_late(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？।॥۔؟]+[」』”]?|\n(?=[ \t]*\d+[.)]\s)")
_END_MARKS = compile_late(r"(?<![.!?…。！？])[.!?…。！？]++[^\w.!?…。！？]*+\Z")
_LAST_TOKEN = compile_late(r"\S+\Z")
_BLANK_LINES = compile_late(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_NEXT_WORD = compile_late(r"\s*([\"'“‘(\[*_]*)(\w*)")
_BOLD_ITALIC = compile_late(r"(?<![\w*.!?])\*{3}(?=[^\s*])[^*\n]+(?<=[^\s*])\*{3}(?![\w*])")
_DIVIDER = compile_late(r"(?<!\*)(?:\*{3}|\* \* \*)(?!\*)")
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


def split_words(text: str) -> list[str]:
    r"""The runs of letters and digits, as IFEval counts words (`\w+`): "don't" is two words.

    >>> split_words("Don't stop __ me")
    ['Don', 't', 'stop', 'me']
    """
    return [word for word in _SPLIT_WORD.findall(text) if word.strip("_")]


def words_of(text: str) -> list[str]:
    """The words as a reader counts them, without punctuation around them.

    >>> words_of("Don't go to the *U.S.*, well-known friend!")
    ["Don't", 'go', 'to', 'the', 'U.S', 'well-known', 'friend']
    """
    return _WORD.findall(text)


def has_word(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return _ALPHANUMERIC.search(text) is not None


def is_word(first: str, second: str) -> bool:
    """Whether two words are the same word, in any case."""
    return canonical(first).casefold() == canonical(second).casefold()


def same_text(first: str, second: str) -> bool:
    """Whether two texts are the same but for case, runs of spaces and the form of quotation marks."""
    return canonical(first).casefold().split() == canonical(second).casefold().split()


def sentences_of(text: str) -> list[str]:
    """The sentences that have a word.

    >>> sentences_of("Dr. Smith paid 3.50 dollars. Why? He knew... nothing.")
    ['Dr. Smith paid 3.50 dollars.', 'Why?', 'He knew... nothing.']
    """
    parts, start = [], 0
    for stop in _STOP.finditer(text):
        if not _goes_on(text, stop, start):
            parts.append(text[start : stop.end()].strip())
            start = stop.end()
    parts.append(text[start:].strip())
    return [part for part in parts if has_word(part)]


def sentence_mark(sentence: str) -> str:
    """The mark that ends a sentence, one of . ? ! or nothing; "?!" asks.

    >>> sentence_mark("Is it so?!"), sentence_mark("Wait..."), sentence_mark("A heading")
    ('?', '.', '')
    """
    end = _END_MARKS.search(sentence)
    if end is None:
        return ""
    return "?" if "?" in end[0] or "？" in end[0] else "!" if "!" in end[0] or "！" in end[0] else "."


def _goes_on(text: str, stop: re.Match[str], start: int) -> bool:
    """Whether the sentence continues after this stop."""
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


def blocks(text: str) -> list[str]:
    """The paragraphs between blank lines."""
    return [block for block in _BLANK_LINES.split(text.strip()) if block.strip()]


def lines_of(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def divided(text: str) -> list[str] | None:
    """The paragraphs between dividers (`***`); None where one between two dividers is empty.

    Bold italics (`***so***`) are no dividers; a divider before the first or after the last paragraph is allowed.
    """
    plain = _BOLD_ITALIC.sub(lambda match: match[0].strip("*"), text)
    parts = _DIVIDER.split(plain)
    parts = parts[not parts[0].strip() : len(parts) - (len(parts) > 1 and not parts[-1].strip())]
    return [part.strip() for part in parts] if all(has_word(part) for part in parts) else None
