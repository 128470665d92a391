"""Surds, constants and functions: equal where they are the same number or the same function."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
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
"""

DIFFERENT = r"""
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
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_expressions_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_expressions_are_never_equal(truth, answer):
    assert are_different(truth, answer)
