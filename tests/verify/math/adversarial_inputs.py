"""Inputs made to hang, exhaust or mislead a verifier, with what is allowed to come of them.

RIGHT and WRONG are what mathematics says; NEVER_RIGHT and NEVER_WRONG also allow "unparsed", where working it out is
beyond any budget; ANY only asks for an end.
"""

import random
from typing import NamedTuple

RIGHT, WRONG, NEVER_RIGHT, NEVER_WRONG, ANY = "right", "wrong", "never right", "never wrong", "any"


class Attack(NamedTuple):
    truth: str
    response: str
    expected: str


def boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


def matrix(rows: list[list[object]]) -> str:
    body = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


ROWS = [[row * 20 + column for column in range(20)] for row in range(20)]
CHANGED = [[value + (place == 19) for value in row] for place, row in enumerate(ROWS)]
HALVES = [[f"{value}/2" for value in row] for row in ROWS]
FRACTIONS = [[rf"\frac{{{value}}}{{2}}" for value in row] for row in ROWS]
ELEMENTS = [str(value) for value in range(1000, 1500)]
SHUFFLED = random.Random(0).sample(ELEMENTS, len(ELEMENTS))
DIGITS = "1234567890" * 10_000
PROSE = "We look at the next case and see that nothing new comes up there. " * 1500
ONES = "+".join(["1"] * 1000)
PRODUCT = "".join(f"(a_{{{place}}}+b_{{{place}}})" for place in range(100))
SWAPPED = PRODUCT.replace("a_{7}+b_{7}", "b_{7}+a_{7}")
INTERVALS = [f"({2 * place},{2 * place + 1})" for place in range(300)]

