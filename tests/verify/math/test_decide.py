"""Truth and answer: what is the same, what is not, in every form an answer takes."""

import pytest

from plaudit.verify.math.decide import Method, decide
from plaudit.verify.math.policy import MathPolicy, Percent, Units

DEFAULT = MathPolicy()

SAME = r"""
# numbers
42  ~~  42.0
1000  ~~  1,000
10000  ~~  10{,}000
5460  ~~  5,\!460
7  ~~  ７
-3  ~~  −3
1/2  ~~  \frac12
\frac{1}{2}  ~~  0.5
\dfrac{3}{4}  ~~  \tfrac34
3/2  ~~  1\frac{1}{2}
1.5  ~~  1 1/2
-\frac{5}{2}  ~~  -2\frac12
0.5  ~~  .5
4  ~~  004
1200  ~~  1.2 \times 10^3
0.00015  ~~  1.5e-4
\frac13  ~~  0.\overline{3}
\frac16  ~~  0.1\overline{6}
1/6  ~~  0.1666...
1/6  ~~  0.16 repeating
100000  ~~  10^5
8  ~~  2^3
13  ~~  \text{13}
10 000  ~~  10000
120  ~~  5!
10  ~~  \binom{5}{2}
4  ~~  2+2
6  ~~  3 \cdot 2
2  ~~  17 \bmod 5
15  ~~  \sum_{k=1}^{5} k
24  ~~  \prod_{k=1}^{4} k
3  ~~  \lfloor \pi \rfloor
5  ~~  |-5|
1  ~~  \gcd(4, 9)
0  ~~  -0
2  ~~  \frac{-4}{-2}
10  ~~  \$10
-5  ~~  -\$5.00

# surds and constants
2\sqrt{2}  ~~  \sqrt 8
\sqrt{6}  ~~  \sqrt2\sqrt3
1+\sqrt2  ~~  \sqrt{3+2\sqrt2}
\frac{1}{\sqrt{2}}  ~~  \frac{\sqrt{2}}{2}
\frac{\sqrt6+\sqrt2}{4}  ~~  \cos 15^\circ
2^{-2/3}  ~~  \frac{1}{\sqrt[3]{4}}
\frac{\pi}{4}  ~~  \arctan 1
\pi/2  ~~  π/2
-2  ~~  \sqrt[3]{-8}
-1  ~~  e^{i\pi}
1+2i  ~~  i(2-i)
\ln 8  ~~  3\ln 2
3  ~~  \log_2 8
\frac{\ln 5}{2\ln 3}  ~~  \log_9 5
i  ~~  \sqrt{-1}
\sqrt3  ~~  sqrt(3)
\sqrt3  ~~  √3
e  ~~  \mathrm{e}
\frac12  ~~  \sin 30^\circ
(7)^{1/2}  ~~  \sqrt{7}
4\pi  ~~  4 \pi
\frac{9\pi}{2}  ~~  9/2 * π
2  ~~  \lg 100

# algebra
x^2+2x+1  ~~  (x+1)^2
(x-2)(x+2)  ~~  x^2-4
\frac{3m}{2}-1  ~~  \dfrac{3m-2}{2}
x^2  ~~  x**2
\tan^2(y)+1  ~~  \sec^2(y)
\sin 2x  ~~  2\sin x\cos x
2 \arcsin \sqrt{a}  ~~  \arccos(1-2a)
\frac23\cdot 3^n  ~~  2\cdot 3^{n-1}
4^n  ~~  2^{2n}
\frac{n!}{k!(n-k)!}  ~~  \binom{n}{k}
\frac{(n-1)!}{k!} \frac{n}{(n-k)!}  ~~  \frac{n!}{k!(n-k)!}
\ln(x^2)  ~~  2 \ln x
e^{2x}  ~~  (e^x)^2
\sqrt{a^2 b^2+b^2 c^2}  ~~  \sqrt{b^2c^2+a^2b^2}
\frac{1}{3\sqrt[3]{x}^2}  ~~  \frac{1}{3x^{2/3}}
k\pi  ~~  n\pi
a_{n}=2n+1  ~~  2n+1
v^2_0  ~~  v_0^2
2xy  ~~  2yx
\frac{1}{m} t  ~~  \frac{t}{m}
F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}  ~~  F_n = \sum_{j=0}^{n-1} F_{n-j-1} F_j
7p+4e  ~~  4e+7p
\sum_{n=0}^{\infty} x^n  ~~  \sum_{k=0}^{+\infty} x^k
2|-3n^2-1|+2  ~~  6n^2+4

# lists, sets and tuples
1, 2  ~~  2, 1
1 and 2  ~~  \{2, 1\}
6 \text{ and } 8  ~~  8, 6
3 \pm 2\sqrt2  ~~  3+2\sqrt2, 3-2\sqrt2
x=\pm 3  ~~  x=3 or x=-3
(1,2)  ~~  (1, 2)
(12,34)  ~~  12,34
1,2,3  ~~  (x,y,z)=(1,2,3)
3,4  ~~  p=3, q=4
a=3, b=4  ~~  b=4, a=3
x=-3,4  ~~  -3, 4
(2,251,252)  ~~  (2, 251, 252)
\{1,2\}  ~~  {2,1}
(1,2),(3,4)  ~~  (3,4), (1,2)
1331, 1728  ~~  1728 and 1331
(e^{-5}, \pm\sqrt7)  ~~  (e^{-5},\sqrt7),(e^{-5},-\sqrt7)
②③  ~~  2, 3
f(x)=x, f(x)=-x  ~~  f(x)=-x \text{ and } f(x)=x
1,2,...,n  ~~  1, 2, \ldots, n
\emptyset  ~~  \{\}
1, 3  ~~  Minimum: 1, Maximum: 3
100,200  ~~  100, 200
10^3, 10  ~~  x=1000, y=10

# intervals
x > 0  ~~  (0, \infty)
m \geq \sqrt2  ~~  m \in [\sqrt2, +\infty)
20<P<30  ~~  (20,30)
x<1  ~~  -x>-1
a \le -2 \text{ or } a = 1  ~~  (-\infty,-2] \cup \{1\}
\{x \mid -1<x<1\}  ~~  (-1,1)
x > 3  ~~  3 < x
4<m\le 8 \text{ or } 10\le m<12  ~~  (4,8]\cup[10,12)
x \neq 5  ~~  (-\infty,5)\cup(5,\infty)
x \ne 5  ~~  x != 5
\{x | x < \frac32\} - \{-6\}  ~~  (-\infty,-6)\cup(-6,\frac32)
[0.5, 8]  ~~  \frac12 \le x \le 8
2x < 4  ~~  x < 2
(0,1)\cup(1,2)  ~~  (0,2)\setminus\{1\}
(2,3)\cup(0,1)  ~~  (0,1)\cup(2,3)
0<f(x)<1  ~~  (0,1)
]0,1]  ~~  (0,1]
x \neq -1, 4  ~~  (-\infty,-1)\cup(-1,4)\cup(4,\infty)
(-\infty,\infty)  ~~  \mathbb{R}
x>2, x<5  ~~  (2,5)

# equations
x=5  ~~  5
x = 5  ~~  5 = x
2x+4y-3=0  ~~  y=-\frac12x+\frac34
x^2+y^2=1  ~~  1-x^2-y^2=0
3x+6=0  ~~  x+2=0
f(z)=z  ~~  f(x)=x
f(x)=x^2  ~~  x^2
|AB|=1  ~~  1
S_{ABC}:S=7:32  ~~  7:32
x=y=z=2  ~~  2
\frac{1+\sqrt{97}}{8} \approx 1.36  ~~  \frac{1+\sqrt{97}}{8}
\log_8(4)=\frac23  ~~  \frac23
y=2x+1  ~~  2x-y+1=0
\rho\sin\theta=\sqrt3  ~~  \sqrt3\csc\theta
f^{-1}(x)=2x  ~~  2x
b>a  ~~  a<b
4  ~~  2+2=4
p=1 and p=2  ~~  p=2, p=1

# matrices
\begin{pmatrix}1/2\\3\end{pmatrix}  ~~  \begin{bmatrix} 0.5 \\ 3 \end{bmatrix}
\left[\begin{array}{rr}1&2\\3&4\end{array}\right]  ~~  \begin{pmatrix}1&2\\3&4\\\end{pmatrix}
\begin{pmatrix}6&8\end{pmatrix}  ~~  \begin{pmatrix}1&2\end{pmatrix}+\begin{pmatrix}5&6\end{pmatrix}
\begin{pmatrix}2&4\end{pmatrix}  ~~  2\begin{pmatrix}1&2\end{pmatrix}
A=\begin{pmatrix}1\\2\end{pmatrix}  ~~  \begin{pmatrix}1\\2\end{pmatrix}

# amounts
125 miles  ~~  125\textnormal{ miles}
10  ~~  10\text{ units}
864 \mbox{ inches}^2  ~~  864
90  ~~  90^\circ
1\text{ m}  ~~  100 cm
48 km/h  ~~  48 \mathrm{~km}/\mathrm{h}
10\%  ~~  10
10\%  ~~  0.1
20  ~~  20\%
0.2  ~~  20\%
12  ~~  12^{\mathrm{th}}
60^\circ 42'  ~~  60.7^\circ
3:1  ~~  3
1:2  ~~  2:4
12:00  ~~  12:00
4210_7  ~~  4210_{7}
52_8  ~~  42
\frac{\pi}{3}  ~~  60^\circ
2 hours  ~~  120 minutes
5 cents  ~~  \$0.05

# words
white  ~~  White
\text{east}  ~~  East
C  ~~  (C)
C  ~~  C. 12
(B)  ~~  B
C  ~~  c
\text{Navin}  ~~  Navin
the circle  ~~  Circle
yes  ~~  Yes.
They are the same  ~~  they are the same
f'  ~~  f'
"""

