"""Problems as a data set asks them, each with its answer and with the expression that a copy of the problem boxes.

The answers are computed here, by Python, or written by hand; none comes from the verifier.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple


class Copied(NamedTuple):
    """The expression of a problem, and what it comes to."""

    expression: str
    answer: str


def fraction(value: Fraction | int) -> str:
    value = Fraction(value)
    sign, above = ("-" if value < 0 else ""), abs(value.numerator)
    return f"{sign}{above}" if value.denominator == 1 else rf"{sign}\frac{{{above}}}{{{value.denominator}}}"


def arithmetic() -> Iterator[Copied]:
    for one, other in [(17, 25), (3, 4), (128, 16), (45, 9)]:
        yield Copied(f"{one} + {other}", str(one + other))
        yield Copied(f"{one} - {other}", str(one - other))
        yield Copied(rf"{one} \cdot {other}", str(one * other))
        yield Copied(rf"{one} \times {other}", str(one * other))
        yield Copied(f"{one}*{other}", str(one * other))
        yield Copied(f"{one}({other})", str(one * other))
        yield Copied(rf"\frac{{{one * other}}}{{{one}}}", str(other))
        yield Copied(rf"{one * other} \div {other}", str(one))
        yield Copied(f"{one * other}/{one}", str(other))
        yield Copied(f"({one} + {other}) * 2 - 1", str((one + other) * 2 - 1))
    for one, other in product([Fraction(1, 2), Fraction(3, 4), Fraction(-2, 3)], [Fraction(1, 3), Fraction(5, 6)]):
        yield Copied(f"{fraction(one)} + {fraction(other)}", fraction(one + other))
        yield Copied(rf"{fraction(one)} \cdot {fraction(other)}", fraction(one * other))
        yield Copied(rf"{fraction(one)} \div {fraction(other)}", fraction(one / other))
        yield Copied(rf"\frac{{{fraction(one)}}}{{{fraction(other)}}}", fraction(one / other))
    for above, below in [(56, 8), (144, 12), (100, 25), (18, 18), (1001, 143)]:
        yield Copied(rf"\frac{{{above}}}{{{below}}}", fraction(Fraction(above, below)))
        yield Copied(f"{above}/{below}", fraction(Fraction(above, below)))
    for text, value in [("0.5 + 0.5", "1"), ("2.5 - 1.25", "1.25"), (r"0.2 \cdot 0.3", "0.06"), (r"1.5 \div 0.5", "3")]:
        yield Copied(text, value)
    for percent, number in [(20, 50), (15, 200), (75, 12)]:
        value = fraction(Fraction(percent * number, 100))
        yield Copied(rf"{percent}\% \text{{ of }} {number}", value)
        yield Copied(rf"{percent}\% \cdot {number}", value)
        yield Copied(rf"0.{percent} \times {number}", value)


def whole_numbers() -> Iterator[Copied]:
    for count in (4, 5, 7, 10):
        yield Copied(f"{count}!", str(math.factorial(count)))
        yield Copied(rf"\frac{{{count}!}}{{2!}}", str(math.factorial(count) // 2))
        yield Copied(rf"\sum_{{k=1}}^{{{count}}} k", str(count * (count + 1) // 2))
        yield Copied(rf"\sum_{{k=1}}^{{{count}}} k^2", str(sum(k * k for k in range(count + 1))))
        yield Copied(rf"\prod_{{k=1}}^{{{count}}} k", str(math.factorial(count)))
        yield Copied(rf"\sqrt{{{count * count}}}", str(count))
        yield Copied(rf"\sqrt[3]{{{count**3}}}", str(count))
        yield Copied(f"{count * count}^{{1/2}}", str(count))
        yield Copied(f"sqrt({count * count})", str(count))
        yield Copied(f"2^{{{count}}}", str(2**count))
        yield Copied(f"2**{count}", str(2**count))
        yield Copied(f"{count}^2", str(count**2))
        yield Copied(f"{count}^{{-1}}", fraction(Fraction(1, count)))
        yield Copied(f"|-{count}|", str(count))
        yield Copied(f"-(-{count})", str(count))
        yield Copied(rf"\log_2 {2**count}", str(count))
        yield Copied(rf"\log_{{3}}({3**count})", str(count))
        yield Copied(rf"\ln e^{{{count}}}", str(count))
        yield Copied(rf"\lfloor {2 * count + 1}/2 \rfloor", str(count))
        yield Copied(rf"\lceil {count}.2 \rceil", str(count + 1))
        yield Copied(rf"\lim_{{x\to {count}}} (x+1)", str(count + 1))
        yield Copied(rf"\int_0^{{{count}}} 2x \, dx", str(count**2))
        yield Copied(rf"\left(\frac{{2}}{{3}}\right)^{{{count}}}", fraction(Fraction(2, 3) ** count))
    for one, other in [(12, 18), (35, 14), (100, 48)]:
        for name, value in {
            r"\gcd": math.gcd(one, other), r"\operatorname{lcm}": math.lcm(one, other), r"\max": max(one, other),
            r"\min": min(one, other),
        }.items():  # fmt: skip
            yield Copied(f"{name}({one}, {other})", str(value))
        yield Copied(rf"{one} \bmod {other}", str(one % other))
        yield Copied(rf"{one} \mod {other}", str(one % other))
    for above, below in [(10, 3), (6, 2), (12, 5)]:
        for text in (r"\binom{%d}{%d}", r"{%d \choose %d}", "C(%d, %d)", r"\dbinom{%d}{%d}", "binomial(%d, %d)"):
            yield Copied(text % (above, below), str(math.comb(above, below)))
    for digits, base in [("101010", 2), ("1234", 5), ("777", 8)]:
        yield Copied(f"{digits}_{base}", str(int(digits, base)))
        yield Copied(f"{digits}_{{{base}}}", str(int(digits, base)))


def written_by_hand(outcome: str) -> Iterator[Copied]:
    """The problems under the titles that begin with an outcome."""
    title = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        title = line[2:] if line.startswith("# ") else title
        expression, _, answer = line.partition(" ~~ ")
        if answer and title.startswith(outcome):
            yield Copied(expression, answer)


COPIED = list(dict.fromkeys([*arithmetic(), *whole_numbers(), *written_by_hand("refused")]))
PAID = list(written_by_hand("paid"))
"""Copies that are paid by decision, as the guide says."""
