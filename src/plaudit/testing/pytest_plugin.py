"""The pytest plug-in: every `*.cases.yaml` (yml, json, jsonl, csv) file is a test module, every case in it a test.

pytest imports this module in every project where plaudit is installed, so it imports nothing of plaudit itself until a
case table is met.
"""

from pathlib import Path

import pytest

ENDINGS = tuple(f".cases.{suffix}" for suffix in ("yaml", "yml", "json", "jsonl", "csv"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("plaudit", "tests of reward functions").addoption(
        "--plaudit-reward", metavar="SPEC", help="the reward for case tables that name none, e.g. rewards.py:name"
    )
    parser.addini("plaudit_reward", help="the reward for case tables that name none, e.g. rewards.py:name")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.lower().endswith(ENDINGS):
        return None
    from plaudit.testing.cases.pytest_items import CaseFile  # noqa: PLC0415 - see above

    collected: CaseFile = CaseFile.from_parent(parent, path=file_path)
    return collected
