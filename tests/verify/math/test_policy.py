"""The switches of the policy, each with what it changes."""

import pytest

from plaudit.verify import MathPolicy, Percent, Units, decide

POLICIES = {
    "units compared": (MathPolicy(), "12 cm", "12 km", False),
    "units ignored": (MathPolicy(units=Units.IGNORE), "12 cm", "12 km", True),
    "unit left open": (MathPolicy(), "12 cm", "12", True),
    "unit required": (MathPolicy(units=Units.REQUIRE), "12 cm", "12", False),
    "percent as a unit": (MathPolicy(), "50", r"50\%", True),
    "percent strictly": (MathPolicy(percent=Percent.STRICT), "50", r"50\%", False),
    "percent strictly, its value": (MathPolicy(percent=Percent.STRICT), "0.5", r"50\%", True),
    "one decimal is exact": (MathPolicy(), "0.3", "1/3", False),
    "few digits for an exact truth": (MathPolicy(), "1/3", "0.33", False),
    "unevaluated copy": (MathPolicy(), "4", "2+2", True),
    "unevaluated copy refused": (MathPolicy(unevaluated=False), "4", "2+2", False),
    "exact form is evaluated": (MathPolicy(unevaluated=False), "0.5", r"\frac{1}{2}", True),
    "lists in any order": (MathPolicy(), "1, 2", "2, 1", True),
    "lists in order": (MathPolicy(ordered_lists=True), "1, 2", "2, 1", False),
    "letter with its text": (MathPolicy(), "C", "C. 12", True),
}


@pytest.mark.parametrize(("policy", "truth", "answer", "equal"), POLICIES.values(), ids=POLICIES)
def test_the_policy_decides_cases_that_mathematics_leaves_open(policy, truth, answer, equal):
    assert (decide(truth, answer, policy).equal is True) is equal
