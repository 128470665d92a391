"""Intervals, inequalities and other sets of real numbers."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
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
"""

DIFFERENT = r"""
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
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_sets_of_numbers_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_sets_of_numbers_are_never_equal(truth, answer):
    assert are_different(truth, answer)
