"""Is this answer right? Pure functions on text: the math verifier, numbers, tags, templates, structure, code blocks."""

from plaudit.verify.math import (
    Extraction,
    MathPolicy,
    MathVerdict,
    Method,
    Names,
    Percent,
    Rejection,
    Source,
    Units,
    VerdictStatus,
    decide,
    extract,
    policy_from_switches,
    verify_math,
)

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
