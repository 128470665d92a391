"""Rounded decimals: a truth of enough decimals is met by what rounds to it, in one direction only."""

import pytest

from plaudit.verify import MathPolicy, decide
from tests.verify.math.answer_pairs import DEFAULT, pairs

MET = r"""
# rounded decimals, in one direction only
30.52  ~~  \frac{1587}{52}
6.67\%  ~~  \frac{1}{15}
2.3148 \times 10^{-3}  ~~  \frac{1}{432}
3.14  ~~  \pi
\frac{\sqrt3}{2}  ~~  0.8660254037844386
\frac13  ~~  0.33333333333333
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(MET))
def test_a_rounded_truth_is_met_by_what_rounds_to_it(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is True
    assert decide(truth, answer, MathPolicy(rounding=False)).equal is not True
