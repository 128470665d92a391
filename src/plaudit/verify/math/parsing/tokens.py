r"""A unified text cut into tokens: numbers, names, functions, words, brackets, signs and LaTeX commands.

Letters in a row are a product ("xy") unless they are a known function, constant, unit or look like a word. The tables
at the top are the words and signs of mathematics.
"""

import re
from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple, cast

from plaudit.verify.math.parsing.tree import MAX_LENGTH, OverBudget
from plaudit.verify.math.parsing.units import is_unit
from plaudit.verify.numbers import DECIMAL, REPEATING

_SAME_NAME = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth exp ln log lg max min gcd "
    "lcm det dim ker deg arg sgn floor ceil abs sqrt cbrt sech csch arccoth arcsech arccsch arcsinh arccosh arctanh "
    "binomial erf"
)
FUNCTIONS = {function: function for function in _SAME_NAME.split()} | {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "arsinh": "arcsinh", "arcosh": "arccosh",
    "artanh": "arctanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "acot": "arccot", "Abs": "abs",
    "comb": "binomial", "cosec": "csc", "Re": "re", "Im": "im", "Arg": "arg", "factorial": "factorial", "sign": "sgn",
    "ceiling": "ceil", "Mod": "mod",
}  # fmt: skip
"""The spellings of a function, and its name."""

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar aleph"
)
GREEK = {letter: letter for letter in _LETTERS.split()} | {"pi": "π", "imath": "i", "ell": "l"}

SIGNS = {
    "==": "=", "<=": "<=", ">=": ">=", "!=": "!=", "=>": "=>", "->": "->", "**": "^", "\\le": "<=", "\\ge": ">=",
    "\\ne": "!=", "\\approx": "~", "\\simeq": "~", "\\doteq": "~", "\\thickapprox": "~", "\\cong": "~", "\\sim": "∼",
    "\\in": "in", "\\notin": "notin", "\\ni": "∋", "\\equiv": "≡", "\\to": "->", "\\mapsto": "->", "\\Rightarrow": "=>",
    "\\implies": "=>", "\\iff": "=>", "\\Leftrightarrow": "=>", "\\subset": "⊂", "\\subseteq": "⊂", "\\propto": "∝",
    "\\times": "*", "\\cdot": "*", "\\div": "/", "\\pm": "±", "\\mp": "∓", "\\cup": "∪", "\\cap": "∩",
    "\\setminus": "\\", "\\mid": "|", "\\|": "‖", "\\%": "%", "\\&": "and", "\\perp": "⊥", "\\parallel": "∥",
    "\\ldots": "...", "\\prime": "'", "\\cr": "row", "\\circ": "∘", "\\#": "#", "\\_": "_", "\\newline": "row",
    "\\mod": "mod", "\\bmod": "mod", "\\Longrightarrow": "=>", "\\because": "because", "\\therefore": "=>",
}  # fmt: skip
"""Signs as written, and the one sign for each."""

RELATIONS = {"=", "<", ">", "<=", ">=", "!=", "~", "in", "notin", "≡", "->", "=>", "⊂", "∝", "∼", "⊥", "∥"}
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="} | {sign: sign for sign in ("=", "!=", "~", "∼", "⊥", "∥")}
"""The signs of comparisons, and what they are when read backwards."""

SEPARATORS = {
    "and": "and", "or": "or", "und": "and", "oder": "or", "et": "and", "ou": "or", "y": "and", "o": "or", "和": "and",
    "或": "or", "&": "and", ", and": "and", ", or": "or", "及": "and", "与": "and", "或者": "or", "as well as": "and",
}  # fmt: skip

CONSTANT_WORDS = {
    "infinity": "infty", "infty": "infty", "inf": "infty", "oo": "infty", "pm": "pm", "empty": "emptyset",
    "emptyset": "emptyset",
}  # fmt: skip


class Kind(str):
    """The kinds of tokens; no Enum, whose members take four times as long to look up."""

    __slots__ = ()

    NUMBER = NAME = FUNCTION = WORD = SIGN = OPEN = CLOSE = COMMAND = END = cast("Kind", "")


for _kind in [name for name in vars(Kind) if name.isupper()]:
    setattr(Kind, _kind, Kind(_kind.lower()))


