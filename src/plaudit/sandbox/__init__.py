"""Run programs that nobody trusts, and get plain values back."""

from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.outcome import Ending, Outcome, Raised
from plaudit.sandbox.program import Call, Program
from plaudit.sandbox.sandbox import Sandbox
from plaudit.sandbox.tiers import Protection, Protections, Tier
from plaudit.sandbox.values import Handle, NotPlain

__all__ = [
    "Call",
    "Ending",
    "Handle",
    "NotPlain",
    "Outcome",
    "Program",
    "Protection",
    "Protections",
    "Raised",
    "RunLimits",
    "Sandbox",
    "Tier",
]
