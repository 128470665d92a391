"""Laws of deciding: everything is itself, order of the two does not matter, dressing changes nothing, values do."""

import re
import threading
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit.verify.math.equality import decide
from plaudit.verify.math.policy import MathPolicy

DEFAULT = MathPolicy()
LETTERS = st.sampled_from("xyabnk")
WHOLE = st.integers(-999, 999).map(str)


def joined(children):
    """Larger expressions from smaller ones."""
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda two: f"{two[0]} + {two[1]}"),
        pair.map(lambda two: rf"\left({two[0]}\right) \cdot \left({two[1]}\right)"),
        st.tuples(children, st.integers(1, 99)).map(lambda two: rf"\frac{{{two[0]}}}{{{two[1]}}}"),
        st.tuples(children, LETTERS).map(lambda two: rf"\frac{{{two[0]}}}{{{two[1]}}}"),
        st.tuples(children, st.integers(2, 4)).map(lambda two: rf"\left({two[0]}\right)^{{{two[1]}}}"),
        children.map(lambda one: rf"\sqrt{{{one}}}"),
    )


EXPRESSIONS = st.recursive(st.one_of(st.integers(0, 99).map(str), LETTERS), joined, max_leaves=6)
ANSWERS = st.one_of(
    EXPRESSIONS,
    st.tuples(EXPRESSIONS, EXPRESSIONS).map(lambda two: f"({two[0]}, {two[1]})"),
    st.lists(EXPRESSIONS, min_size=2, max_size=4).map(lambda items: rf"\{{{', '.join(items)}\}}"),
    st.tuples(LETTERS, WHOLE).map(lambda two: rf"{two[0]} \le {two[1]}"),
    st.tuples(WHOLE, WHOLE).map(lambda two: rf"\begin{{pmatrix}} {two[0]} \\ {two[1]} \end{{pmatrix}}"),
)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_decided_without_an_error(text):
    decision = decide(text, "1", DEFAULT)
    assert decision.reason
    assert decide("1", text, DEFAULT).equal is decision.equal


@settings(max_examples=80, deadline=None)
@given(ANSWERS)
def test_every_answer_is_itself(answer):
    assert decide(answer, answer, DEFAULT).equal is True


@settings(max_examples=80, deadline=None)
@given(ANSWERS, ANSWERS)
def test_the_order_of_the_two_does_not_matter(one, other):
    assert decide(one, other, DEFAULT).equal is decide(other, one, DEFAULT).equal


@settings(max_examples=80, deadline=None)
@given(ANSWERS)
def test_dressing_changes_nothing(answer):
    for dressed in (
        f"  {answer}  ",
        f"${answer}$",
        rf"\({answer}\)",
        f"{{{answer}}}",
        rf"\displaystyle {answer}.",
        answer.replace(" ", r"\,"),
        answer.replace(r"\left(", "(").replace(r"\right)", ")"),
        answer.replace(r"\frac", r"\dfrac"),
    ):
        if r"\le\," not in dressed and r"\cdot\," not in dressed:
            assert decide(answer, dressed, DEFAULT).equal is True, dressed


@settings(max_examples=80, deadline=None)
@given(EXPRESSIONS, st.integers(1, 9))
def test_adding_a_number_makes_another_answer(expression, more):
    assert decide(expression, f"{expression} + {more}", DEFAULT).equal is not True


@settings(max_examples=80, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS)
def test_sums_and_products_commute(one, other):
    assert decide(f"{one} + {other}", f"{other} + {one}", DEFAULT).equal is True
    assert decide(f"({one})({other})", f"({other})({one})", DEFAULT).equal is True


@settings(max_examples=80, deadline=None)
@given(st.fractions(max_denominator=999), st.integers(2, 9))
def test_unreduced_fractions_are_equal_and_neighbours_are_not(value, factor):
    written = rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    assert (
        decide(written, rf"\frac{{{factor * value.numerator}}}{{{factor * value.denominator}}}", DEFAULT).equal is True
    )
    assert decide(written, rf"\frac{{{value.numerator + 1}}}{{{value.denominator}}}", DEFAULT).equal is False


@settings(max_examples=50, deadline=None)
@given(st.integers(-(10**40), 10**40), st.integers(1, 10**6))
def test_whole_numbers_of_any_size_are_compared_exactly(value, difference):
    assert decide(str(value), f"{value:,}", DEFAULT).equal is True
    assert decide(str(value), str(value + difference), DEFAULT).equal is False


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8, unique=True), st.randoms(use_true_random=False))
def test_lists_are_equal_in_any_order_and_differ_by_an_item(items, chance):
    shuffled = list(items)
    chance.shuffle(shuffled)
    written = rf"\{{{', '.join(map(str, items))}\}}"
    assert decide(written, rf"\{{{', '.join(map(str, shuffled))}\}}", DEFAULT).equal is True
    assert decide(written, rf"\{{{', '.join(map(str, [*shuffled[1:], 51]))}\}}", DEFAULT).equal is False


@settings(max_examples=50, deadline=None)
@given(st.integers(-50, 50), st.integers(1, 50), st.booleans(), st.booleans())
def test_intervals_are_inequalities(low, width, left, right):
    opening, closing = "[" if left else "(", "]" if right else ")"
    written = f"{opening}{low}, {low + width}{closing}"
    inequality = f"{low} {'<=' if left else '<'} x {'<=' if right else '<'} {low + width}"
    other_end = f"{low} {'<=' if left else '<'} x {'<' if right else '<='} {low + width}"
    assert decide(inequality, written, DEFAULT).equal is True
    assert decide(other_end, written, DEFAULT).equal is False


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 400), st.integers(1, 30))
def test_square_factors_leave_the_root(radicand, factor):
    whole = rf"\sqrt{{{radicand * factor * factor}}}"
    assert decide(whole, rf"{factor}\sqrt{{{radicand}}}", DEFAULT).equal is True
    assert decide(whole, rf"{factor}\sqrt{{{radicand}}} + 10^{{-20}}", DEFAULT).equal is False


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=0, max_value=9, max_denominator=99), st.integers(2, 6))
def test_a_rounded_truth_takes_what_rounds_to_it_and_no_neighbour(value, places):
    rounded = round(value, places)
    written = f"{float(rounded):.{places}f}"
    exact = f"{value.numerator}/{value.denominator}"
    assert decide(written, exact, DEFAULT).equal is True
    neighbour = Fraction(written) + Fraction(2, 10**places)
    assert decide(f"{float(neighbour):.{places}f}", exact, DEFAULT).equal is False


def test_threads_decide_alike():
    pairs = [(r"\sqrt{8}", r"2\sqrt{2}"), (r"\sin 2x", r"2\sin x\cos x"), ("x>1", r"(1,\infty)"), ("1/3", "0.33")]
    expected = [decide(*pair, DEFAULT).equal for pair in pairs]
    found = []

    def work():
        found.append([decide(*pair, DEFAULT).equal for _ in range(5) for pair in pairs][-len(pairs) :])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize("text", ["", "  ", "$$"])
def test_nothing_is_no_truth_and_no_answer(text):
    assert decide(text, "1", DEFAULT).unparsed == "truth"
    assert decide("1", text, DEFAULT).unparsed == "answer"


def test_digits_changed_anywhere_make_another_answer():
    truth = r"\frac{3 + 12\sqrt{5}}{47} + \ln 29"
    for place in (found.start() for found in re.finditer(r"\d", truth)):
        changed = truth[:place] + str((int(truth[place]) + 4) % 9 + 1) + truth[place + 1 :]
        assert changed == truth or decide(truth, changed, DEFAULT).equal is False
