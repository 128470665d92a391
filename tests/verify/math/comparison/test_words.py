"""Answers in words, and choices."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
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

DIFFERENT = r"""
# words
white  ~~  black
C  ~~  D
Any odd number  ~~  even
2  ~~  AZYUK2A
C  ~~  D. C
yes  ~~  no
x  ~~  X
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_words_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_words_are_never_equal(truth, answer):
    assert are_different(truth, answer)
