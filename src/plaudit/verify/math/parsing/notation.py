r"""Unify notations: unicode, LaTeX spacing, `\dfrac`, dollar signs, lost backslashes.

Works on text, before parsing; two texts with an equal result have the same meaning. Unicode becomes LaTeX: signs, Greek
letters, raised and lowered digits, circled numbers, full-width forms.
"""

import re
import unicodedata
from collections.abc import Callable

from plaudit.verify.patterns import compile_late

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "×": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ",
    "∙": r"\cdot ", "÷": "/", "∕": "/", "⁄": "/", "≤": r"\le ", "≦": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "≧": r"\ge ",
    "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "∞": r"\infty ", "√": r"\sqrt ", "∪": r"\cup ", "∩": r"\cap ",
    "∈": r"\in ", "∉": r"\notin ", "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "º": r"^\circ ", "′": "'", "’": "'",
    "‘": "'", "″": "''", "“": '"', "”": '"', "…": r"\ldots ", "⋯": r"\ldots ", "∅": r"\emptyset ", "→": r"\to ",
    "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "∠": r"\angle ", "△": r"\triangle ", "∖": r"\setminus ", "∣": "|",
    "、": ",", "。": ".", "【": "[", "】": "]", "∶": ":", "⟨": r"\langle ", "⟩": r"\rangle ", "，": ",",
    "；": ";", "：": ":",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}",
    "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}",
    "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅛": r"\frac{1}{8}", "€": r"\text{euro}",
    "∛": r"\sqrt[3]", "∜": r"\sqrt[4]", "∨": r" \text{or} ", "∧": r" \text{and} ", "⇒": r"\Rightarrow ",
    "⟹": r"\Rightarrow ", "⇔": r"\iff ", "⊂": r"\subset ", "⊆": r"\subseteq ", "≡": r"\equiv ", "≅": r"\cong ",
    "⅕": r"\frac{1}{5}", "⅖": r"\frac{2}{5}", "⅗": r"\frac{3}{5}", "⅘": r"\frac{4}{5}", "⅙": r"\frac{1}{6}",
    "⅚": r"\frac{5}{6}", "⅜": r"\frac{3}{8}", "⅝": r"\frac{5}{8}", "⅞": r"\frac{7}{8}", "✓": r"\checkmark ",
    "∴": r"\therefore ",
    "£": r"\text{pound sterling}", "￥": r"\text{yuan}", "¥": r"\text{yuan}",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma",
    "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_TABLE = str.maketrans(_SIGNS | {sign: f"\\{word} " for sign, word in _GREEK.items()})
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RAISED_RUN = compile_late(f"[{''.join(_RAISED)}]+")
_LOWERED_RUN = compile_late(f"[{''.join(_LOWERED)}]+")
_CIRCLED = compile_late("[①-⑳]")
_JOINING = compile_late(
    r"(?:或者|或|または|또는)|(?<=[\d\s)}$])(?:или|або|чи|lub|nebo|eller|veya)(?=[\s\d\\($-])"
    r"|(?P<both>和|与|及|と|그리고|(?<=[\d\s)}$])(?:и|і|та|ve|og|och)(?=[\s\d\\($-]))"
)


