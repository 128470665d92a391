"""The example table that ships with plaudit: document 003's two test cases, and an order."""

import shutil
from pathlib import Path

from plaudit.testing import assert_cases, check_reward, load_cases, run_cases

EXAMPLES = Path(__file__).parents[3] / "examples"
TABLE = EXAMPLES / "arithmetic.cases.yaml"


def test_the_example_reward_passes_its_table():
    assert_cases(None, TABLE)


def test_a_right_answer_in_another_format_earns_the_share_of_correctness():
    outputs = {result.case.name: result.output for result in run_cases(None, load_cases(TABLE))}
    second = outputs["right answer in another format"]
    assert {name: part.reward for name, part in second.components.items()} == {
        "match_format_exactly": 0.0,
        "check_answer": 1.0,
    }


def test_the_example_reward_keeps_the_contract():
    samples = [case.trajectory for case in load_cases(TABLE).cases]
    assert check_reward(f"{EXAMPLES / 'arithmetic_reward.py'}:total", samples) == []


def test_the_example_table_is_a_pytest_module(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for file in (TABLE, EXAMPLES / "arithmetic_reward.py"):
        shutil.copy(file, pytester.path)
    result = pytester.runpytest("-p", "plaudit.testing.pytest_plugin", "-p", "no:cacheprovider", "-v", TABLE.name)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["arithmetic.cases.yaml::right answer in another format PASSED*"])
