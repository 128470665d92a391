"""Answers in boxes, tags and behind hashes."""

import pytest

from plaudit.verify import MathPolicy, Source, extract


@pytest.mark.parametrize(
    ("response", "answer", "source"),
    [
        pytest.param(r"so \boxed{\text{about } 4}", r"\text{about } 4", Source.BOXED, id="box"),
        pytest.param(r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}", Source.BOXED, id="braces in a box"),
        pytest.param(r"\fbox{4}", "4", Source.BOXED, id="fbox"),
        pytest.param(r"\\boxed{004}", "004", Source.BOXED, id="doubled backslash"),
        pytest.param(r"\boxed 7 feet", "7", Source.BOXED, id="box without braces"),
        pytest.param(r"\boxed{\(\boxed{70}\)}", r"\({70}\)", Source.BOXED, id="box in a box"),
        pytest.param(r"\boxed{x \in \{1, 2\}}", r"x \in \{1, 2\}", Source.BOXED, id="escaped braces"),
        pytest.param(r"\boxed{1} and \boxed{2}", "1, 2", Source.BOXED, id="boxes side by side"),
        pytest.param(r"$\boxed{1}$, $\boxed{2}$", "1, 2", Source.BOXED, id="formulas with boxes side by side"),
        pytest.param(r"7 + \boxed{\phantom{2}} = 11, so \boxed{4}", "4", Source.BOXED, id="a blank is no answer"),
        pytest.param(r"\boxed{4} <answer>4</answer>", "4", Source.BOXED, id="a box is stronger than a tag"),
        pytest.param("#### 4\n<answer>5</answer>", "5", Source.TAG, id="a tag is stronger than hashes"),
        pytest.param("The answer is 5.\n#### 4", "4", Source.HASHES, id="hashes are stronger than words"),
    ],
)
def test_the_strongest_mark_gives_the_answer(response, answer, source):
    extraction = extract(response, MathPolicy())
    assert (extraction.answer, extraction.source, extraction.rejected) == (answer, source, None)