def replace_unicode(text: str) -> str:
    """The text with mathematical signs as LaTeX and full-width letters as usual ones; other languages stay."""
    text = _RAISED_RUN.sub(lambda run: "^{" + "".join(_RAISED[sign] for sign in run[0]) + "}", text)
    text = _LOWERED_RUN.sub(lambda run: "_{" + "".join(_LOWERED[sign] for sign in run[0]) + "}", text)
    text = _JOINING.sub(lambda word: " and " if word["both"] else " or ", text)
    text = _CIRCLED.sub(lambda sign: f" {ord(sign[0]) - ord('①') + 1}, ", text)
    return unicodedata.normalize("NFKC", text.translate(_TABLE)).translate(_TABLE)


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
_PHRASES = {
    "dne": "does not exist", r"\text{dne}": "does not exist", "all real numbers": r"\mathbb{R}",
    "all reals": r"\mathbb{R}", "the set of all real numbers": r"\mathbb{R}", "all integers": r"\mathbb{Z}",
}  # fmt: skip
_ROW = compile_late(r"\\\\(?:\[-?\d+(?:\.\d+)?(?:pt|em|ex|mm)\])?")
# Patterns begin with a character where they can, even if that takes a look behind: such a character is found fast.
_NOTHING = compile_late(
    r"\\(?:(?<!\\\\)!|(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|allowbreak"
    r"|neg(?:thin|med|thick)space)"
    r"(?![a-zA-Z])\.?|(?:label|tag)\s?\{[^{}]*\}|[hv]space\*?\s?\{[^{}]*\})"
)
_COMMAND = compile_late(r"\\+([a-zA-Z]+|[^\\])")
WITHOUT_MEANING = frozenset({
    "!", "left", "right", "middle", "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "allowbreak",
    "negthinspace", "negmedspace", "negthickspace", "label", "tag", "hspace", "vspace",
    *(f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")),
})  # fmt: skip
_MARKS = frozenset("()[]")
_SPACE = compile_late(
    r"(?:(?<!\\)\\[,;:> \n]|\\q?quad|\\(?:enspace|(?:thin|med|thick)space|hfill|par|noindent)(?![a-zA-Z])"
    r"|[~\s\u200b\ufeff\u2060])+"
)
_MAYBE_SPACE = compile_late(
    r"[~\s\u200b\ufeff\u2060\\](?:(?<!\\)|[,;:> \nqethpnm])"
)  # a space, or how one's command begins
_MONEY = compile_late(r"(?<!\\)\$(?=\s?-?[\d.])")
_MATH_MARKS = compile_late(r"\\(?:[()]|(?<!\\\\)[\[\]])|\$(?<!\\\$)")
_OLD_NAMES = {
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
NEW_NAMES = {old: new for new, names in _OLD_NAMES.items() for old in names.split()}
_RENAMED = compile_late(rf"\\({'|'.join(map(re.escape, sorted(NEW_NAMES, reverse=True)))})(?![a-zA-Z])")
_DEGREES_SOURCE = (
    r"\^\s?\{\s?\^?\s?\\circ\s?\}|\^\s?\^?\s?\\circ?(?![a-zA-Z])"
    r"|(?<=[\d)}])\s?\^\s?(?:\{\s?(?:\\(?:text|mathrm)\s?\{\s?)?o\s?\}?\s?\}|o(?![a-zA-Z]))"
)
_DEGREES = compile_late(_DEGREES_SOURCE)
_THOUSANDS = compile_late(r"(?<=\d)\s?(?:\{\s?,\s?\}|,\\!)\s?(?=\d{3})")
_PUNCTUATION = " \n\t.,;:!*`"
_AT_END = _PUNCTUATION.replace("!", "")
_AT_START = _PUNCTUATION.replace(".", "")


_ORDINAL = compile_late(r"(?<=\d)\s?(?:st|nd|rd|th)\b(?!\s*(?:root|power))")
_ORDINALS = ("st", "nd", "rd", "th")
Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _rule(cue: str, pattern: str, replacement: str | Callable[[re.Match[str]], str], flags: int = 0) -> Rule:
    """A replacement, tried where the text holds the cue."""
    return cue, compile_late(pattern, flags), replacement


_TURNED = compile_late(r"([\[\]])([^\[\]]*[,;][^\[\]]*)([\[\]])")  # ]0, 1[
_TURN, _TURN_BACK = {"]": "(", "[": "["}, {"[": ")", "]": "]"}
_LEFT, _RIGHT = r"(?:\{|\A(?=[^{}]*\Z))([^{}]*?)\s*", r"(?![a-zA-Z])\s*([^{}]*?)\s*(?:\}|\Z)"
# How numbers and times are written.
_RULES: tuple[Rule, ...] = (
    _rule("or", r"(?<=\d)or(?=[A-Z\d\\(-])", " or "),
    _rule("and", r"(?<=\d)and(?=[A-Z\d\\(-])", " and "),
    _rule("...", r"(\d*\.\d*?)(\d)\2+\s?\.\.\.+", r"\1\\overline{\2}"),
    _rule("\\ldots", r"(\d*\.\d*?)(\d)\2+\s?\\ldots", r"\1\\overline{\2}"),
    _rule("ing", r"(\d*\.\d*)(\d)\s?(?:repeating|recurring)", r"\1\\overline{\2}"),
    _rule(
        ":",
        r"(:\d\d)\s?(?:\\text\s?\{\s?)?([ap])(?:\.?\s?m\b\.?|\.*$)(?:\s?\})?",
        lambda match: f"{match[1]} \\text{{{match[2].lower()}m}}",
        re.IGNORECASE,
    ),
    _rule("°", r"(\d+(?:\.\d+)?)\s?°\s?(\d+(?:\.\d+)?)\s?'(?!')", r"((\1+\2/60))°"),
)
# What is written without LaTeX, or in an older one.
_WHOLE_RULES: tuple[Rule, ...] = (
    _rule("/d", r"(?<![a-zA-Z])d([a-zA-Z])/d([a-zA-Z])(?![a-zA-Z])", r"\\frac{d\1}{d\2}"),
    _rule("^", r"(?<=\d)\s?[xX]\s?(?=10\s?\^)", r"\\times "),  # 3.6 x 10^5
    _rule("^o", _DEGREES_SOURCE, "°"),
    _rule("log", r"\\?log(2|10)(?=\s?[({])", r"\\log_{\1}"),
    _rule("<", r"\A<([^<>=]*,[^<>=]*)>\Z", r"(\1)"),
    _rule("\\over", rf"{_LEFT}\\over{_RIGHT}", r"\\frac{\1}{\2}"),
    _rule("\\choose", rf"{_LEFT}\\choose{_RIGHT}", r"\\binom{\1}{\2}"),
    _rule(
        ",",
        r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d.,])",  # 1.234,56
        lambda match: match[0].replace(".", "").replace(",", "."),
    ),
    _rule("'", r"(?<![\d'])\d{1,3}(?:'\d{3})+(?!['\d])", lambda match: match[0].replace("'", "")),  # 1'234'567
    _rule("minus", r"\Aminus\s+(?=[\d\\])", "-"),
    _rule("egative", r"\A[nN]egative\s+(?=[\d\\])", "-"),
    _rule("to", r"\A(\d+) to (\d+)\Z", r"\1:\2"),
)


