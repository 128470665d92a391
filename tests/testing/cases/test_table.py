"""Case tables in four formats mean the same, and every mistake in one is an error that says where and what to do."""

import json
from pathlib import Path

import pytest

from plaudit import Status
from plaudit.errors import CasesError
from plaudit.testing import load_cases
from plaudit.testing.cases.expectations import compared, near, ordered, parse_expectation, within

ROWS = [
    {"name": "right", "response": "4, yes", "ground_truth": "4", "expected": "1", "unit": "kg"},
    {"name": "empty", "response": "", "expected": "< right"},
    {"response": "5", "expected": "0.4..0.6"},
    {"name": "no number", "response": "none", "expected_status": "unparsed", "metadata": {"a": 1}},
]


def write_yaml(folder: Path) -> Path:
    lines = ["cases:"]
    for row in ROWS:
        first, *rest = [f"{name}: {json.dumps(value)}" for name, value in row.items()]
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    file = folder / "t.cases.yaml"
    file.write_text("\n".join(lines))
    return file


def write_json(folder: Path) -> Path:
    file = folder / "t.cases.json"
    file.write_text(json.dumps(ROWS))
    return file


def write_json_lines(folder: Path) -> Path:
    file = folder / "t.cases.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    return file


def write_csv(folder: Path) -> Path:
    file = folder / "t.cases.csv"
    file.write_text(
        "name,response,ground_truth,expected,expected_status,unit,metadata\n"
        'right,"4, yes",4,1,,kg,\n'
        "empty,,,< right,,,\n"
        ",5,,0.4..0.6,,,\n"
        'no number,none,,,unparsed,,"{""a"": 1}"\n',
        encoding="utf-8-sig",  # as spreadsheets write it
    )
    return file


@pytest.mark.parametrize("write", [write_yaml, write_json, write_json_lines, write_csv])
def test_every_format_gives_the_same_cases(write, tmp_path):
    right, empty, third, no_number = load_cases(write(tmp_path)).cases
    assert (right.name, right.expected, right.trajectory.response) == ("right", near(1.0), "4, yes")
    assert (right.trajectory.prompt, right.trajectory.ground_truth) == ("", "4")
    assert right.trajectory.columns == {"unit": "kg"}
    assert (empty.trajectory.response, empty.expected) == ("", ordered("<", "right"))
    assert (third.name, third.expected) == ("case 3", within(0.4, 0.6))
    assert (no_number.status, no_number.expected) == (Status.UNPARSED, None)
    assert no_number.trajectory.metadata == {"a": 1}


@pytest.mark.parametrize(
    ("write", "lines"),
    [
        (write_yaml, [2, 7, 10, 12]),
        (write_json, [None] * 4),
        (write_json_lines, [1, 2, 3, 4]),
        (write_csv, [2, 3, 4, 5]),
    ],
)
def test_a_case_has_its_line_number_where_the_format_has_lines(write, lines, tmp_path):
    assert [case.line for case in load_cases(write(tmp_path)).cases] == lines


def test_a_csv_row_after_a_text_of_several_lines_still_has_the_right_line(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('response,expected\n"one\ntwo",1\nthree,1\n')
    assert [case.line for case in load_cases(file).cases] == [2, 4]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (1, near(1.0)), ("0.5", near(0.5)), ("1e-3", near(0.001)), ([0.4, 0.6], within(0.4, 0.6)),
        ("-1..-0.5", within(-1.0, -0.5)), ("> 0.5", compared(">", 0.5)), (">=0.5", compared(">=", 0.5)),
        ("< 0", compared("<", 0.0)), ("<= other case", ordered("<=", "other case")), (">other", ordered(">", "other")),
    ],
    ids=str,
)  # fmt: skip
def test_an_expectation_is_read_as_written(written, expected):
    assert parse_expectation(written) == expected


@pytest.mark.parametrize(
    "written",
    [True, "good", "nan", float("inf"), [1], [1, 2, 3], ["a", "b"], {}, ">", "0.6..", [0.6, 0.4], ""],
    ids=str,
)
def test_an_unreadable_expectation_is_an_error(written):
    with pytest.raises(ValueError, match=r"cannot read|is empty"):
        parse_expectation(written)


@pytest.mark.parametrize(
    ("written", "tolerance", "value", "met"),
    [
        (0.3, None, 0.1 + 0.2, True), (0.3, None, 0.301, False), (0.3, 0.05, 0.35, True), (0.3, "0.05", 0.36, False),
        ([0, 1], None, 1.0, True), ([0, 1], None, 1.1, False), ("> 0.5", None, 0.5, False), (">= 0.5", None, 0.5, True),
        ("> low", None, 0.3, True), ("> low", None, 0.2, False), ("> unscored", None, 9.0, False),
    ],
)  # fmt: skip
def test_an_expectation_is_met_by_what_it_says(written, tolerance, value, met):
    assert parse_expectation(written, tolerance).is_met(value, {"low": 0.2, "unscored": None}) is met


