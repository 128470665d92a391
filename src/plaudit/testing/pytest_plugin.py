"""The pytest plug-in: every `*.cases.yaml` (yml, json, jsonl, csv) file is a test module, every case in it a test.

pytest imports this module in every project where plaudit is installed, so it imports nothing of plaudit itself until a
case table is met; that is why some imports stand inside functions here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plaudit.contract.function import RewardFunction
    from plaudit.testing.cases.running import CaseResult
    from plaudit.testing.cases.table import Case, CaseTable

__all__ = ["CaseFailed", "CaseFile", "CaseItem"]

ENDINGS = tuple(f".cases.{suffix}" for suffix in ("yaml", "yml", "json", "jsonl", "csv"))
HOW_TO_GIVE = "add 'reward: rewards.py:name' to the table, set plaudit_reward in the ini file, or pass --plaudit-reward"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("plaudit", "tests of reward functions").addoption(
        "--plaudit-reward", metavar="SPEC", help="the reward for case tables that name none, e.g. rewards.py:name"
    )
    parser.addini("plaudit_reward", help="the reward for case tables that name none, e.g. rewards.py:name")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    if not file_path.name.lower().endswith(ENDINGS):
        return None
    collected: CaseFile = CaseFile.from_parent(parent, path=file_path)
    return collected


class CaseFailed(AssertionError):
    """The reward did not give what a case expects."""


class CaseFile(pytest.File):
    """A case table; its cases are scored together when the first of them runs."""

    table: CaseTable
    reward: RewardFunction
    _results: dict[str, CaseResult] | None = None

    def collect(self) -> Iterator[CaseItem]:
        from plaudit.errors import PlauditError  # noqa: PLC0415 - see above
        from plaudit.testing.cases.running import reward_for  # noqa: PLC0415
        from plaudit.testing.cases.table import load_cases  # noqa: PLC0415

        try:
            self.table = load_cases(self.path)
            spec = self.table.reward or self.config.getoption("plaudit_reward") or self.config.getini("plaudit_reward")
            if not spec:
                raise self.CollectError(f"{self.path}: no reward to test; {HOW_TO_GIVE}")
            self.reward = reward_for(self.table, spec, [self.config.rootpath])
        except PlauditError as error:
            raise self.CollectError(str(error)) from error
        for case in self.table.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def result(self, name: str) -> CaseResult:
        """What came of a case."""
        from plaudit.testing.cases.running import run_cases  # noqa: PLC0415 - see above

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
            raise CaseFailed(_explained(self.file.reward, result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The explanation alone: a traceback of plaudit would say nothing about the reward."""
        return str(excinfo.value) if isinstance(excinfo.value, CaseFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None if self.case.line is None else self.case.line - 1, self.name


def _explained(reward: RewardFunction, result: CaseResult) -> str:
    from plaudit.testing.checking.findings import shortened  # noqa: PLC0415 - see above

    trajectory = result.case.trajectory
    lines = [result.explanation, f"reward:       {reward!r}", f"response:     {shortened(trajectory.response)}"]
    if trajectory.ground_truth is not None:
        lines.append(f"ground truth: {trajectory.ground_truth!r:.200}")
    for name, part in result.output.flat_components().items():
        value = f"{part.reward:g}" if part.reward is not None else f"{part.status} ({part.reason})"
        lines.append(f"component:    {name} = {value}")
    return "\n".join(lines)
