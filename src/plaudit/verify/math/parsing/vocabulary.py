"""The words and signs of mathematics: functions, Greek letters, relation signs, and the words that part items."""

__all__ = ["ARITY", "CONSTANT_WORDS", "FLIPPED", "FUNCTIONS", "GREEK", "RELATIONS", "SEPARATORS", "SIGNS"]

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
"""How a function may be written, and its name."""

ARITY = dict.fromkeys(FUNCTIONS.values(), 1) | {"binomial": 2, "mod": 2, "multifactorial": 2, "norm": 1}
for _variadic in ("max", "min", "gcd", "lcm"):
    del ARITY[_variadic]
"""How many arguments a function takes, unless any number will do."""

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
