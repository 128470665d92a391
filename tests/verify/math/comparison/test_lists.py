"""Lists, sets and tuples."""

import pytest

from plaudit.verify.math.comparison.lists import same_items
from plaudit.verify.math.parsing.tree import number
from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
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
10^3, 10  ~~  x=1000, y=10
"""

DIFFERENT = r"""
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
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_collections_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_collections_are_never_equal(truth, answer):
    assert are_different(truth, answer)


@pytest.mark.parametrize(
    ("answer", "verdict"), [((1, 3), None), ((1, 4), False), ((1, 2), True), ((1, 2, 2), True), ((1, 2, 3), None)]
)
def test_lists_with_an_undecided_pair_are_undecided_and_not_different(answer, verdict):
    def same(one, other):
        return None if {one.value, other.value} == {2, 3} else one == other

    assert same_items([number(1), number(2)], [number(value) for value in answer], same) is verdict
