"""Words and paragraphs as instructions count them."""

from plaudit.verify.patterns import compile_late
from plaudit.verify.text import canonical

_SPLIT_WORD = compile_late(r"\w+")
_WORD = compile_late(r"[^\W_]+(?:['’.&\-][^\W_]+)*")
_ALPHANUMERIC = compile_late(r"[^\W_]")
_END_MARKS = compile_late(r"(?<![.!?…。！？])[.!?…。！？]++[^\w.!?…。！？]*+\Z")
_BLANK_LINES = compile_late(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_BOLD_ITALIC = compile_late(r"(?<![\w*.!?])\*{3}(?=[^\s*])[^*\n]+(?<=[^\s*])\*{3}(?![\w*])")
_DIVIDER = compile_late(r"(?<!\*)(?:\*{3}|\* \* \*)(?!\*)")


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


def sentence_mark(sentence: str) -> str:
    """The mark that ends a sentence, one of . ? ! or nothing; "?!" asks.

    >>> sentence_mark("Is it so?!"), sentence_mark("Wait..."), sentence_mark("A heading")
    ('?', '.', '')
    """
    end = _END_MARKS.search(sentence)
    if end is None:
        return ""
    return "?" if "?" in end[0] or "？" in end[0] else "!" if "!" in end[0] or "！" in end[0] else "."


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
