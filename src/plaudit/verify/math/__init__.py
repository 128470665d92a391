"""Verify answers to mathematical problems: find the answer of a response and decide whether it is the truth."""

from plaudit.verify.math.comparison.forms import Method
from plaudit.verify.math.equality import decide
from plaudit.verify.math.extraction.candidates import Extraction, extract
from plaudit.verify.math.extraction.marks import Rejection, Source
from plaudit.verify.math.policy import MathPolicy, Names, Percent, Units, policy_from_switches
from plaudit.verify.math.verdict import MathVerdict, VerdictStatus, verify_math

__all__ = [
    "Extraction",
    "MathPolicy",
    "MathVerdict",
    "Method",
    "Names",
    "Percent",
    "Rejection",
    "Source",
    "Units",
    "VerdictStatus",
    "decide",
    "extract",
    "policy_from_switches",
    "verify_math",
]
