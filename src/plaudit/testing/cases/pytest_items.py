"""A case table as a pytest module, and each of its cases as a test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plaudit.contract.function import RewardFunction
from plaudit.errors import PlauditError
from plaudit.findings import shorten
from plaudit.loading import load
from plaudit.testing.cases.running import CaseResult, find_spec, run_cases
from plaudit.testing.cases.table import Case, CaseTable, load_cases

HOW_TO_GIVE = "add 'reward: rewards.py:name' to the table, set plaudit_reward in the ini file, or pass --plaudit-reward"


class CaseFailed(AssertionError):
    """The reward did not give what a case expects."""


class CaseFile(pytest.File):
    """A case table; its cases are scored together when the first of them runs."""

    table: CaseTable
    reward: RewardFunction
    _results: dict[str, CaseResult] | None = None

    def collect(self) -> Iterator["CaseItem"]:
        try:
            self.table = load_cases(self.path)
            spec = self.table.reward or self.config.getoption("plaudit_reward") or self.config.getini("plaudit_reward")
            if not spec:
                raise self.CollectError(f"{self.path}: no reward to test; {HOW_TO_GIVE}")
            self.reward = load(find_spec(self.table, spec, [self.config.rootpath]))
        except PlauditError as error:
            raise self.CollectError(str(error)) from error
        for case in self.table.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def result(self, name: str) -> CaseResult:
        """The result of a case."""

        if self._results is None:
            self._results = {result.case.name: result for result in run_cases(self.reward, self.table)}
        return self._results[name]


class CaseItem(pytest.Item):
    """One case as a test."""

    def __init__(self, *, case: Case, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case

    @property
    def file(self) -> CaseFile:
        assert isinstance(self.parent, CaseFile)
        return self.parent

    def runtest(self) -> None:
        result = self.file.result(self.name)
        if not result.passed:
            raise CaseFailed(_explain(self.file.reward, result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The explanation alone: a traceback of plaudit would not describe the reward."""
        return str(excinfo.value) if isinstance(excinfo.value, CaseFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None if self.case.line is None else self.case.line - 1, self.name


def _explain(reward: RewardFunction, result: CaseResult) -> str:

    trajectory = result.case.trajectory
    lines = [result.explanation, f"reward:       {reward!r}", f"response:     {shorten(trajectory.response)}"]
    if trajectory.ground_truth is not None:
        lines.append(f"ground truth: {trajectory.ground_truth!r:.200}")
    for name, part in result.output.flat_components().items():
        value = f"{part.reward:g}" if part.reward is not None else f"{part.status} ({part.reason})"
        lines.append(f"component:    {name} = {value}")
    return "\n".join(lines)
