"""Truth and answer: what is the same, what is not, in every form an answer takes."""

import re

import pytest

from plaudit.verify.math.decide import Method, decide
from plaudit.verify.math.policy import MathPolicy, Percent, Units

DEFAULT = MathPolicy()

SAME = {
    "numbers": [
        ("42", "42.0"), ("1000", "1,000"), ("10000", "10{,}000"), ("5460", r"5,\!460"), ("7", "７"), ("-3", "−3"),
        ("1/2", r"\frac12"), (r"\frac{1}{2}", "0.5"), (r"\dfrac{3}{4}", r"\tfrac34"), ("3/2", r"1\frac{1}{2}"),
        ("1.5", "1 1/2"), (r"-\frac{5}{2}", r"-2\frac12"), ("0.5", ".5"), ("4", "004"), ("1200", r"1.2 \times 10^3"),
        ("0.00015", "1.5e-4"), (r"\frac13", r"0.\overline{3}"), (r"\frac16", r"0.1\overline{6}"), ("1/6", "0.1666..."),
        ("1/6", "0.16 repeating"), ("100000", "10^5"), ("8", "2^3"), ("13", r"\text{13}"), ("10 000", "10000"),
        ("120", "5!"), ("10", r"\binom{5}{2}"), ("4", "2+2"), ("6", r"3 \cdot 2"), ("2", r"17 \bmod 5"),
        ("15", r"\sum_{k=1}^{5} k"), ("24", r"\prod_{k=1}^{4} k"), ("3", r"\lfloor \pi \rfloor"), ("5", "|-5|"),
        ("1", r"\gcd(4, 9)"), ("0", "-0"), ("2", r"\frac{-4}{-2}"), ("10", "\\$10"), ("-5", "-\\$5.00"),
    ],
    "surds and constants": [
        (r"2\sqrt{2}", r"\sqrt 8"), (r"\sqrt{6}", r"\sqrt2\sqrt3"), (r"1+\sqrt2", r"\sqrt{3+2\sqrt2}"),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"), (r"\frac{\sqrt6+\sqrt2}{4}", r"\cos 15^\circ"),
        (r"2^{-2/3}", r"\frac{1}{\sqrt[3]{4}}"), (r"\frac{\pi}{4}", r"\arctan 1"), (r"\pi/2", "π/2"), ("-2", r"\sqrt[3]{-8}"),
        ("-1", r"e^{i\pi}"), ("1+2i", "i(2-i)"), (r"\ln 8", r"3\ln 2"), ("3", r"\log_2 8"), (r"\frac{\ln 5}{2\ln 3}", r"\log_9 5"),
        ("i", r"\sqrt{-1}"), (r"\sqrt3", "sqrt(3)"), (r"\sqrt3", "√3"), ("e", r"\mathrm{e}"), (r"\frac12", r"\sin 30^\circ"),
        (r"(7)^{1/2}", r"\sqrt{7}"), (r"4\pi", r"4 \pi"), (r"\frac{9\pi}{2}", "9/2 * π"), ("2", r"\lg 100"),
    ],
    "algebra": [
        ("x^2+2x+1", "(x+1)^2"), ("(x-2)(x+2)", "x^2-4"), (r"\frac{3m}{2}-1", r"\dfrac{3m-2}{2}"), ("x^2", "x**2"),
        (r"\tan^2(y)+1", r"\sec^2(y)"), (r"\sin 2x", r"2\sin x\cos x"), (r"2 \arcsin \sqrt{a}", r"\arccos(1-2a)"),
        (r"\frac23\cdot 3^n", r"2\cdot 3^{n-1}"), ("4^n", "2^{2n}"), (r"\frac{n!}{k!(n-k)!}", r"\binom{n}{k}"),
        (r"\frac{(n-1)!}{k!} \frac{n}{(n-k)!}", r"\frac{n!}{k!(n-k)!}"), (r"\ln(x^2)", r"2 \ln x"), ("e^{2x}", "(e^x)^2"),
        (r"\sqrt{a^2 b^2+b^2 c^2}", r"\sqrt{b^2c^2+a^2b^2}"), (r"\frac{1}{3\sqrt[3]{x}^2}", r"\frac{1}{3x^{2/3}}"),
        (r"k\pi", r"n\pi"), ("a_{n}=2n+1", "2n+1"), (r"v^2_0", "v_0^2"), ("2xy", "2yx"), (r"\frac{1}{m} t", r"\frac{t}{m}"),
        (r"F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}", r"F_n = \sum_{j=0}^{n-1} F_{n-j-1} F_j"), ("7p+4e", "4e+7p"),
        (r"\sum_{n=0}^{\infty} x^n", r"\sum_{k=0}^{+\infty} x^k"), (r"2|-3n^2-1|+2", "6n^2+4"),
    ],
    "lists, sets and tuples": [
        ("1, 2", "2, 1"), ("1 and 2", r"\{2, 1\}"), (r"6 \text{ and } 8", "8, 6"), (r"3 \pm 2\sqrt2", r"3+2\sqrt2, 3-2\sqrt2"),
        (r"x=\pm 3", "x=3 or x=-3"), ("(1,2)", "(1, 2)"), ("(12,34)", "12,34"), ("1,2,3", "(x,y,z)=(1,2,3)"), ("3,4", "p=3, q=4"),
        ("a=3, b=4", "b=4, a=3"), ("x=-3,4", "-3, 4"), ("(2,251,252)", "(2, 251, 252)"), (r"\{1,2\}", "{2,1}"),
        ("(1,2),(3,4)", "(3,4), (1,2)"), ("1331, 1728", "1728 and 1331"), (r"(e^{-5}, \pm\sqrt7)", r"(e^{-5},\sqrt7),(e^{-5},-\sqrt7)"),
        ("②③", "2, 3"), ("f(x)=x, f(x)=-x", r"f(x)=-x \text{ and } f(x)=x"), ("1,2,...,n", r"1, 2, \ldots, n"), (r"\emptyset", r"\{\}"),
        ("1, 3", "Minimum: 1, Maximum: 3"), ("100,200", "100, 200"), (r"10^3, 10", "x=1000, y=10"),
    ],
    "intervals": [
        ("x > 0", r"(0, \infty)"), (r"m \geq \sqrt2", r"m \in [\sqrt2, +\infty)"), ("20<P<30", "(20,30)"), ("x<1", "-x>-1"),
        (r"a \le -2 \text{ or } a = 1", r"(-\infty,-2] \cup \{1\}"), (r"\{x \mid -1<x<1\}", "(-1,1)"), ("x > 3", "3 < x"),
        (r"4<m\le 8 \text{ or } 10\le m<12", r"(4,8]\cup[10,12)"), (r"x \neq 5", r"(-\infty,5)\cup(5,\infty)"), (r"x \ne 5", "x != 5"),
        (r"\{x | x < \frac32\} - \{-6\}", r"(-\infty,-6)\cup(-6,\frac32)"), ("[0.5, 8]", r"\frac12 \le x \le 8"), ("2x < 4", "x < 2"),
        (r"(0,1)\cup(1,2)", r"(0,2)\setminus\{1\}"), (r"(2,3)\cup(0,1)", r"(0,1)\cup(2,3)"), ("0<f(x)<1", "(0,1)"), ("]0,1]", "(0,1]"),
        (r"x \neq -1, 4", r"(-\infty,-1)\cup(-1,4)\cup(4,\infty)"), (r"(-\infty,\infty)", r"\mathbb{R}"), ("x>2, x<5", "(2,5)"),
    ],
    "equations": [
        ("x=5", "5"), ("x = 5", "5 = x"), ("2x+4y-3=0", r"y=-\frac12x+\frac34"), ("x^2+y^2=1", "1-x^2-y^2=0"), ("3x+6=0", "x+2=0"),
        ("f(z)=z", "f(x)=x"), ("f(x)=x^2", "x^2"), ("|AB|=1", "1"), ("S_{ABC}:S=7:32", "7:32"), ("x=y=z=2", "2"),
        (r"\frac{1+\sqrt{97}}{8} \approx 1.36", r"\frac{1+\sqrt{97}}{8}"), (r"\log_8(4)=\frac23", r"\frac23"), ("y=2x+1", "2x-y+1=0"),
        (r"\rho\sin\theta=\sqrt3", r"\sqrt3\csc\theta"), ("f^{-1}(x)=2x", "2x"), ("b>a", "a<b"), ("4", "2+2=4"), ("p=1 and p=2", "p=2, p=1"),
    ],
    "matrices": [
        (r"\begin{pmatrix}1/2\\3\end{pmatrix}", r"\begin{bmatrix} 0.5 \\ 3 \end{bmatrix}"),
        (r"\left[\begin{array}{rr}1&2\\3&4\end{array}\right]", r"\begin{pmatrix}1&2\\3&4\\\end{pmatrix}"),
        (r"\begin{pmatrix}6&8\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}+\begin{pmatrix}5&6\end{pmatrix}"),
        (r"\begin{pmatrix}2&4\end{pmatrix}", r"2\begin{pmatrix}1&2\end{pmatrix}"), (r"A=\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ],
    "amounts": [
        ("125 miles", r"125\textnormal{ miles}"), ("10", r"10\text{ units}"), (r"864 \mbox{ inches}^2", "864"), ("90", r"90^\circ"),
        (r"1\text{ m}", "100 cm"), ("48 km/h", r"48 \mathrm{~km}/\mathrm{h}"), (r"10\%", "10"), (r"10\%", "0.1"), ("20", r"20\%"), ("0.2", r"20\%"),
        ("12", r"12^{\mathrm{th}}"), (r"60^\circ 42'", r"60.7^\circ"), ("3:1", "3"), ("1:2", "2:4"), ("12:00", "12:00"), ("4210_7", "4210_{7}"),
        ("52_8", "42"), (r"\frac{\pi}{3}", r"60^\circ"), ("2 hours", "120 minutes"), ("5 cents", r"\$0.05"),
    ],
    "rounded": [("30.52", r"\frac{1587}{52}"), (r"6.67\%", r"\frac{1}{15}"), (r"2.3148 \times 10^{-3}", r"\frac{1}{432}"), ("3.14", r"\pi"),
                (r"\frac{\sqrt3}{2}", "0.8660254037844386"), (r"\frac13", "0.33333333333333")],
    "words": [
        ("white", "White"), (r"\text{east}", "East"), ("C", "(C)"), ("C", "C. 12"), ("(B)", "B"), ("C", "c"), (r"\text{Navin}", "Navin"),
        ("the circle", "Circle"), ("yes", "Yes."), ("They are the same", "they are the same"), ("f'", "f'"),
    ],
}  # fmt: skip

DIFFERENT = {
    "numbers": [
        ("42", "43"), ("1/2^{99}", "1/2^{98}"), ("1/2004!", "1/2006!"), ("5", "5.001"), ("1001", "1001.5"), ("12", "1,2"), ("10", "-10"),
        ("3.15", "3.14159"), ("100", "1"), ("2.5", "5.2"), ("9^{9^9}", "9^{9^9}+1"), ("3", "3.0000000001"), ("1331, 1728", "1728"),
        (r"\binom{40}{10}", r"\binom{40}{11}"), ("1", "-1"), ("0.3333", "1/3 + 1"), ("4", r"4\sqrt2"), ("2^{1009}", "2^{1008}"),
    ],
    "surds and constants": [
        (r"2\sqrt{2}", r"2\sqrt{3}"), (r"1-\frac{1}{e}", r"1+\frac{1}{e}"), (r"\pi", "22/7"), ("1+i", "1-i"), (r"\sqrt3", "1.73"), ("i", "1"),
        (r"\pi", "3.14"), (r"\frac{\pi}{4}", r"\arctan 2"), (r"10^{100}", r"10^{100}+\sqrt{2}"), (r"\sqrt{10^{60}+1}", "10^{30}"),
    ],
    "algebra": [
        ("(x+1)^{500}", "(x+1)^{500}+1"), ("x^2+2x-1", "(x+1)^2"), ("x", "y"), ("2n", "2x"), (r"3^n", "3^{n+1}"), ("x", "|x|"), ("2R", "2r"),
        (r"F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}", r"F_n = \sum_{k=0}^{n-2} F_k F_{n-k-2}"), ("(a+5)(b+2)", "(+5)(b+2)"),
        (r"\sqrt{x+1}^{1000}", r"\sqrt{x+1}^{1000}+1"), (r"\lfloor n/3 \rfloor", r"\lfloor n/4 \rfloor"), ("x+1", "1"), (r"\frac{2}{r}", "2"),
    ],
    "lists, sets and tuples": [
        ("1, 2", "1"), ("1, 2", "1, 2, 3"), ("(1,2)", "(2,1)"), ("a=3, b=4", "a=4, b=3"), ("[x, x+1]", "[x+1, x]"), ("n=2,3,4", "n=1,2,3"),
        ("1,2,...,n", "1,3,5,...,2n-1"), ("1:2:3", "1:4:9"), (r"\{1,2\}", r"\{1,3\}"), (r"3\pm\sqrt2", r"3+\sqrt2"), ("2, 2", "2"),
        ("19, 46, and 82", "21, 36, and 82"), (r"\pm 2", r"\pm 3"), ("3,4", "p=4, q=3"), ("(1,2)", "[1,2]"), ("y_1=2", "y_2=2"),
    ],
    "intervals": [
        ("(0,9)", "[0,9)"), ("x<1", "x>-1"), (r"x\ge 5", r"x \le 5"), (r"a\ge 0", "[0,1)"), (r"(-\infty,-2]\cup\{1\}", r"(-\infty,-2]\cup\{2\}"),
        ("[1,2)", "[x,y)"), ("b<a<d<c", "a<b<c<d"), (r"\{x|-1<x<1\}", "(-1,2)"), ("f(2)<f(1)<f(4)", "f(1)<f(2)<f(4)"), ("x<1", "x<=1"),
        (r"\mathbb{R}", r"(0,\infty)"), ("x > 2", "2"), (r"(0,1)", r"\{0,1\}"),
    ],
    "equations": [
        ("x=1", "x=2"), ("3x-y+13=0", "3x+4y+14=0"), ("x^2-12=0", "0"), ("2x+4y-3=0", "0"), ("5", "5=4"), ("4", "5=4"), ("D=(0,1)", "D=(0,1.5)"),
        ("f(x)=x", "f(x)=-x"), ("x^2=4", "2"), ("y=2x", "y=3x"), ("y+1=-(2x-1)^2", "-4x^2+4x-1"), (r"\log_{36}(36)=1", r"\log_{36}(36)=6"),
        ("x=10", r"\log_2(2)=1"), (r"a+b=\sqrt3", r"a+b=\sqrt2"), ("x+y=5", "5"),
    ],
    "matrices": [
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"), (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}"),
        (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"), (r"\begin{pmatrix}1&2\end{pmatrix}", "3"),
    ],
    "amounts": [
        ("12 cm", "12 m"), ("4", r"400\%"), ("12:00", "1:00"), (r"45\text{ units}^2", r"45\text{ units}^4"), ("4210_7", "4210_8"), ("3:1", "2"),
        ("5 dollars", "5 cents"), (r"6.67\%", r"\frac18"), ("48 km/h", "48 m/s"), (r"90^\circ", r"80^\circ"), ("0.5", r"0.5\%"),
    ],
    "words": [("white", "black"), ("C", "D"), ("Any odd number", "even"), ("2", "AZYUK2A"), ("C", "D. C"), ("yes", "no"), ("x", "X")],
}  # fmt: skip


def cases(table):
    return [pytest.param(*pair, id=f"{form}: {pair[0]} | {pair[1]}") for form, pairs in table.items() for pair in pairs]


@pytest.mark.parametrize(("truth", "answer"), cases(SAME))
def test_two_ways_to_write_it_are_equal_in_both_directions(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is True
    if "%" not in answer and form_is_symmetric(truth, answer):
        assert decide(answer, truth, DEFAULT).equal is True


def form_is_symmetric(truth, answer):
    """Rounding forgives in one direction only: the truth is the rounded one, or the answer a machine's."""
    return (truth, answer) not in SAME["rounded"]


@pytest.mark.parametrize(("truth", "answer"), cases(DIFFERENT))
def test_two_different_answers_are_never_equal(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is not True
    if "%" not in truth + answer and not re.search(r"\.\d\d", answer):
        assert decide(answer, truth, DEFAULT).equal is not True
