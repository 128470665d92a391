"""The rules of the arithmetic: exact, bounded, and undecided rather than guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify import MathPolicy, VerdictStatus, decide, verify_math
from plaudit.verify.math.exact.evaluation import PRIME
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import same_value
from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.math.parsing.tokens import FUNCTIONS
from plaudit.verify.math.parsing.tree import MAX_BITS, MAX_WORK, OverBudget, Unreadable, spend, start_work

DEFAULT = MathPolicy()
ROUNDED = MathPolicy(rounded_answers=True)


ANY_NUMBER = {"max", "min", "gcd", "lcm"}
COUNTS = {"binomial": (2,), "mod": (2,), "log": (1, 2)}


@given(st.sampled_from(sorted(set(FUNCTIONS) - ANY_NUMBER)), st.integers(1, 4))
def test_a_function_with_another_number_of_arguments_is_unreadable(function, count):
    text = f"{function}({', '.join(['2'] * count)})"
    if count in COUNTS.get(FUNCTIONS[function], (1,)):
        parse(text)
    else:
        with pytest.raises(Unreadable):
            parse(text)


@pytest.mark.parametrize(
    "answer", ["factorial(2,3)", "sqrt(4,5)", "sin(1,2)", "|1,2|", "binomial(1,2,3)", "log(1,2,3)"]
)
def test_a_response_with_such_a_call_is_wrong(answer):
    verdict = verify_math("2", rf"\boxed{{{answer}}}")
    assert (verdict.correct, verdict.status) == (False, VerdictStatus.OK)


@given(st.integers(1, 10**40), st.sampled_from(["+", "-", "*", "/", "^"]), st.integers(1, 10**4))
def test_no_number_that_is_worked_out_exceeds_the_budget_of_bits(left, sign, right):
    value = fold(parse(f"{left}{sign}{right}")).value
    assert value is None or value.numerator.bit_length() <= MAX_BITS


def test_work_beyond_the_budget_is_refused_and_the_next_decision_has_a_new_one():
    start_work()
    with pytest.raises(OverBudget):
        spend(MAX_WORK + 1)
    assert decide("4", "2+2", DEFAULT).equal is True


@pytest.mark.parametrize(
    "text",
    [
        r"\sum_{a=1}^{300} \sum_{b=1}^{300} \sum_{c=1}^{300} \sin(abc)",
        "+".join(rf"\frac{{1}}{{{10**300 + k}}}" for k in range(60)),
        r"\tan " * 30 + "x",
        "(" * 30 + "x" + "^{a+b})" * 30,
        "1/" * 2500 + "1",
        "lcm(" + ",".join(str(10**60 + k) for k in range(200)) + ")",
        r"1.5 \times 10^{900000}",
        "C_{" + "5" * 5000 + "}^3",
        "1" + " 000" * 1500,
        "4:30p..",
        "፩:30",
        "9^{9^{9^9}}",
        "19" + r"\%" * 40,
    ],
)
def test_a_text_that_takes_too_long_is_not_right_and_raises_nothing_on_either_side(text):
    for policy in (DEFAULT, ROUNDED):
        assert not verify_math("7", rf"\boxed{{{text}}}", policy).correct
        assert not verify_math(text, r"\boxed{7}", policy).correct


def test_a_ground_truth_over_the_budget_is_unparsed_whatever_the_answer():
    truth = r"\sum_{a=1}^{300} \sum_{b=1}^{300} \sum_{c=1}^{300} \sin(abc)"
    assert verify_math(truth, r"\boxed{7}").status is VerdictStatus.UNPARSED_TRUTH


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("2", r"\sum_{n=0}^{\infty} \frac{1+n(n-1)(n-2)(n-3)}{2^n}"),
        ("50", r"\sum_{n=0}^{\infty} \frac{1+n(n-1)(n-2)(n-3)}{2^n}"),
        ("2", r"\sum_{k=0}^{\infty} \frac{1}{2^k}"),
        ("1", r"\lim_{x\to 0} \frac{\sin x}{x}"),
        ("1", r"\lim_{x\to 0} \frac{\sin x}{x} + 10^{-50}"),
    ],
)
def test_infinite_series_and_limits_are_undecided_without_a_proof(truth, answer):
    assert decide(truth, answer, DEFAULT).equal is None


@pytest.mark.parametrize("factor", ["2^{127}", "2^{12700000}", f"{PRIME + 1}", rf"3^{{{PRIME - 1}}}"])
def test_a_factor_that_is_one_modulo_a_prime_is_not_one(factor):
    assert same_value(parse(f"{factor} x"), parse("x")) is not True


@given(st.integers(1, 9), st.integers(-9, 9))
def test_a_term_that_is_a_multiple_of_the_prime_is_not_zero(count, offset):
    assert same_value(parse(f"x + {count * PRIME} + {offset}"), parse(f"x + {offset}")) is False
