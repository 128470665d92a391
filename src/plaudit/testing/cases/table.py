"""Test cases for rewards: a response, its expected reward, and the other columns that the reward reads.

A case that expects nothing is an error: a misspelt `expected` would otherwise be a test that cannot fail. Columns that
plaudit does not know go to the trajectory, where rewards find them by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.columns import foreign_names_of
from plaudit.contract.output import Status
from plaudit.errors import CasesError, did_you_mean, rename_hint
from plaudit.testing.cases.expectations import Expectation, parse_expectation
from plaudit.testing.cases.files import Row, read_sheet
from plaudit.trajectory import Trajectory

_EXPECTED = ("expected", "expected_reward", "expect")
_OWN = ("name", *_EXPECTED, "expected_score", "expected_status", "tolerance")


@dataclass(frozen=True, slots=True)
class Case:
    """One sample and what is expected of it."""

    name: str
    trajectory: Trajectory
    expected: Expectation | None = None
    expected_score: Expectation | None = None
    status: Status | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CaseTable:
    """The cases of one file, and the reward the file names for itself, if any."""

    path: Path
    cases: tuple[Case, ...]
    reward: str | None = None


def load_cases(path: str | Path) -> CaseTable:
    """The case table in a .yaml, .yml, .json, .jsonl or .csv file; raises CasesError when it cannot be run."""
    file = Path(path)
    sheet = read_sheet(file)
    if not sheet.rows:
        raise CasesError(f"{file}: holds no cases; give at least one with 'response' and 'expected'")
    cases = [_parse_case(_where(file, row.line, f"case {row.number}"), row) for row in sheet.rows]
    _check_names(file, cases)
    return CaseTable(file, tuple(cases), sheet.reward)


def _parse_case(where: str, row: Row) -> Case:
    cells = {name: value for name, value in row.cells.items() if value is not None}
    fields = {name: cells.pop(name) for name in _OWN if name in cells}
    try:
        return Case(
            name=_parse_name(fields.get("name"), row.number),
            trajectory=_parse_trajectory(cells),
            line=row.line,
            **_parse_expected(fields, cells),
        )
    except ValueError as error:
        raise CasesError(f"{where}: {error}") from None


def _parse_name(value: Any, number: int) -> str:
    if value is None:
        return f"case {number}"
    name = str(value).strip()
    if isinstance(value, bool | list | dict) or not name or not name.isprintable():
        raise ValueError(f"a name is one line of text, got {value!r:.60}")
    return name


def _parse_trajectory(cells: Mapping[str, Any]) -> Trajectory:
    if "response" not in cells:
        foreign = foreign_names_of("response", cells)
        hint = f"; rename {foreign[0]!r} to 'response'" if foreign else rename_hint("response", cells)
        raise ValueError(f"no 'response' among {sorted(cells)}{hint}")
    if not isinstance(response := cells["response"], str):
        raise ValueError(f"response must be text, got {type(response).__name__} {response!r:.60}; put it in quotes")
    return Trajectory.from_dict({"prompt": "", **cells})


def _parse_expected(fields: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, Any]:
    spelled = [name for name in _EXPECTED if name in fields]
    if len(spelled) > 1:
        raise ValueError(f"{' and '.join(spelled)} mean the same; keep one")
    if not spelled and "expected_score" not in fields and "expected_status" not in fields:
        near = next((name for name in cells if did_you_mean(name, _OWN)), "")
        hint = f" ({near!r} is not known{did_you_mean(near, _OWN)})" if near else ""
        raise ValueError(
            f"expects nothing{hint}; add 'expected', 'expected_score', or 'expected_status' "
            f"({', '.join(Status)}) for a sample that should not be scored"
        )
    reward = parse_expectation(fields[spelled[0]], fields.get("tolerance")) if spelled else None
    score = (
        parse_expectation(fields["expected_score"], None if spelled else fields.get("tolerance"))
        if "expected_score" in fields
        else None
    )
    status = _parse_status(fields["expected_status"]) if "expected_status" in fields else None
    if status not in (None, Status.OK) and (reward or score):
        raise ValueError(f"a sample with status {status} has no reward; keep either the number or the status")
    return {"expected": reward, "expected_score": score, "status": status}


def _parse_status(written: Any) -> Status:
    known = [status.value for status in Status]
    if written not in known:
        raise ValueError(f"no status {written!r}{did_you_mean(str(written), known)} (known: {', '.join(known)})")
    return Status(written)


def _check_names(file: Path, cases: Sequence[Case]) -> None:
    """Check that every name is unique, and that every order refers to a case of the table."""
    named: dict[str, Case] = {}
    for case in cases:
        if case.name in named:
            where = _where(file, case.line, case.name)
            raise CasesError(f"{where}: a second case is named {case.name!r}; give each case its own name")
        named[case.name] = case
    for case in cases:
        others = [name for name in named if name != case.name]
        for expected in (case.expected, case.expected_score):
            if expected is not None and expected.other is not None and expected.other not in others:
                problem = "is the case itself" if expected.other == case.name else "is not a case of this table"
                raise CasesError(
                    f"{_where(file, case.line, case.name)}: {expected}: {expected.other!r} {problem}"
                    f"{did_you_mean(expected.other, others)} (other cases: {', '.join(others)[:200] or 'none'})"
                )


def _where(file: Path, line: int | None, name: str) -> str:
    return f"{file}, {name}" if line is None else f"{file}:{line}"
