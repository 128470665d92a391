"""Verify answers to mathematical problems: find the answer of a response and decide whether it is the truth."""

from plaudit.verify.math.decide import Method, decide
from plaudit.verify.math.extract import Extraction, Rejection, Source, extract
from plaudit.verify.math.policy import MathPolicy, Percent, Units
from plaudit.verify.math.verdict import MathVerdict, VerdictStatus, verify_math

__all__ = [
    "Extraction",
    "MathPolicy",
    "MathVerdict",
    "Method",
    "Percent",
    "Rejection",
    "Source",
    "Units",
    "VerdictStatus",
    "decide",
    "extract",
    "verify_math",
]