MET = r"""
# rounded decimals, in one direction only
30.52  ~~  \frac{1587}{52}
6.67\%  ~~  \frac{1}{15}
2.3148 \times 10^{-3}  ~~  \frac{1}{432}
3.14  ~~  \pi
\frac{\sqrt3}{2}  ~~  0.8660254037844386
\frac13  ~~  0.33333333333333
"""

DIFFERENT = r"""
# numbers
42  ~~  43
1/2^{99}  ~~  1/2^{98}
1/2004!  ~~  1/2006!
5  ~~  5.001
1001  ~~  1001.5
12  ~~  1,2
10  ~~  -10
3.15  ~~  3.14159
100  ~~  1
2.5  ~~  5.2
9^{9^9}  ~~  9^{9^9}+1
3  ~~  3.0000000001
1331, 1728  ~~  1728
\binom{40}{10}  ~~  \binom{40}{11}
1  ~~  -1
0.3333  ~~  1/3 + 1
4  ~~  4\sqrt2
2^{1009}  ~~  2^{1008}

# surds and constants
2\sqrt{2}  ~~  2\sqrt{3}
1-\frac{1}{e}  ~~  1+\frac{1}{e}
\pi  ~~  22/7
1+i  ~~  1-i
\sqrt3  ~~  1.73
i  ~~  1
\pi  ~~  3.14
\frac{\pi}{4}  ~~  \arctan 2
10^{100}  ~~  10^{100}+\sqrt{2}
\sqrt{10^{60}+1}  ~~  10^{30}

# algebra
(x+1)^{500}  ~~  (x+1)^{500}+1
x^2+2x-1  ~~  (x+1)^2
x  ~~  y
2n  ~~  2x
3^n  ~~  3^{n+1}
x  ~~  |x|
2R  ~~  2r
F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}  ~~  F_n = \sum_{k=0}^{n-2} F_k F_{n-k-2}
(a+5)(b+2)  ~~  (+5)(b+2)
\sqrt{x+1}^{1000}  ~~  \sqrt{x+1}^{1000}+1
\lfloor n/3 \rfloor  ~~  \lfloor n/4 \rfloor
x+1  ~~  1
\frac{2}{r}  ~~  2

# lists, sets and tuples
1, 2  ~~  1
1, 2  ~~  1, 2, 3
(1,2)  ~~  (2,1)
a=3, b=4  ~~  a=4, b=3
[x, x+1]  ~~  [x+1, x]
n=2,3,4  ~~  n=1,2,3
1,2,...,n  ~~  1,3,5,...,2n-1
1:2:3  ~~  1:4:9
\{1,2\}  ~~  \{1,3\}
3\pm\sqrt2  ~~  3+\sqrt2
2, 2  ~~  2
19, 46, and 82  ~~  21, 36, and 82
\pm 2  ~~  \pm 3
3,4  ~~  p=4, q=3
(1,2)  ~~  [1,2]
y_1=2  ~~  y_2=2

# intervals
(0,9)  ~~  [0,9)
x<1  ~~  x>-1
x\ge 5  ~~  x \le 5
a\ge 0  ~~  [0,1)
(-\infty,-2]\cup\{1\}  ~~  (-\infty,-2]\cup\{2\}
[1,2)  ~~  [x,y)
b<a<d<c  ~~  a<b<c<d
\{x|-1<x<1\}  ~~  (-1,2)
f(2)<f(1)<f(4)  ~~  f(1)<f(2)<f(4)
x<1  ~~  x<=1
\mathbb{R}  ~~  (0,\infty)
x > 2  ~~  2
(0,1)  ~~  \{0,1\}

# equations
x=1  ~~  x=2
3x-y+13=0  ~~  3x+4y+14=0
x^2-12=0  ~~  0
2x+4y-3=0  ~~  0
5  ~~  5=4
4  ~~  5=4
D=(0,1)  ~~  D=(0,1.5)
f(x)=x  ~~  f(x)=-x
x^2=4  ~~  2
y=2x  ~~  y=3x
y+1=-(2x-1)^2  ~~  -4x^2+4x-1
\log_{36}(36)=1  ~~  \log_{36}(36)=6
x=10  ~~  \log_2(2)=1
a+b=\sqrt3  ~~  a+b=\sqrt2
x+y=5  ~~  5

# matrices
\begin{pmatrix}1\\2\end{pmatrix}  ~~  \begin{pmatrix}1\\3\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}  ~~  \begin{pmatrix}1&3\\2&4\end{pmatrix}
\begin{pmatrix}1&2\end{pmatrix}  ~~  \begin{pmatrix}1\\2\end{pmatrix}
\begin{pmatrix}1&2\end{pmatrix}  ~~  3

# amounts
12 cm  ~~  12 m
4  ~~  400\%
12:00  ~~  1:00
45\text{ units}^2  ~~  45\text{ units}^4
4210_7  ~~  4210_8
3:1  ~~  2
5 dollars  ~~  5 cents
6.67\%  ~~  \frac18
48 km/h  ~~  48 m/s
90^\circ  ~~  80^\circ
0.5  ~~  0.5\%

# words
white  ~~  black
C  ~~  D
Any odd number  ~~  even
2  ~~  AZYUK2A
C  ~~  D. C
yes  ~~  no
x  ~~  X
"""


