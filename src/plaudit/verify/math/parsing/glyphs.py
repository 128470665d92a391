"""Unicode as LaTeX: signs, Greek letters, raised and lowered digits, circled numbers, full-width forms."""

import unicodedata

from plaudit.verify.patterns import compile_late

__all__ = ["replace_unicode"]

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
