r"""A unified text cut into tokens: numbers, names, functions, words, brackets, signs and LaTeX commands.

Letters in a row are a product ("xy") unless they are a known function, constant, unit or look like a word.
"""

import re
from typing import ClassVar, NamedTuple

from plaudit.verify.math.parsing.budget import MAX_LENGTH, OverBudget
from plaudit.verify.math.parsing.constructors import CONSTRUCTORS
from plaudit.verify.math.parsing.units import is_unit
from plaudit.verify.math.parsing.vocabulary import CONSTANT_WORDS, FUNCTIONS, GREEK, SEPARATORS, SIGNS

__all__ = ["Kind", "Token", "tokenize"]


class Kind(str):
    """What a token is; no Enum, whose members take four times as long to look up."""

    __slots__ = ()

    NUMBER: ClassVar["Kind"]
    NAME: ClassVar["Kind"]
    FUNCTION: ClassVar["Kind"]
    WORD: ClassVar["Kind"]
    SIGN: ClassVar["Kind"]
    OPEN: ClassVar["Kind"]
    CLOSE: ClassVar["Kind"]
    COMMAND: ClassVar["Kind"]
    END: ClassVar["Kind"]


for _kind in Kind.__annotations__:
    setattr(Kind, _kind, Kind(_kind.lower()))


class Token(NamedTuple):
    """A piece of text; `spaced` where a space stands before it."""

    kind: Kind
    text: str
    spaced: bool = False


_COMMON = (
    r"(?P<number>[1-9]\d{0,2}(?:,\d{3})+(?![\d])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+(?![\da-zA-Z(]))?)"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<text>\\(?:text|mathrm)\s?\{)"
    r"|(?P<command>\\(?:[a-zA-Z]+|.))"
    r"|(?P<sign><=|>=|!=|==|=>|->|\.\.\.+|\*\*|[-+*/^_=<>!:;,|'%°&])"
    r"|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])"
    r"|(?P<other>.)"
)
_REPEATING = r"(?P<repeating>\d*\.\d*\\(?:overline|bar|dot)\s?\{\s?\d+\s?\}|\d*\.\d*\(\d+\)(?=\s*$|\.\.\.))"
_PATTERN = re.compile(_COMMON, re.DOTALL)
_REPEATING_PATTERN = re.compile(f"{_REPEATING}|{_COMMON}", re.DOTALL)  # rare, and dear to look for at every digit
_REPEATS = re.compile(r"\.\d*(?:\\|\()")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_LETTERS_ALONE = re.compile(r"[^\W\d_]{2,}")
_GLUED = re.compile(r"((?:arc|a)?(?:sin|cos|tan|cot)h?|sec|csc|ln|log|exp)([xyz]|pi|theta|alpha|beta)")  # sinx
_MEASURED = (Kind.NUMBER, Kind.WORD, Kind.CLOSE)  # what a unit follows
_QUOTED = re.compile(r'"')


def tokenize(text: str, *, thousands: bool = True) -> list[Token]:
    """The tokens of a unified text; raises OverBudget for one too long. `thousands` reads 1,000 as one number."""
    if len(text) > MAX_LENGTH:
        raise OverBudget(f"{len(text)} characters, more than the {MAX_LENGTH} that are read as mathematics")
    return _merge_words(_Lexer(text, thousands).tokens())


class _Lexer:
    """One pass over a text; remembers how many brackets are open, as commas inside them part items."""

    def __init__(self, text: str, thousands: bool) -> None:
        self.text, self.thousands = text, thousands
        self.depth, self.spaced = 0, False
        self.found: list[Token] = []

    def tokens(self) -> list[Token]:
        place, text, length = 0, self.text, len(self.text)
        matched = (_REPEATING_PATTERN if "." in text and _REPEATS.search(text) else _PATTERN).match
        while place < length:
            sign = text[place]
            if single := _SINGLES.get(sign):
                alone, spaced, deeper = single
                self.found.append(spaced if self.spaced else alone)
                self.depth += deeper
                place += 1
            elif sign.isspace():
                self.spaced = True
                place += 1
                continue
            elif match := matched(text, place):
                place = self._take(match)
            self.spaced = False
        return self.found

    def _take(self, match: re.Match[str]) -> int:
        """Add the tokens of a match; returns where they end, which may be before the match does, or behind it."""
        kind, found, end = match.lastgroup, match[0], match.end()
        if kind == "text":
            return self._take_text(end)
        if kind == "number" and "," in found and (self.depth or not self.thousands):
            end -= len(found) - found.index(",")
            found = found[: found.index(",")]
        if kind == "letters" and found in CONSTRUCTORS and self.text.startswith(("(", "["), end):
            self._add(Kind.FUNCTION, found)
        else:
            _TAKERS[kind or "other"](self, found)
        return end

    def _add(self, kind: Kind, text: str) -> None:
        self.found.append(Token(kind, text, self.spaced))

    def _take_number(self, text: str) -> None:
        self.found.append(Token(Kind.NUMBER, text.replace(",", ""), self.spaced))

    def _take_sign(self, text: str) -> None:
        self._add(Kind.SIGN, SIGNS.get(text, text))

    def _take_open(self, text: str) -> None:
        self.depth += text != "{"
        self._add(Kind.OPEN, text)

    def _take_close(self, text: str) -> None:
        self.depth -= text != "}"
        self._add(Kind.CLOSE, text)

    def _take_command(self, text: str) -> None:
        word = text[1:]
        if word in FUNCTIONS and word != "sqrt":
            self._add(Kind.FUNCTION, FUNCTIONS[word])
        elif word in GREEK:
            self._add(Kind.NAME, GREEK[word])
        elif text in SIGNS:
            self._add(Kind.SIGN, SIGNS[text])
        elif text in ("\\{", "\\}"):
            (self._take_open if text == "\\{" else self._take_close)(text)
        else:
            self._add(Kind.COMMAND, word)

    def _take_letters(self, text: str) -> None:
        if len(text) == 1 and text.isascii():
            self.found.append(Token(Kind.NAME, text, self.spaced))
            return
        for kind, part in _split_letters(text):
            self._add(kind, part)

    def _take_other(self, text: str) -> None:
        if text not in '."`#@?\\':
            self._add(Kind.WORD, text)

    def _take_text(self, place: int) -> int:
        end = _closing(self.text, place)
        said = _QUOTED.sub("", self.text[place:end]).strip()
        if said in ("e", "i") or not _LETTERS_ALONE.search(said):
            if len(said) == 1 and said.isalpha() and said not in "ei":
                self._add(Kind.WORD, said)
            else:
                self.found.extend(_Lexer(said, self.thousands).tokens())
        else:
            measured = bool(self.found) and (self.found[-1].kind in _MEASURED or self.found[-1].text == "/")
            self.found.extend(_tokens_of_words(said, self.spaced, measured=measured))
        return end + 1