def pairs(table):
    """The cases of a table: a line each, `truth ~~ answer`, under a heading for their form."""
    form = ""
    for line in filter(None, table.splitlines()):
        if line.startswith("# "):
            form = line[2:]
        else:
            truth, answer = line.split("  ~~  ")
            yield pytest.param(truth, answer, id=f"{form}: {truth} | {answer}")


@pytest.mark.parametrize(("truth", "answer"), list(pairs(SAME)))
def test_two_ways_to_write_it_are_equal_in_both_directions(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is True
    assert decide(answer, truth, DEFAULT).equal is True


@pytest.mark.parametrize(("truth", "answer"), list(pairs(MET)))
def test_a_rounded_truth_is_met_by_what_rounds_to_it(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is True
    assert decide(truth, answer, MathPolicy(rounding=False)).equal is not True


@pytest.mark.parametrize(("truth", "answer"), list(pairs(DIFFERENT)))
def test_two_different_answers_are_never_equal(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is not True


POLICIES = {
    "units compared": (MathPolicy(), "12 cm", "12 km", False),
    "units ignored": (MathPolicy(units=Units.IGNORE), "12 cm", "12 km", True),
    "unit left open": (MathPolicy(), "12 cm", "12", True),
    "unit required": (MathPolicy(units=Units.REQUIRE), "12 cm", "12", False),
    "percent as a unit": (MathPolicy(), "50", r"50\%", True),
    "percent strictly": (MathPolicy(percent=Percent.STRICT), "50", r"50\%", False),
    "percent strictly, its value": (MathPolicy(percent=Percent.STRICT), "0.5", r"50\%", True),
    "one decimal is exact": (MathPolicy(), "0.3", "1/3", False),
    "one decimal may be rounded": (MathPolicy(min_decimals=1), "0.3", "1/3", True),
    "few digits for an exact truth": (MathPolicy(), "1/3", "0.33", False),
    "few digits allowed": (MathPolicy(answer_digits=2), "1/3", "0.33", True),
    "few digits allowed, but wrong": (MathPolicy(answer_digits=2), "1/3", "0.34", False),
    "unevaluated copy": (MathPolicy(), "4", "2+2", True),
    "unevaluated copy refused": (MathPolicy(unevaluated=False), "4", "2+2", False),
    "exact form is evaluated": (MathPolicy(unevaluated=False), "0.5", r"\frac{1}{2}", True),
    "lists in any order": (MathPolicy(), "1, 2", "2, 1", True),
    "lists in order": (MathPolicy(ordered_lists=True), "1, 2", "2, 1", False),
    "letter with its text": (MathPolicy(), "C", "C. 12", True),
    "letter with its text refused": (MathPolicy(bare_choice=False), "C", "C. 12", False),
}


@pytest.mark.parametrize(("policy", "truth", "answer", "equal"), POLICIES.values(), ids=POLICIES)
def test_the_policy_settles_what_mathematics_leaves_open(policy, truth, answer, equal):
    assert (decide(truth, answer, policy).equal is True) is equal


METHODS = {
    Method.TEXT: ("white", "White"),
    Method.NUMBER: ("1/2", "0.5"),
    Method.ALGEBRA: ("(x+1)^2", "x^2+2x+1"),
    Method.SET: ("1, 2", "2, 1"),
    Method.INTERVAL: ("x > 1", r"(1, \infty)"),
    Method.TUPLE: ("(1, 2)", "(1, 4/2)"),
    Method.TIME: ("3:30", "3:30 PM"),
    Method.MATRIX: (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2.0\end{bmatrix}"),
    Method.EQUATION: ("x + y = 2", "2x + 2y = 4"),
    Method.CHOICE: ("B", "(B)"),
}


@pytest.mark.parametrize(("method", "pair"), METHODS.items(), ids=METHODS)
def test_a_decision_says_how_it_was_made(method, pair):
    decision = decide(*pair, DEFAULT)
    assert (decision.equal, decision.method) == (True, method)


@pytest.mark.parametrize(
    "text",
    ["9" * 30_000, "(1+" * 100 + "x" + ")" * 100, "+".join(["1"] * 20_000), "x^{" * 200 + "2" + "}" * 200],
    ids=["digits", "brackets", "a long sum", "a tower"],
)
def test_what_is_over_the_budget_is_undecided_not_wrong(text):
    decision = decide("7", text, DEFAULT)
    assert (decision.equal, decision.unparsed) == (None, "answer")


@pytest.mark.parametrize(("name", "value"), [("min_decimals", 0), ("answer_digits", 0)])
def test_a_policy_that_makes_no_sense_is_refused_when_built(name, value):
    with pytest.raises(ValueError, match=name):
        MathPolicy(**{name: value})
