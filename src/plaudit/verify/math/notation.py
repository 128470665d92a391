r"""One notation for the many ways to write the same: unicode, LaTeX spacing, `\dfrac`, dollar signs, eaten backslashes.

Works on text, before anything is read; two texts that come out alike say the same.
"""

import re
import unicodedata

__all__ = ["comparable", "unified"]

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "×": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ",
    "∙": r"\cdot ", "÷": "/", "∕": "/", "⁄": "/", "≤": r"\le ", "≦": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "≧": r"\ge ",
    "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "∞": r"\infty ", "√": r"\sqrt ", "∪": r"\cup ", "∩": r"\cap ",
    "∈": r"\in ", "∉": r"\notin ", "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "º": r"^\circ ", "′": "'", "’": "'",
    "‘": "'", "″": "''", "“": '"', "”": '"', "…": r"\ldots ", "⋯": r"\ldots ", "∅": r"\emptyset ", "→": r"\to ",
    "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "∠": r"\angle ", "△": r"\triangle ", "∖": r"\setminus ", "，": ",",
    "、": ",", "。": ".", "；": ";", "：": ":", "（": "(", "）": ")", "［": "[", "］": "]", "【": "[", "】": "]", "｛": "{",
    "｝": "}", "∶": ":", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "∣": "|", "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "½": r"\frac{1}{2}",
    "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅛": r"\frac{1}{8}",
    "€": r"\text{euro}", "£": r"\text{pound sterling}", "￥": r"\text{yuan}", "¥": r"\text{yuan}", "⟨": "(", "⟩": ")",
}  # fmt: skip
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕ",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "Sigma",
            "Phi",
            "Psi",
            "Omega",
            "phi",
        ],
        strict=True,
    )
)
_SIGNS |= {sign: f"\\{word} " for sign, word in _GREEK.items()}
_TABLE = str.maketrans(_SIGNS)
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RAISED_RUN = re.compile(f"[{''.join(_RAISED)}]+")
_LOWERED_RUN = re.compile(f"[{''.join(_LOWERED)}]+")
_CIRCLED = re.compile("[①-⑳]")

# A backslash and the letter after it become one control character when text passes through an unescaped string.
_EATEN = re.compile(
    "\x0c(?=rac|orall)|\x08(?=oxed|egin|inom|ar|eta|mod|ig)|\x07(?=lpha|rc|ngle|pprox|st)|\x0b(?=ec|ert|ar|dots)"
    "|\t(?=ext|imes|frac|an|heta|au|o\\b|riangle|ilde)|\r(?=ight|ho|m|angle|floor|ceil)"
)
_EATEN_LETTERS = {"\x0c": r"\f", "\x08": r"\b", "\x07": r"\a", "\x0b": r"\v", "\t": r"\t", "\r": r"\r"}

