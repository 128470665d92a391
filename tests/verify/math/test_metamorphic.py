"""Rewritings keep a right answer right; one changed digit, sign, letter or relation makes it wrong."""

import random
import re

import pytest

from plaudit.verify import verify_math

# Forty ways to give an answer: marks, prose, markdown, other languages, spacing.
WRAPPINGS = [
    "{}", "${}$", r"\({}\)", r"\[{}\]", "$${}$$", r"\boxed{{{}}}", r"$\boxed{{{}}}$", r"So \boxed{{{}}}.",
    r"\fbox{{{}}}", r"\boxed{{ {} }}", r"\boxed{{\left( {} \right)}}", r"\boxed{{\displaystyle {}}}", r"\boxed{{{}.}}",
    "The answer is ${}$.", "The final answer is ${}$. I hope it is correct.", "Final answer: ${}$", "**Answer:** ${}$",
    "Answer: {}", "answer = {}", "### Answer\n{}", "<answer>{}</answer>", "<answer> ${}$ </answer>",
    "<think>It may be 77.</think>The answer is ${}$.", "Therefore, the answer is ${}$", "The answer is therefore ${}$.",
    "We find ${}$.", "Thus ${}$.", "Hence the result is ${}$.", "After 3 steps we get ${}$.", "#### {}", "**{}**",
    "So the value is **${}$**.", "Die Antwort lautet ${}$.", "La réponse est ${}$.", "La respuesta es ${}$.",
    "答案是 ${}$。", "因此答案为${}$", "The correct answer is ${}$ and nothing else.", "{{\"answer\": \"{}\"}}",
    r"The answer is \boxed{{{}}}<|im_end|>",
]  # fmt: skip
ANSWERS = [
    "42", "-7", "3.25", r"\frac{3}{8}", "1024", r"2\sqrt{3}", r"\frac{\pi}{6}", "x^2+3x-4", r"\frac{x+1}{x-2}",
    "(2, -3)", r"\{1, 4, 9\}", "[2, 5)", r"x \le 12", "y = 2x + 5", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    r"5\sqrt{2}-1",
    r"3 + 4i", r"\log_2 9", "n^2 - n", r"\frac{1}{n+1}",
]  # fmt: skip
FORMATS = {
    "1234567.5": ["1,234,567.5", "1 234 567.5", "1.234.567,5", "1'234'567.5", r"1{,}234{,}567.5", r"1,\!234,\!567.5"],
    "0.125": ["0,125", ".125", "12.5%", "1/8", "1.25e-1", r"1.25 \times 10^{-1}", "0.1250", "0,1250"],
    "2.74": ["2,74 €", "2.74 €", "€2.74", "2,74", "2.74 euros", "EUR 2.74"],
    "15": ["15th", "fifteen", "15.", "15.0", "+15", "１５", "15 apples", "$15", "15 USD"],
    "6.2": ["6 1/5", r"6\frac{1}{5}", "31/5", "6⅕"],
}


def is_right(truth, response):
    return verify_math(truth, response).correct


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_right_answer_is_right_in_any_wrapping(answer):
    assert [wrapping for wrapping in WRAPPINGS if not is_right(answer, wrapping.format(answer))] == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_one_changed_digit_makes_it_wrong_in_any_wrapping(answer):
    changed = [
        answer[: found.start()] + str((int(found[0]) + 1) % 10) + answer[found.end() :]
        for found in re.finditer(r"\d", answer)
    ]
    responses = [wrapping.format(each) for wrapping in WRAPPINGS[::3] for each in changed]
    assert [response for response in responses if is_right(answer, response)] == []


@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if re.search(r"[+-]", answer)])
def test_one_changed_sign_makes_it_wrong(answer):
    for found in re.finditer(r"[+-]", answer):
        changed = answer[: found.start()] + {"+": "-", "-": "+"}[found[0]] + answer[found.end() :]
        assert not is_right(answer, rf"\boxed{{{changed}}}"), changed


@pytest.mark.parametrize("answer", ["x^2+3x-4", r"\frac{x+1}{x-2}", "n^2 - n", r"\frac{1}{n+1}", "x = 5"])
def test_another_letter_makes_it_wrong(answer):
    changed = re.sub(r"(?<![a-zA-Z\\])[xn](?![a-zA-Z])", "m", answer)
    assert not is_right(answer, rf"\boxed{{{changed}}}")


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (r"x \le 12", r"x \ge 12"),
        (r"x \le 12", "x < 12"),
        ("[2, 5)", "(2, 5)"),
        ("[2, 5)", "[2, 5]"),
        ("y = 2x + 5", r"y \ge 2x + 5"),
        ("x+y<3", "x+y>3"),
    ],
)
def test_another_relation_makes_it_wrong(answer, changed):
    assert not is_right(answer, rf"\boxed{{{changed}}}")


@pytest.mark.parametrize(("number", "written"), [(number, way) for number, ways in FORMATS.items() for way in ways])
def test_a_number_is_read_in_the_formats_of_many_places(number, written):
    assert is_right(number, written)


def test_a_sum_keeps_its_value_however_its_terms_are_ordered_and_written():
    chance = random.Random(4)
    terms = ["3x^2", "-5x", "7", r"\frac{x}{2}", r"-\sqrt{2}x"]
    for _ in range(40):
        chance.shuffle(terms)
        written = "".join(term if term.startswith("-") else f"+{term}" for term in terms).lstrip("+")
        assert is_right(r"3x^2 - 5x + 7 + \frac{x}{2} - \sqrt{2}x", rf"\boxed{{{written}}}"), written