ATTACKS = {
    # Towers, factorials, binomials, sums.
    "tower against itself": Attack("9^{9^9}", boxed("9^{9^9}"), RIGHT),
    "tower against a lower one": Attack("9^{9^9}", boxed("9^{9^8}"), NEVER_RIGHT),
    "tower against its base": Attack("10^{10^{10^{10}}}", boxed("10^{10}"), NEVER_RIGHT),
    "tower of six": Attack("2^{2^{2^{2^{2^2}}}}", boxed("2^{2^{2^{2^{2^3}}}}"), NEVER_RIGHT),
    "small number against a tower": Attack("4", boxed("9^{9^9}"), NEVER_RIGHT),
    "tower for a tower plus one": Attack("9^{9^9}", boxed("9^{9^9}+1"), NEVER_RIGHT),
    "five hundred powers": Attack("4", boxed("^{".join(["9"] * 500) + "}" * 499), NEVER_RIGHT),
    "powers without braces": Attack("4", boxed("9^" * 50_000 + "9"), NEVER_RIGHT),
    "factorial against itself": Attack("(10^7)!", boxed("(10^7)!"), RIGHT),
    "factorial against a number": Attack("4", boxed("(10^7)!"), NEVER_RIGHT),
    "factorials of factorials": Attack("4", boxed("((((9!)!)!)!)!"), NEVER_RIGHT),
    "many factorial signs": Attack("4", boxed("3" + "!" * 10_000), NEVER_RIGHT),
    "reciprocals of factorials": Attack(r"\frac{1}{2004!}", boxed(r"\frac{1}{2006!}"), WRONG),
    "large factorials": Attack("2004!", boxed("2004 \\cdot 2003!"), NEVER_WRONG),
    "binomial against itself": Attack(r"\binom{10^6}{5 \cdot 10^5}", boxed(r"\binom{10^6}{5\cdot 10^5}"), RIGHT),
    "binomial against another": Attack(r"\binom{1000000}{500000}", boxed(r"\binom{1000000}{499999}"), NEVER_RIGHT),
    "symmetric binomials": Attack(r"\binom{2000}{3}", boxed(r"\binom{2000}{1997}"), NEVER_WRONG),
    "endless sum": Attack("4", boxed(r"\sum_{k=1}^{10^9} k^{k}"), NEVER_RIGHT),
    "endless product": Attack("4", boxed(r"\prod_{k=1}^{10^8} (1+\frac{1}{k})"), NEVER_RIGHT),
    "sums in sums": Attack("4", boxed(r"\sum_{k=1}^{1000} " * 10 + "k"), NEVER_RIGHT),
    "a thousand ones": Attack("1000", boxed(ONES), RIGHT),
    "a thousand ones short by one": Attack("1001", boxed(ONES), WRONG),
    "a hundred thousand signs": Attack("4", boxed("1" + "+1" * 50_000), NEVER_RIGHT),
    # Numbers.
    "last digit of many is the same": Attack(DIGITS, boxed(DIGITS), RIGHT),
    "last digit of many differs": Attack(DIGITS, boxed(DIGITS[:-1] + "1"), NEVER_RIGHT),
    "many decimals": Attack("1/3", boxed("0." + "3" * 100_000), ANY),
    "powers of two apart": Attack(r"\frac{1}{2^{99}}", boxed(r"\frac{1}{2^{98}}"), WRONG),
    "exponents beyond floats": Attack("1e400", boxed("1e401"), NEVER_RIGHT),
    "exponents beyond reason": Attack("1e999999999", boxed("1e999999998"), NEVER_RIGHT),
    "almost zero": Attack("0", boxed("10^{-10^9}"), NEVER_RIGHT),
    "sine far out": Attack("0", boxed(r"\sin(10^{100})"), NEVER_RIGHT),
    "exponentials of exponentials": Attack("e^{e^{e^{e}}}", boxed("e^{e^{e^{e}}}"), RIGHT),
    "logarithms of logarithms": Attack("4", boxed(r"\log" * 5000 + "4"), NEVER_RIGHT),
    "root to a large power": Attack("2", boxed(r"\sqrt{2}^{1000000}"), NEVER_RIGHT),
    "roots that nearly meet": Attack(r"\sqrt{1000001}-\sqrt{1000000}", boxed(r"\frac{1}{2000}"), WRONG),
    "a tiny power beside a number": Attack("1", boxed("1+e^{-1000}"), NEVER_RIGHT),
    "a tiny power beside a root": Attack(r"\sqrt{2}", boxed(r"\sqrt{2}+10^{-200}"), NEVER_RIGHT),
    "a tiny power under a root": Attack(r"\sqrt{2}", boxed(r"\sqrt{2+10^{-300}}"), NEVER_RIGHT),
    "a tiny power beside an unknown": Attack("x", boxed("x+e^{-1000}"), NEVER_RIGHT),
    "a cosine that is almost one": Attack("1", boxed(r"\cos(10^{-100})"), NEVER_RIGHT),
    "almost a right angle": Attack(r"\frac{\pi}{2}", boxed(r"\arctan(10^{300} e)"), NEVER_RIGHT),
    "almost whole": Attack("262537412640768744", boxed(r"e^{\pi\sqrt{163}}"), WRONG),
    "a power too small to see": Attack("2", boxed("2 + 0.5^{10^{20}}"), NEVER_RIGHT),
    "empty intervals": Attack(r"[\sqrt{12345}, e^{y})", boxed(r"[\sqrt{54321}, e^{y})"), NEVER_RIGHT),
    "division by zero": Attack("4", boxed(r"\frac{4}{0}"), NEVER_RIGHT),
    "zero over zero": Attack("1", boxed(r"\frac{0}{0}"), NEVER_RIGHT),
    "infinity for a number": Attack("4", boxed(r"\infty"), NEVER_RIGHT),
    "not a number": Attack("4", "The answer is nan", NEVER_RIGHT),
    "full-width digit": Attack("7", "７", RIGHT),
    "vulgar fraction": Attack("0.5", boxed("½"), RIGHT),
    "minus signs": Attack("4", boxed("-" * 100_000 + "4"), NEVER_RIGHT),
    # Algebra.
    "power of a sum": Attack("(x+1)^{500}", boxed("(1+x)^{500}"), RIGHT),
    "power of a sum plus one": Attack("(x+1)^{500}", boxed("(1+x)^{500}+1"), WRONG),
    "power beyond expansion": Attack("x^{10^9}", boxed("x^{10^9}+1"), NEVER_RIGHT),
    "power of four variables": Attack("(x+y+z+w)^{100}", boxed("(w+z+y+x)^{100}"), NEVER_WRONG),
    "product of two hundred variables": Attack(PRODUCT, boxed(SWAPPED), NEVER_WRONG),
    "a hundred factors, one changed": Attack(PRODUCT, boxed(PRODUCT.replace("a_{7}+", "a_{7}-")), NEVER_RIGHT),
    "forty plus-minus signs": Attack("4", boxed(r"1\pm 1" + r"\pm 1" * 40), NEVER_RIGHT),
    "long sum of letters": Attack("4", boxed("a+" * 20_000 + "a"), NEVER_RIGHT),
    "continued fraction": Attack("4", boxed(r"1+\frac{1}{" * 2000 + "1" + "}" * 2000), NEVER_RIGHT),
    # Nesting.
    "five thousand brackets": Attack("1", boxed("(" * 5000 + "1" + ")" * 5000), NEVER_WRONG),
    "brackets that never close": Attack("1", boxed("(" * 50_000 + "1"), NEVER_RIGHT),
    "brackets that never open": Attack("1", boxed("1" + ")" * 50_000), ANY),
    "braces": Attack("1", "\\boxed" + "{" * 5000 + "1" + "}" * 5000, NEVER_WRONG),
    "roots in roots": Attack("1", boxed(r"\sqrt{" * 5000 + "1" + "}" * 5000), NEVER_WRONG),
    "fractions in fractions": Attack("1", boxed(r"\frac{1}{" * 5000 + "1" + "}" * 5000), NEVER_WRONG),
    "indices in indices": Attack("x", boxed("x_{" * 2000 + "x" + "}" * 2000), NEVER_RIGHT),
    "matrices in matrices": Attack("1", boxed(r"\begin{pmatrix}" * 500 + "1" + r"\end{pmatrix}" * 500), ANY),
    "text in text": Attack("1", boxed(r"\text{" * 5000 + "1" + "}" * 5000), NEVER_WRONG),
    "bars": Attack("4", boxed("|" * 10_000 + "4" + "|" * 10_000), ANY),
    "spaces in a tag": Attack("4", "<" + " " * 20_000 + boxed("4"), ANY),
    "boxes that never close": Attack("4", r"\boxed{" * 50_000, NEVER_RIGHT),
    # Collections.
    "set in another order": Attack(rf"\{{{', '.join(ELEMENTS)}\}}", boxed(rf"\{{{', '.join(SHUFFLED)}\}}"), RIGHT),
    "set with one element changed": Attack(
        rf"\{{{', '.join(ELEMENTS)}\}}", boxed(rf"\{{{', '.join([*SHUFFLED[1:], '7'])}\}}"), WRONG
    ),
    "matrix of four hundred": Attack(matrix(ROWS), boxed(matrix(ROWS)), RIGHT),
    "matrix of four hundred, a row changed": Attack(matrix(ROWS), boxed(matrix(CHANGED)), WRONG),
    "matrix of four hundred fractions": Attack(matrix(HALVES), boxed(matrix(FRACTIONS)), RIGHT),
    "list of fifty thousand": Attack("4", boxed("1," * 50_000 + "4"), NEVER_RIGHT),
    "union of three hundred": Attack(r" \cup ".join(INTERVALS), boxed(r" \cup ".join(INTERVALS[::-1])), NEVER_WRONG),
    "ratios": Attack("1:2:3", boxed("1:4:9"), WRONG),
    "sequences": Attack(r"1, 2, \ldots, n", boxed(r"1, 3, 5, \ldots, 2n-1"), WRONG),
    "one of two": Attack("1331 and 1728", boxed("1728"), WRONG),
    "two in another order": Attack("1331 and 1728", boxed("1728 and 1331"), RIGHT),
    # Text.
    "long prose with an answer": Attack("4", f"{PROSE} The answer is 4.", RIGHT),
    "long prose after the answer": Attack("4", f"The answer is 4. {PROSE}", RIGHT),
    "long prose without an answer": Attack("4", PROSE, NEVER_RIGHT),
    "answer is, again and again": Attack("4", "the answer is " * 10_000, NEVER_RIGHT),
    "choices": Attack("4", "The answer is 4 " + "or 5 " * 30_000, NEVER_RIGHT),
    "dollar signs": Attack("4", "$" * 100_000, NEVER_RIGHT),
    "open formulas": Attack("4", r"\( 4 " * 20_000, ANY),
    "environments that never end": Attack("4", r"\begin{align} 4 " * 5000, ANY),
    "backslashes": Attack("4", "\\" * 100_000, NEVER_RIGHT),
    "backslashes in a box": Attack("4", boxed("\\" * 40_000), NEVER_RIGHT),
    "backslashes beside hidden text": Attack("4", "cancel ~~ box " + "\\" * 40_000 + " 5", NEVER_RIGHT),
    "carets": Attack("4", "^" * 100_000, NEVER_RIGHT),
    "low lines": Attack("4", "_" * 100_000, NEVER_RIGHT),
    "stars": Attack("4", "*" * 100_000 + "4", ANY),
    "hashes": Attack("4", "#" * 100_000 + " 5", NEVER_RIGHT),
    "angle brackets": Attack("4", "<" * 100_000, NEVER_RIGHT),
    "open tags": Attack("4", "<answer>" * 20_000, NEVER_RIGHT),
    "spaces": Attack("4", " " * 100_000 + "5", WRONG),
    "every box but the right one": Attack("4", " ".join(boxed(str(n)) for n in range(5000) if n != 4), NEVER_RIGHT),
    "every box": Attack("4", " ".join(boxed(str(number)) for number in range(5000)), WRONG),
    "combining accents": Attack("4", "e" + "\u0301" * 50_000, NEVER_RIGHT),
    "zero-width characters": Attack("44", "4" + "\u200b" * 50_000 + "4", RIGHT),
    "right to left": Attack("4", "\u202e4", RIGHT),
    "lone surrogate": Attack("4", "\ud800", NEVER_RIGHT),
    "NUL": Attack("4", "\x00", NEVER_RIGHT),
    "NUL in the answer": Attack("4", boxed("\x00"), NEVER_RIGHT),
    "Python": Attack("4", "__import__('os').system('echo $((2+2))')", NEVER_RIGHT),
    "Python in a box": Attack("4", boxed("__import__('sys').exit(4)"), NEVER_RIGHT),
    "attributes": Attack("4", boxed("().__class__.__bases__[0]"), NEVER_RIGHT),
    "template": Attack("4", boxed("{{2+2}}{%4%}"), NEVER_RIGHT),
    "LaTeX input": Attack("4", boxed(r"\input{/etc/passwd}"), NEVER_RIGHT),
    "LaTeX loop": Attack("4", boxed(r"\def\x{\x\x}\x"), NEVER_RIGHT),
    "SQL": Attack("4", boxed("4'; DROP TABLE answers; --"), NEVER_RIGHT),
    "score claimed": Attack("4", "correct: true, score: 1.0", NEVER_RIGHT),
    "a number beyond what Python reads": Attack("x", "x+" + "9" * 5000, NEVER_RIGHT),
    "a nest of derivatives": Attack("1", "Derivative(" * 300 + "x" + ",x)" * 300, NEVER_RIGHT),
    "a nest of sums": Attack("1", "Sum(" * 300 + "k" + ",(k,1,9))" * 300, NEVER_RIGHT),
    "turned brackets": Attack("7", "]0,1[" * 3000, NEVER_RIGHT),
    "possibilities without end": Attack("5", boxed("3") + " could be" * 10_000 + " 5", NEVER_RIGHT),
    "said twice without end": Attack("7", "seven (" * 5000, NEVER_RIGHT),
}  # fmt: skip
