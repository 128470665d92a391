"""Test rewards like code: prove their contract, run tables of cases, in Python, from pytest, or on the command line.

The names below are fetched when first used: pytest imports this package in every project where plaudit is installed.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaudit.testing.cases.running import CaseResult, assert_cases, run_cases
    from plaudit.testing.cases.table import Case, CaseTable, load_cases
    from plaudit.testing.checking.check import check_reward
    from plaudit.testing.checking.findings import Finding, Rule, Severity

__all__ = [
    "Case",
    "CaseResult",
    "CaseTable",
    "Finding",
    "Rule",
    "Severity",
    "assert_cases",
    "check_reward",
    "load_cases",
    "run_cases",
]

_HOMES = {
    "Case": "cases.table",
    "CaseTable": "cases.table",
    "load_cases": "cases.table",
    "check_reward": "checking.check",
    "Finding": "checking.findings",
    "Rule": "checking.findings",
    "Severity": "checking.findings",
    "CaseResult": "cases.running",
    "assert_cases": "cases.running",
    "run_cases": "cases.running",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