class Token(NamedTuple):
    """A piece of text; `spaced` where a space stands before it."""

    kind: Kind
    text: str
    spaced: bool = False


_COMMON = (
    rf"(?P<number>{DECIMAL})"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<text>\\(?:text|mathrm)\s?\{)"
    r"|(?P<command>\\(?:[a-zA-Z]+|.))"
    r"|(?P<sign><=|>=|!=|==|=>|->|\.\.\.+|\*\*|[-+*/^_=<>!:;,|'%°&])"
    r"|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])"
    r"|(?P<other>.)"
)
_PATTERN = re.compile(_COMMON, re.DOTALL)
_REPEATING_PATTERN = re.compile(
    f"(?P<repeating>{REPEATING})|{_COMMON}", re.DOTALL
)  # rare, and dear to look for at every digit
_REPEATS = re.compile(r"\.\d*(?:\\|\()")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_LETTERS_ALONE = re.compile(r"[^\W\d_]{2,}")
_GLUED = re.compile(r"((?:arc|a)?(?:sin|cos|tan|cot)h?|sec|csc|ln|log|exp)([xyz]|pi|theta|alpha|beta)")  # sinx
_MEASURED = (Kind.NUMBER, Kind.WORD, Kind.CLOSE)  # what a unit follows
_QUOTED = re.compile(r'"')
LONGEST_KEPT = 40  # letters of a command or word whose tokens are kept
_LONGER = {"-": ">", "=": "=>", "*": "*", "/": "", "<": "=", ">": "=", "!": "="}  # signs, and what makes others of them


def tokenize(text: str) -> list[Token]:
    """The tokens of a unified text; raises OverBudget for one too long."""
    if len(text) > MAX_LENGTH:
        raise OverBudget(f"{len(text)} characters, more than the {MAX_LENGTH} that are read as mathematics")
    return _merge_words(_Lexer(text).tokens())


class _Lexer:
    """One pass over a text; remembers how many brackets are open, as commas inside them part items."""

    def __init__(self, text: str) -> None:
        self.text, self.depth, self.spaced = text, 0, False
        self.output: list[Token] = []

    def tokens(self) -> list[Token]:
        index, text, length, output = 0, self.text, len(self.text), self.output
        matched = (_REPEATING_PATTERN if "." in text and _REPEATS.search(text) else _PATTERN).match
        while index < length:
            sign = text[index]
            if single := _SINGLES.get(sign):
                alone, spaced, deeper = single
                output.append(spaced if self.spaced else alone)
                self.depth += deeper
                index += 1
            elif sign.isspace():
                self.spaced = True
                index += 1
                continue
            elif (short := _SHORT.get(sign)) and _ends_at(text, index + 1, short[2]):
                alone, spaced, _ = short
                output.append(spaced if self.spaced else alone)
                index += 1
            elif match := matched(text, index):
                index = self._take(match)
            self.spaced = False
        return output

    def _take(self, match: re.Match[str]) -> int:
        """Add the tokens of a match; returns where they end, which may be before the match does, or behind it."""
        kind, text, end = match.lastgroup, match[0], match.end()
        if kind == "number":
            if "," in text:
                end -= len(text) - text.index(",") if self.depth else 0
                text = self.text[match.start() : end].replace(",", "")
            self.output.append(Token(Kind.NUMBER, text, self.spaced))
        elif kind == "command":
            self.output.append(_command(text[:LONGEST_KEPT])[self.spaced])
            self.depth += _DEEPER.get(text, 0)
        elif kind == "text":
            return self._take_text(end)
        elif kind == "repeating":
            self.output.append(Token(Kind.NUMBER, text, self.spaced))
        elif kind == "letters":
            read = _split_letters if len(text) <= LONGEST_KEPT else _split_letters.__wrapped__
            self.output += read(text)[self.spaced]
        elif kind == "sign":
            self.output.append(Token(Kind.SIGN, SIGNS.get(text, text), self.spaced))
        elif text not in '."`#@?\\':
            self.output.append(Token(Kind.WORD, text, self.spaced))
        return end

    def _take_text(self, start: int) -> int:
        end = _find_closing(self.text, start)
        inside = _QUOTED.sub("", self.text[start:end]).strip()
        if inside in ("e", "i") or not _LETTERS_ALONE.search(inside):
            if len(inside) == 1 and inside.isalpha() and inside not in "ei":
                self.output.append(Token(Kind.WORD, inside, self.spaced))
            else:
                self.output.extend(_Lexer(inside).tokens())
        else:
            measured = bool(self.output) and (self.output[-1].kind in _MEASURED or self.output[-1].text == "/")
            self.output.extend(_tokens_of_words(inside, self.spaced, measured=measured))
        return end + 1