def unify_notation(text: str) -> str:
    """The text in one notation, ready to be parsed."""
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
    text = _without_end(_apply(_RULES, text))
    if text[:1] == "]" or text[-1:] == "[":
        text = _TURNED.sub(lambda match: f"{_TURN[match[1]]}{match[2]}{_TURN_BACK[match[3]]}", text)
    text = _apply(_WHOLE_RULES, _PHRASES.get(text.casefold(), text))
    return _ORDINAL.sub("", text) if text[-2:] in _ORDINALS else text


def _apply(rules: tuple[Rule, ...], text: str) -> str:
    for _, pattern, replacement in [rule for rule in rules if rule[0] in text]:
        text = pattern.sub(replacement, text)
    return text


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
    if not WITHOUT_MEANING.isdisjoint(commands):
        text = _NOTHING.sub("", text)
    if "$" in text or not _MARKS.isdisjoint(commands):
        text = _MATH_MARKS.sub(" ", text)
    if not NEW_NAMES.keys().isdisjoint(commands):
        text = _RENAMED.sub(_rename, text)
    return _DEGREES.sub("°", text) if "^" in text and ("cir" in text or "o" in text) else text


def _rename(command: re.Match[str]) -> str:
    new = NEW_NAMES[command[1]]
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
    """Without braces around the whole text: a set is as unordered as a list."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and index < len(text) - 1:
            return text
    return text[1:-1].strip()