_DOUBLED = re.compile(
    r"\\\\(?=(?:[dtc]?frac|sqrt|boxed|text|left|right|pi|cdot|times|infty|pm|begin|end|binom|circ)\b)"
)
_NOTHING = re.compile(
    r"(?<!\\)\\!|\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|allowbreak)(?![a-zA-Z])\.?"
    r"|\\(?:label|tag)\s?\{[^{}]*\}|\\[hv]space\*?\s?\{[^{}]*\}"
)
_SPACE = re.compile(
    r"(?<!\\)\\[,;:> \n]|\\q?quad|\\(?:enspace|thinspace|hfill|par|noindent)(?![a-zA-Z])|~|[\s\u200b\ufeff\u2060]+"
)
_MATH_MARKS = re.compile(r"\\[()]|(?<!\\)\\[\[\]]|(?<!\\)\$")
_RENAMED = re.compile(
    r"\\(?:[dtcs]frac|[dt]binom|leqslant|leq|geqslant|geq|neq|lvert|rvert|vert|lVert|rVert|Vert|lbrace|rbrace|lbrack|rbrack"
    r"|textcirc|textdegree|degree|cdots|dots|dotsc|dotsb|hdots|varnothing|arctg|arcctg|ctg|tg|cosec|colon|fbox|mbox|hbox|textrm"
    r"|textbf|textit|textnormal|textsf|texttt|textup|emph|lt|gt|rightarrow|longrightarrow|mathrm|rm|operatorname\*?"
    r"|langle|rangle|backslash|varphi|vartheta|varepsilon|cupdot|bullet|ast|land|wedge|lor|vee)(?![a-zA-Z])"
)
_NEW_NAMES = {
    "leqslant": r"\le", "leq": r"\le", "geqslant": r"\ge", "geq": r"\ge", "neq": r"\ne", "lbrace": r"\{", "rbrace": r"\}",
    "lbrack": "[", "rbrack": "]", "cdots": r"\ldots", "dots": r"\ldots", "dotsc": r"\ldots", "dotsb": r"\ldots",
    "hdots": r"\ldots", "varnothing": r"\emptyset", "arctg": r"\arctan", "arcctg": r"\arccot", "ctg": r"\cot",
    "tg": r"\tan", "cosec": r"\csc", "colon": ":", "lt": "<", "gt": ">", "rightarrow": r"\to", "longrightarrow": r"\to",
    "langle": "(", "rangle": ")", "backslash": r"\setminus", "varphi": r"\phi", "vartheta": r"\theta",
    "varepsilon": r"\epsilon", "textcirc": r"\circ", "textdegree": r"^\circ", "degree": r"^\circ",
    "dbinom": r"\binom", "tbinom": r"\binom", "cupdot": r"\cup", "bullet": r"\cdot", "ast": "*", "land": r"\text{and}",
    "wedge": r"\text{and}", "lor": r"\text{or}", "vee": r"\text{or}",
} | dict.fromkeys(["dfrac", "tfrac", "cfrac", "sfrac"], r"\frac") | dict.fromkeys(
    ["fbox", "mbox", "hbox", "textrm", "textbf", "textit", "textnormal", "textsf", "texttt", "textup", "emph"], r"\text"
) | dict.fromkeys(["lvert", "rvert", "vert"], "|") | dict.fromkeys(["lVert", "rVert", "Vert"], r"\|") | dict.fromkeys(
    ["mathrm", "rm", "operatorname", "operatorname*"], r"\mathrm"
)  # fmt: skip
_DEGREES = re.compile(r"\^\s?\{?\s?\^?\s?\\circ\s?\}?")
_MINUTES = re.compile(r"(\d+(?:\.\d+)?)\s?°\s?(\d+(?:\.\d+)?)\s?'(?!')")
_THOUSANDS = re.compile(r"(?<=\d)\s?(?:\{\s?,\s?\}|,\\!)\s?(?=\d{3})")
_REPEATING = re.compile(r"(\d*\.\d*)(\d)\s?(?:repeating|recurring)|(\d*\.\d*?)(\d)\4+\s?(?:\.\.\.+|\\ldots)")
_GLUED = re.compile(r"(?<=\d)(or|and)(?=[A-Z\d\\(-])")
_PUNCTUATION = " \n\t.,;:!*`"
_SPACING = re.compile(r"(?<![a-zA-Z\\])\s+|\s+(?![a-zA-Z])")
_BRACED_DIGIT = re.compile(r"([\^_])\{(\w)\}")


def unified(text: str) -> str:
    """The text in one notation, ready to be read."""
    if not text.isascii():
        text = _without_unicode(text)
    text = _EATEN.sub(lambda eaten: _EATEN_LETTERS[eaten[0]], text)
    if "\\" in text or "$" in text or "{" in text:
        text = _without_dressing(text)
    text = _GLUED.sub(r" \1 ", _SPACE.sub(" ", text)).strip()
    if "..." in text or "ldots" in text or "ing" in text:
        text = _REPEATING.sub(_repeating, text)
    if "°" in text:
        text = _MINUTES.sub(r"((\1+\2/60))°", text)
    return _without_end(text)


def comparable(text: str) -> str:
    """A unified text without the spaces and braces that say nothing, for comparison with another."""
    return _BRACED_DIGIT.sub(r"\1\2", _SPACING.sub("", text))


def _without_unicode(text: str) -> str:
    text = _RAISED_RUN.sub(lambda run: "^{" + "".join(_RAISED[sign] for sign in run[0]) + "}", text)
    text = _LOWERED_RUN.sub(lambda run: "_{" + "".join(_LOWERED[sign] for sign in run[0]) + "}", text)
    text = _CIRCLED.sub(lambda sign: f" {ord(sign[0]) - ord('①') + 1}, ", text)
    return unicodedata.normalize("NFKC", text.translate(_TABLE)).translate(_TABLE)


def _without_dressing(text: str) -> str:
    text = _THOUSANDS.sub("", text.replace("{,}\\!", "{,}"))
    text = _DOUBLED.sub(r"\\", text) if r"\begin" not in text else text
    text = text.replace(r"\$", r"\text{dollar}")
    text = _NOTHING.sub("", text)
    text = _MATH_MARKS.sub(" ", text)
    text = _RENAMED.sub(_renamed, text)
    return _DEGREES.sub("°", text)


def _repeating(found: re.Match[str]) -> str:
    r"""`0.166...` and "0.16 repeating" as `0.1\overline{6}`."""
    return f"{found[1] or found[3]}\\overline{{{found[2] or found[4]}}}"


def _renamed(command: re.Match[str]) -> str:
    new = _NEW_NAMES[command[0][1:]]
    return f"{new} " if new[-1].isalpha() and new[0] == "\\" else new


def _without_end(text: str) -> str:
    """Without the full stop or comma that belongs to the sentence; a factorial keeps its sign."""
    end = text.rstrip(_PUNCTUATION.replace("!", ""))
    if end.endswith("\\"):
        end = end[:-1].rstrip()
    return end.lstrip(_PUNCTUATION.replace(".", "")) if end[:1] in _PUNCTUATION else end