def _ends_at(text: str, index: int, longer: frozenset[str]) -> bool:
    following = text[index : index + 1]
    return following not in longer and following < "\x80"


def _pair(kind: Kind, text: str) -> tuple[Token, Token]:
    """A token without and with a space before it, to be picked by whether there is one."""
    return Token(kind, text), Token(kind, text, True)


# What is a token by itself, whatever follows: without and with a space before it, and how much deeper it leads.
_SINGLES = {
    **{sign: (*_pair(Kind.SIGN, sign), 0) for sign in "+^_;,|'%°&:"},
    **{sign: (*_pair(Kind.OPEN, sign), int(sign != "{")) for sign in "([{"},
    **{sign: (*_pair(Kind.CLOSE, sign), -int(sign != "}")) for sign in ")]}"},
}
# What is a token by itself unless one of these characters follows.
_SHORT = {
    **{letter: (*_pair(Kind.NAME, letter), frozenset(ascii_letters)) for letter in ascii_letters},
    **{sign: (*_pair(Kind.SIGN, sign), frozenset(after)) for sign, after in _LONGER.items()},
}
_DEEPER = {"\\{": 1, "\\}": -1}


@lru_cache(maxsize=1024)
def _command(text: str) -> tuple[Token, Token]:
    """The token of a command: a function, a letter, a sign, a bracket, or a command."""
    word = text[1:]
    if word in FUNCTIONS and word != "sqrt":
        return _pair(Kind.FUNCTION, FUNCTIONS[word])
    if word in GREEK:
        return _pair(Kind.NAME, GREEK[word])
    if text in SIGNS:
        return _pair(Kind.SIGN, SIGNS[text])
    if text in _DEEPER:
        return _pair(Kind.OPEN if text == "\\{" else Kind.CLOSE, text)
    return _pair(Kind.COMMAND, word)


def _find_closing(text: str, start: int) -> int:
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.start()
    return len(text)


def _tokens_of_words(text: str, spaced: bool, *, measured: bool) -> list[Token]:
    """The tokens of words inside a text command; "and" and "or" part items, functions stay functions."""
    lowered = text.lower().strip(" ,;:")
    if lowered in SEPARATORS:
        return [Token(Kind.SIGN, SEPARATORS[lowered])]
    if text in FUNCTIONS and not (measured and is_unit(text)):
        return [Token(Kind.FUNCTION, FUNCTIONS[text])]
    if re.search(r"[\d\\]", text):
        return _Lexer(text).tokens()
    return [Token(Kind.WORD, text, spaced)]


@lru_cache(maxsize=1024)
def _split_letters(text: str) -> tuple[list[Token], list[Token]]:
    """The tokens of a run of letters, without and with a space before it."""
    kinds = _read_letters(text)
    return [Token(kind, part) for kind, part in kinds], [Token(kind, part, True) for kind, part in kinds]


def _read_letters(text: str) -> list[tuple[Kind, str]]:
    """A run of letters as one known word, or as single letters."""
    if len(text) == 1 and text.isascii():
        return [(Kind.NAME, text)]
    lowered = text.lower()
    if text in FUNCTIONS or lowered in FUNCTIONS:
        return [(Kind.FUNCTION, FUNCTIONS.get(text) or FUNCTIONS[lowered])]
    if text in GREEK:
        return [(Kind.NAME, GREEK[text])]
    if lowered in SEPARATORS:
        return [(Kind.SIGN, SEPARATORS[lowered])]
    if glued := _GLUED.fullmatch(text):
        return [(Kind.FUNCTION, FUNCTIONS[glued[1]]), *_read_letters(glued[2])]
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
