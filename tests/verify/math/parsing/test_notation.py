"""One notation for the many ways to write the same."""

import pytest

from plaudit.verify.math.parsing.notation import replace_unicode, unify_notation

UNIFIED = {
    r"$\dfrac{1}{2}$": r"\frac {1}{2}",
    r"\left( x \right)": "( x )",
    "x ≤ 5": r"x \le 5",
    r"10{,}000": "10000",
    "1'234'567": "1234567",
    "1.234,56": "1234.56",
    r"3.6 x 10^5": r"3.6\times 10^5",
    "<1, 2>": "(1, 2)",
    "15th": "15",
    r"{5 \choose 2}": r"\binom{5}{2}",
    "\x0crac{1}{2}": r"\frac{1}{2}",
    r"30^{\circ}": "30°",
    "minus 4": "-4",
    "0.333...": r"0.\overline{3}",
    "]0, 1[": "(0, 1)",
    "7.": "7",
}


@pytest.mark.parametrize(("written", "unified"), UNIFIED.items(), ids=map(repr, UNIFIED))
def test_notation_is_unified(written, unified):
    assert unify_notation(written) == unified


def test_unicode_becomes_latex():
    assert replace_unicode("√2 × π²") == r"\sqrt 2 \times  \pi ^{2}"
