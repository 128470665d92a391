r"""One notation for the many ways to write the same: unicode, LaTeX spacing, `\dfrac`, dollar signs, eaten backslashes.

Works on text, before anything is read; two texts that come out alike say the same.
"""

import re

from plaudit.verify.math.parsing.glyphs import replace_unicode
from plaudit.verify.patterns import compile_late

__all__ = ["read_mixed", "same_spacing_aside", "unify_notation"]

# A backslash and the letter after it become one control character when text passes through an unescaped string.
_EATEN = compile_late(
    "\x0c(?=rac|orall)|\x08(?=oxed|egin|inom|ar|eta|mod|ig)|\x07(?=lpha|rc|ngle|pprox|st)|\x0b(?=ec|ert|ar|dots)"
    "|\t(?=ext|imes|frac|an|heta|au|o\\b|riangle|ilde)|\r(?=ight|ho|m|angle|floor|ceil)"
)
_EATEN_LETTERS = {"\x0c": r"\f", "\x08": r"\b", "\x07": r"\a", "\x0b": r"\v", "\t": r"\t", "\r": r"\r"}

_DOUBLED = compile_late(
    r"\\\\(?=(?:[dtc]?frac|sqrt|boxed|text|left|right|pi|cdot|times|infty|pm|begin|end|binom|circ)\b)"
)
_DOUBLED_ALL = compile_late(r"(?<!\\)\\\\begin\b")
_OVER = compile_late(r"\{([^{}]*)\\(over|choose)(?![a-zA-Z])([^{}]*)\}")
_OVER_ALL = compile_late(r"([^{}]*)\\(over|choose)(?![a-zA-Z])([^{}]*)")
_ONE_SIDED = compile_late(r"(\\to\s?[^{}^]*?)\s?\^\s?\{?\s?[-+]\s?\}?(?=\s*\})")  # x → 3⁺
_TIMES_TEN = compile_late(r"(?<=\d)\s?[xX]\s?(?=10\s?\^)")
_LOG_BASE = compile_late(r"\\?log(2|10)(?=\s?[({])")
_ANGLED = compile_late(r"<([^<>=]*,[^<>=]*)>")
_TO = compile_late(r"(\d+) to (\d+)")
_JOINED_NUMBERS = compile_late(r"(-?[\d./]+) (?:y|e|o|und|et|ou|oder) (-?[\d./]+)")
_ORDINAL = compile_late(r"(?<=\d)\s?(?:st|nd|rd|th)\b(?!\s*(?:root|power))")
_POINTED = compile_late(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d.,])")  # 1.234,56
_APOSTROPHES = compile_late(r"(?<![\d'])\d{1,3}(?:'\d{3})+(?!['\d])")  # 1'234'567
_NEGATIVE = compile_late(r"^(?:minus|negative)\s+(?=[\d\\])", re.IGNORECASE)
_MIXED = compile_late(r"(-?\d+)\s?(?:and|\\text\{\s?and\s?\})\s?(?:(\d+)/(\d+)|\\frac\s?\{(\d+)\}\s?\{(\d+)\})")
_RAISED_IN_WORDS = compile_late(r"(?<=[\d)])\s+(squared|cubed)\b")
_PHRASES = {
    "dne": "does not exist", r"\text{dne}": "does not exist", "all real numbers": r"\mathbb{R}",
    "all reals": r"\mathbb{R}", "the set of all real numbers": r"\mathbb{R}", "all integers": r"\mathbb{Z}",
}  # fmt: skip
_DERIVATIVE = compile_late(r"(?<![a-zA-Z])d([a-zA-Z])/d([a-zA-Z])(?![a-zA-Z])")
_TURNED = compile_late(r"([\[\]])([^\[\]]*[,;][^\[\]]*)([\[\]])")  # ]0, 1[
_TURN, _TURN_BACK = {"]": "(", "[": "["}, {"[": ")", "]": "]"}
_MODULE = compile_late(r"(?<![\w.])(?:np|numpy|sp|sympy|math)\.(?=[a-zA-Z])")
_INTERVAL = compile_late(r"\bInterval\.(open|Lopen|Ropen)\b")
_DIRECTION = compile_late(r",\s?dir='[+-]+'")
_SIZED = compile_late(r"\b(float|int|Point)\d+D?(?=\()|(?<=Decimal\()'([-\d.]+)'(?=\))")
_DICTIONARY = compile_late(r"\[?\{?((?:[a-zA-Z](?:_?\d+)?: [^{}:]+)+)\}?\]?")
_ROW = compile_late(r"\\\\(?:\[-?\d+(?:\.\d+)?(?:pt|em|ex|mm)\])?")
# Patterns begin with a character where they can, even if that takes a look behind: such a character is found fast.
_NOTHING = compile_late(
    r"\\(?:(?<!\\\\)!|(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|allowbreak"
    r"|neg(?:thin|med|thick)space)"
    r"(?![a-zA-Z])\.?|(?:label|tag)\s?\{[^{}]*\}|[hv]space\*?\s?\{[^{}]*\})"
)
_COMMAND = compile_late(r"\\+([a-zA-Z]+|[^\\])")
_NOTHINGS = frozenset({
    "!", "left", "right", "middle", "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "allowbreak",
    "negthinspace", "negmedspace", "negthickspace", "label", "tag", "hspace", "vspace",
    *(f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")),
})  # fmt: skip
_MARKS = frozenset("()[]")
_ANGLES = frozenset({"langle", "rangle"})
_SPACE = compile_late(
    r"(?:(?<!\\)\\[,;:> \n]|\\q?quad|\\(?:enspace|(?:thin|med|thick)space|hfill|par|noindent)(?![a-zA-Z])"
    r"|[~\s\u200b\ufeff\u2060])+"
)
_MAYBE_SPACE = compile_late(
    r"[~\s\u200b\ufeff\u2060\\](?:(?<!\\)|[,;:> \nqethpnm])"
)  # a space, or how one's command begins
_MONEY = compile_late(r"(?<!\\)\$(?=\s?-?[\d.])")
_MATH_MARKS = compile_late(r"\\(?:[()]|(?<!\\\\)[\[\]])|\$(?<!\\\$)")
_NEW_NAMES = {
    r"\frac": "dfrac tfrac cfrac sfrac", r"\binom": "dbinom tbinom", r"\le": "leq leqslant", r"\ge": "geq geqslant",
    r"\ne": "neq", r"\{": "lbrace", r"\}": "rbrace", "[": "lbrack", "]": "rbrack", "|": "lvert rvert vert",
    r"\|": "lVert rVert Vert", r"\ldots": "cdots dots dotsc dotsb hdots", r"\emptyset": "varnothing",
    r"\arctan": "arctg", r"\arccot": "arcctg", r"\cot": "ctg", r"\tan": "tg", r"\csc": "cosec", ":": "colon",
    "<": "lt", ">": "gt", r"\to": "rightarrow longrightarrow", "(": "langle", ")": "rangle", r"\setminus": "backslash",
    r"\phi": "varphi", r"\theta": "vartheta", r"\epsilon": "varepsilon", r"\circ": "textcirc", r"\cup": "cupdot",
    r"^\circ": "textdegree degree", r"\cdot": "bullet", "*": "ast", r"\text{and}": "land wedge",
    r"\text{or}": "lor vee", r"\text": "fbox mbox hbox textrm textbf textit textnormal textsf texttt textup emph",
    r"\neg": "lnot", r"\mathrm": "rm operatorname operatorname*",
}  # fmt: skip
_NEW_NAME = {old: new for new, names in _NEW_NAMES.items() for old in names.split()}
_STATE = r"([^|$&\\{},=<>]{1,12}|\\[a-zA-Z]+)"
_BAR = r"\s?(?:\||\\[lr]?vert(?![a-zA-Z])|\\mid(?![a-zA-Z]))\s?"
_BRACKET = rf"(?:\\langle\s?{_STATE}{_BAR}(?:{_STATE}\s?\\rangle)?|{_BAR}{_STATE}\s?\\rangle)"
_BRA_OR_KET = compile_late(_BRACKET)
_BRAS_AND_KETS = compile_late(rf"{_BRACKET}(?:\s?(?:\\otimes)?\s?{_BRACKET})*")
_RENAMED = compile_late(rf"\\({'|'.join(map(re.escape, sorted(_NEW_NAME, reverse=True)))})(?![a-zA-Z])")
_DEGREES = compile_late(
    r"\^\s?\{\s?\^?\s?\\circ\s?\}|\^\s?\^?\s?\\circ?(?![a-zA-Z])"
    r"|(?<=[\d)}])\s?\^\s?(?:\{\s?(?:\\(?:text|mathrm)\s?\{\s?)?o\s?\}?\s?\}|o(?![a-zA-Z]))"
)
_HALF_OF_DAY = compile_late(
    r"(:\d\d)\s?(?:\\text\s?\{\s?([ap])\.?\s?m\b\.?\s?\}|([ap])(?:\.?\s?m\b\.?|\.*$))", re.IGNORECASE
)
_MINUTES = compile_late(r"(\d+(?:\.\d+)?)\s?°\s?(\d+(?:\.\d+)?)\s?'(?!')")
_THOUSANDS = compile_late(r"(?<=\d)\s?(?:\{\s?,\s?\}|,\\!)\s?(?=\d{3})")
_REPEATING = compile_late(r"(\d*\.\d*)(\d)\s?(?:repeating|recurring)|(\d*\.\d*?)(\d)\4+\s?(?:\.\.\.+|\\ldots)")
_GLUED = compile_late(r"(?<=\d)(or|and)(?=[A-Z\d\\(-])")
_PUNCTUATION = " \n\t.,;:!*`"
_AT_END = _PUNCTUATION.replace("!", "")
_AT_START = _PUNCTUATION.replace(".", "")
_SPACING = compile_late(r"(?<![a-zA-Z\\])\s+|\s+(?![a-zA-Z])")
_BRACED_DIGIT = compile_late(r"([\^_])\{(\w)\}")


def unify_notation(text: str) -> str:
    """The text in one notation, ready to be read."""
    if text in ("{}", "\\{\\}"):
        return "\\emptyset"
    if not text.isascii():
        text = replace_unicode(text)
    if not text.isprintable():
        text = _EATEN.sub(lambda eaten: _EATEN_LETTERS[eaten[0]], text)
    if "\\" in text or "$" in text or "{" in text:
        text = _without_dressing(text)
    if _MAYBE_SPACE.search(text):
        text = _SPACE.sub(" ", text).strip()
    if "or" in text or "and" in text:
        text = _GLUED.sub(r" \1 ", text)
    if "..." in text or "ldots" in text or "ing" in text:
        text = _REPEATING.sub(_mark_repeating, text)
    if ":" in text:
        text = _HALF_OF_DAY.sub(lambda found: f"{found[1]} \\text{{{(found[2] or found[3]).lower()}m}}", text)
    if "°" in text:
        text = _MINUTES.sub(r"((\1+\2/60))°", text)
    return _unify_plain(text) if (text := _without_end(text)) else text


def _unify_plain(text: str) -> str:
    """What is written without LaTeX or in an older one: `3.6 x 10^5`, `log2(8)`, `<1, 2>`, `15th`, `{n \\choose k}`."""
    if text[0] == "]" or text[-1] == "[":
        text = _TURNED.sub(lambda found: f"{_TURN[found[1]]}{found[2]}{_TURN_BACK[found[3]]}", text)
    text = _PHRASES.get(text.casefold(), text)
    if "/d" in text:
        text = _DERIVATIVE.sub(r"\\frac{d\1}{d\2}", text)
    if "//" in text:
        text = text.replace("//", "/")
    if ": " in text and (printed := _DICTIONARY.fullmatch(text)):
        text = printed[1].replace(":", "=")
    if "^" in text:
        text = _TIMES_TEN.sub(r"\\times ", text) if "10" in text else text
        text = _DEGREES.sub("°", text) if "^o" in text or "^ o" in text else text
        text = _ONE_SIDED.sub(r"\1", text) if "lim" in text else text
    if "log" in text:
        text = _LOG_BASE.sub(r"\\log_{\1}", text)
    if "<" in text and (angled := _ANGLED.fullmatch(text)):
        text = f"({angled[1]})"
    if "\\over" in text or "\\choose" in text:
        text = _OVER.sub(_over, text)
        text = _over(whole) if (whole := _OVER_ALL.fullmatch(text)) else text
    if "," in text:
        text = _POINTED.sub(lambda found: found[0].replace(".", "").replace(",", "."), text)
    if "'" in text:
        text = _APOSTROPHES.sub(lambda found: found[0].replace("'", ""), text)
    if " " in text:
        text = _NEGATIVE.sub("-", text, count=1) if text[0] in "mMnN" else text
        text = _JOINED_NUMBERS.sub(r"\1 and \2", text) if _JOINED_NUMBERS.fullmatch(text) else text
        text = _TO.sub(r"\1:\2", text) if " to " in text and _TO.fullmatch(text) else text
        if "ed" in text:
            text = _RAISED_IN_WORDS.sub(lambda found: "^2" if found[1] == "squared" else "^3", text)
    if "(" in text:
        text = _unify_code(text)
    return _ORDINAL.sub("", text) if text[-2:] in _ORDINALS else text


def _unify_code(text: str) -> str:
    """What programs print: `np.float64(3.0)`, `Interval.open(0, 1)`, `(x > 1) & (x < 3)`, `Limit(…, dir='+')`."""
    if "nt" in text or "float" in text or "Dec" in text:
        text = _SIZED.sub(lambda found: found[1] or found[2], text)
    if "." in text:
        text = _MODULE.sub("", text)
        text = _INTERVAL.sub(lambda found: f"Interval{found[1].capitalize()}", text)
    if ") & (" in text or ") | (" in text:
        text = text.replace(") & (", ") and (").replace(") | (", ") or (")
    return _DIRECTION.sub("", text) if "dir=" in text else text


_ORDINALS = ("st", "nd", "rd", "th")


def _over(found: re.Match[str]) -> str:
    command = "frac" if found[2] == "over" else "binom"
    return f"\\{command}{{{found[1].strip()}}}{{{found[3].strip()}}}"


def read_mixed(text: str) -> str | None:
    """ "6 and 1/5" as one number, where it is no list."""
    found = _MIXED.fullmatch(text)
    return rf"{found[1]}\frac{{{found[2] or found[4]}}}{{{found[3] or found[5]}}}" if found else None


def same_spacing_aside(one: str, other: str) -> bool:
    """Whether two unified texts differ by nothing but spaces and braces that say nothing."""
    if _without_signs(one) != _without_signs(other):  # which is quick to see, and mostly so
        return False
    return _strip_spacing(one) == _strip_spacing(other)


def _without_signs(text: str) -> str:
    return text.replace(" ", "").replace("{", "").replace("}", "")


def _strip_spacing(text: str) -> str:
    if " " in text:
        text = _SPACING.sub("", text)
    return _BRACED_DIGIT.sub(r"\1\2", text) if "{" in text else text


def _without_dressing(text: str) -> str:
    if "," in text:
        text = _THOUSANDS.sub("", text.replace("{,}\\!", "{,}"))
    if "\\\\" in text and _DOUBLED_ALL.search(text):
        text = text.replace("\\\\", "\\")
    if "\\\\" in text:
        text = _ROW.sub(r"\\cr ", _DOUBLED.sub(r"\\", text) if r"\begin" not in text else text)
    if "$" in text:
        if text.count("$") - text.count("\\$") == 1:  # no pair of marks around mathematics
            text = _MONEY.sub(r"\\$", text)
        text = text.replace(r"\$", r"\text{dollar}")
    commands = set(_COMMAND.findall(text)) if "\\" in text else set()
    if not _NOTHINGS.isdisjoint(commands):
        text = _NOTHING.sub("", text)
    if "$" in text or not _MARKS.isdisjoint(commands):
        text = _MATH_MARKS.sub(" ", text)
    if not _ANGLES.isdisjoint(commands):
        text = _BRAS_AND_KETS.sub(_name_state, text)
    if not _NEW_NAME.keys().isdisjoint(commands):
        text = _RENAMED.sub(_rename, text)
    return _DEGREES.sub("°", text) if "^" in text and ("cir" in text or "o" in text) else text


def _name_state(found: re.Match[str]) -> str:
    r"""Bras and kets in a row as one name, as they do not commute: `|0\rangle\langle 1|` is `\ket{01!}`."""
    pieces = _BRA_OR_KET.finditer(found[0])
    states = "".join((f"{bra}!" if bra else "") + (met or ket or "") for bra, met, ket in (p.groups() for p in pieces))
    return rf"\ket{{{states.replace(' ', '')}}} "


def _mark_repeating(found: re.Match[str]) -> str:
    r"""`0.166...` and "0.16 repeating" as `0.1\overline{6}`."""
    return f"{found[1] or found[3]}\\overline{{{found[2] or found[4]}}}"


def _rename(command: re.Match[str]) -> str:
    new = _NEW_NAME[command[1]]
    return f"{new} " if new[-1].isalpha() and new[0] == "\\" else new


def _without_end(text: str) -> str:
    """Without the full stop or comma that belongs to the sentence; a factorial keeps its sign."""
    end = text.rstrip(_AT_END)
    if end.endswith("\\"):
        end = end[:-1].rstrip()
    if end[:1] == "{" and end[-1:] == "}":
        end = _without_braces(end)
    return end.lstrip(_AT_START)


def _without_braces(text: str) -> str:
    """Without braces around the whole, which say nothing: a set is as unordered as a list."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1].strip()
