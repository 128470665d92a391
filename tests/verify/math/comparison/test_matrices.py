"""Matrices and vectors."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
# matrices
\begin{pmatrix}1/2\\3\end{pmatrix}  ~~  \begin{bmatrix} 0.5 \\ 3 \end{bmatrix}
\left[\begin{array}{rr}1&2\\3&4\end{array}\right]  ~~  \begin{pmatrix}1&2\\3&4\\\end{pmatrix}
\begin{pmatrix}2&4\end{pmatrix}  ~~  2\begin{pmatrix}1&2\end{pmatrix}
A=\begin{pmatrix}1\\2\end{pmatrix}  ~~  \begin{pmatrix}1\\2\end{pmatrix}
"""

DIFFERENT = r"""
# matrices
\begin{pmatrix}1\\2\end{pmatrix}  ~~  \begin{pmatrix}1\\3\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}  ~~  \begin{pmatrix}1&3\\2&4\end{pmatrix}
\begin{pmatrix}1&2\end{pmatrix}  ~~  \begin{pmatrix}1\\2\end{pmatrix}
\begin{pmatrix}1&2\end{pmatrix}  ~~  3
\begin{pmatrix}6&8\end{pmatrix}  ~~  \begin{pmatrix}1&2\end{pmatrix}+\begin{pmatrix}5&6\end{pmatrix}
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_matrices_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_matrices_are_never_equal(truth, answer):
    assert are_different(truth, answer)