MISTAKES = {
    "unknown suffix": ("a.txt", "", "case tables are .yaml"),
    "empty yaml": ("a.yaml", "", "holds no cases"),
    "empty json": ("a.json", "", "holds no cases"),
    "empty csv": ("a.csv", "", "holds no cases"),
    "only a header": ("a.csv", "response,expected\n", "holds no cases"),
    "broken yaml": ("a.yaml", "cases: [", "a.yaml:1: not YAML"),
    "unquoted order": ("a.yaml", "- response: x\n  expected: > 0.5\n", "a.yaml:2: not YAML.*put quotes"),
    "broken json": ("a.json", '[{"response": ', "not JSON"),
    "broken json line": ("a.jsonl", '{"response": "a", "expected": 1}\n{"resp', "a.jsonl:2: not a JSON line"),
    "broken csv": ("a.csv", 'response,expected\n"x,1\n', "not CSV"),
    "column twice": ("a.csv", "response,response\na,b\n", "occurs twice"),
    "too many cells": ("a.csv", "response,expected\nyes, it is,1\n", "a.csv:2: more cells than columns; put quotes"),
    "metadata not JSON": ("a.csv", "response,expected,metadata\na,1,b\n", "a.csv:2: metadata must be a JSON object"),
    "no table": ("a.yaml", "just text", "expected a list of cases"),
    "unknown key": ("a.yaml", "case: []", "unknown key 'case'; did you mean 'cases'"),
    "cases no list": ("a.yaml", "cases: {a: 1}", "'cases' must be a list"),
    "reward no text": ("a.yaml", "reward: 3\ncases: []", "'reward' must be a spec"),
    "case no mapping": ("a.yaml", "- response: x\n  expected: 1\n- yes", "a.yaml:3: a case is a mapping"),
    "no response": (
        "a.yaml",
        "- respnse: x\n  expected: 1",
        "a.yaml:1: no 'response' among.*rename 'respnse' to 'response'",
    ),
    "foreign name": ("a.yaml", "- completion: x\n  expected: 1", "rename 'completion' to 'response'"),
    "response a number": (
        "a.yaml",
        "- response: 4\n  expected: 1",
        "response must be text, got int 4; put it in quotes",
    ),
    "expects nothing": ("a.yaml", "- response: x", "expects nothing; add 'expected'"),
    "misspelt expected": ("a.yaml", "- response: x\n  expectd: 1", "'expectd' is not known; did you mean 'expected'"),
    "expected twice": ("a.yaml", "- response: x\n  expected: 1\n  expect: 1", "mean the same; keep one"),
    "unreadable expected": (
        "a.jsonl",
        '{"response": "x", "expected": "high"}',
        "a.jsonl:1: cannot read 'high'; write a number",
    ),
    "tolerance of a range": (
        "a.json",
        '[{"response": "x", "expected": [0, 1], "tolerance": 0.1}]',
        "case 1: a tolerance goes",
    ),
    "negative tolerance": (
        "a.yaml",
        "- response: x\n  expected: 1\n  tolerance: -1",
        "tolerance must be a number from 0",
    ),
    "unknown status": ("a.yaml", "- response: x\n  expected_status: unparsd", "did you mean 'unparsed'"),
    "status and number": (
        "a.yaml",
        "- response: x\n  expected: 1\n  expected_status: error",
        "has no reward; keep either",
    ),
    "same name twice": (
        "a.yaml",
        "- {name: a, response: x, expected: 1}\n- {name: a, response: y, expected: 1}",
        "a.yaml:2: a second case",
    ),
    "order to nobody": (
        "a.yaml",
        "- {name: long, response: x, expected: 1}\n- {response: y, expected: '> lang'}",
        "a.yaml:2.*did you mean 'long'",
    ),
    "order to itself": ("a.yaml", "- {name: a, response: x, expected: '> a'}", "'a' is the case itself"),
    "bad field": (
        "a.yaml",
        "- {response: x, expected: 1, group: [1]}",
        "a.yaml:1: group must be text or a whole number",
    ),
}


@pytest.mark.parametrize(("name", "text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_table_is_an_error_with_a_remedy(name, text, message, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(CasesError, match=message) as caught:
        load_cases(file)
    assert str(file) in str(caught.value)


def test_a_missing_file_is_an_error_that_lists_similar_files(tmp_path):
    (tmp_path / "sums.cases.yaml").touch()
    with pytest.raises(CasesError, match=r"no such file; did you mean 'sums\.cases\.yaml'"):
        load_cases(tmp_path / "sum.cases.yaml")


def test_a_file_that_is_not_utf8_is_an_error(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(b"response,expected\n\xff,1\n")
    with pytest.raises(CasesError, match="not UTF-8 at byte 18"):
        load_cases(file)


def test_a_date_in_yaml_stays_text(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("- response: 2024-05-01\n  ground_truth: 2024-05-01\n  expected: 1\n")
    assert load_cases(file).cases[0].trajectory.ground_truth == "2024-05-01"


def test_a_table_may_name_its_reward(tmp_path):
    file = tmp_path / "a.json"
    file.write_text('{"reward": "mine.py:f", "cases": [{"response": "x", "expect": 1}]}')
    assert load_cases(file).reward == "mine.py:f"