_TAKERS = {
    "repeating": _Lexer._take_number,
    "number": _Lexer._take_number,
    "command": _Lexer._take_command,
    "letters": _Lexer._take_letters,
    "sign": _Lexer._take_sign,
    "open": _Lexer._take_open,
    "close": _Lexer._take_close,
    "other": _Lexer._take_other,
}


def _single(kind: Kind, text: str, deeper: int = 0) -> tuple[Token, Token, int]:
    return Token(kind, text), Token(kind, text, True), deeper


# What is a token by itself, whatever follows: without and with a space before it, and how much deeper it leads.
_SINGLES = {
    **{sign: _single(Kind.SIGN, sign) for sign in "+^_;,|'%°&:"},
    **{sign: _single(Kind.OPEN, sign, int(sign != "{")) for sign in "([{"},
    **{sign: _single(Kind.CLOSE, sign, -int(sign != "}")) for sign in ")]}"},
}


def _closing(text: str, place: int) -> int:
    depth = 1
    for found in re.finditer(r"[{}]", text[place:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return place + found.start()
    return len(text)


def _tokens_of_words(text: str, spaced: bool, *, measured: bool) -> list[Token]:
    """The tokens of words inside a text command; "and" and "or" part items, functions stay functions."""
    lowered = text.lower().strip(" ,;:")
    if lowered in SEPARATORS:
        return [Token(Kind.SIGN, SEPARATORS[lowered])]
    if text in FUNCTIONS and not (measured and is_unit(text)):
        return [Token(Kind.FUNCTION, FUNCTIONS[text])]
    if re.search(r"[\d\\]", text):
        return _Lexer(text, True).tokens()
    return [Token(Kind.WORD, text, spaced)]


def _split_letters(text: str) -> list[tuple[Kind, str]]:
    """A run of letters as one known word, or as single letters."""
    lowered = text.lower()
    if text in FUNCTIONS or lowered in FUNCTIONS:
        return [(Kind.FUNCTION, FUNCTIONS.get(text) or FUNCTIONS[lowered])]
    if text in GREEK:
        return [(Kind.NAME, GREEK[text])]
    if lowered in SEPARATORS:
        return [(Kind.SIGN, SEPARATORS[lowered])]
    if glued := _GLUED.fullmatch(text):
        return [(Kind.FUNCTION, FUNCTIONS[glued[1]]), *_split_letters(glued[2])]
    if lowered in CONSTANT_WORDS:
        return [(Kind.COMMAND, CONSTANT_WORDS[lowered])]
    if is_unit(text) or not text.isascii() or (len(text) >= 3 and _VOWEL.search(text) and not _is_product(text)):
        return [(Kind.WORD, text)]
    return [(Kind.NAME, letter) for letter in text]


def _is_product(text: str) -> bool:
    """Whether the letters run like those of a product: "abc", "xyz", "ABC"."""
    return len(text) <= 4 and (text in _ALPHABET or text.isupper())


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _merge_words(tokens: list[Token]) -> list[Token]:
    """Words in a row as one word."""
    if len([True for token in tokens if token.kind is Kind.WORD]) < 2:
        return tokens
    merged: list[Token] = []
    for token in tokens:
        if token.kind is Kind.WORD and merged and merged[-1].kind is Kind.WORD:
            merged[-1] = Token(Kind.WORD, f"{merged[-1].text} {token.text}", merged[-1].spaced)
        else:
            merged.append(token)
    return merged
