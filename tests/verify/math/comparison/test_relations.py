"""Equations and other relations."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
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
f^{-1}(x)=2x  ~~  2x
b>a  ~~  a<b
4  ~~  2+2=4
p=1 and p=2  ~~  p=2, p=1
"""

DIFFERENT = r"""
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
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_relations_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_relations_are_never_equal(truth, answer):
    assert are_different(truth, answer)
