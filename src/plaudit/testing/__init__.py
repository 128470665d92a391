"""Test rewards like code: prove their contract, run tables of cases, in Python, from pytest, or on the command line.

The names below are fetched when first used: pytest imports this package in every project where plaudit is installed.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaudit.testing.cases import Case, CaseTable, load_cases
    from plaudit.testing.contract_check import check_reward
    from plaudit.testing.findings import Finding, Rule, Severity
    from plaudit.testing.running import CaseResult, assert_cases, run_cases

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
    "Case": "cases",
    "CaseTable": "cases",
    "load_cases": "cases",
    "check_reward": "contract_check",
    "Finding": "findings",
    "Rule": "findings",
    "Severity": "findings",
    "CaseResult": "running",
    "assert_cases": "running",
    "run_cases": "running",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
