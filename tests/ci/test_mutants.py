"""Mutants of a reward: what is changed, what is left out, and what is not counted."""

import ast

import pytest

from plaudit.ci.mutation import make_mutants, measure_mutations
from plaudit.errors import InvalidSettings
from tests.ci.projects import CASES, REWARD, write_project

CHANGES = {
    "comparison": ("return a == b", "return a != b"),
    "membership": ("return a in b", "return a not in b"),
    "boundary": ("return a < b", "return a <= b"),
    "constant": ("return a + 1", "return a + 2"),
    "zero": ("return max(a, 0.0)", "return max(a, 0.5)"),
    "text that is compared": ("return a.split('#')", "return a.split('')"),
    "condition": ("return a if b else None", "return a if (not (b)) else None"),
    "early return": ("if a: return b\n    return a", "if a: pass\n    return a"),
    "removed statement": ("a = a.strip()\n    return a", "pass\n    return a"),
    "operator": ("return a - b", "return a + b"),
    "connective": ("return a and b", "return (a or b)"),
    "non-ASCII line": ("return 'ä' in a, a == 1", "return 'ä' in a, a == 2"),
}


@pytest.mark.parametrize(("body", "changed"), CHANGES.values(), ids=CHANGES)
def test_each_kind_of_change_is_made(body, changed):
    texts = [mutant.text for mutant in make_mutants(f"def f(a, b):\n    {body}\n")[0]]
    assert f"def f(a, b):\n    {changed}\n" in texts


@pytest.mark.parametrize(
    "body",
    [
        '"""A text."""\n    return a',
        "raise ValueError('no ' + a)",
        "return f'{a:3}'",
        "reason = 'none' + '!'\n    return a",
        "return g(a, reason='too long')",
        "b: 'int' = a\n    return b",
    ],
)
def test_text_that_no_score_depends_on_is_not_changed(body):
    mutants = make_mutants(f"def f(a):\n    {body}\n")[0]
    assert [mutant.kind for mutant in mutants if mutant.kind != "removed statement"] == []


def test_only_code_that_the_reward_uses_is_changed():
    source = (
        "LIMIT = 3\n\ndef helper(a):\n    return a > LIMIT\n\n"
        "def one(a):\n    return helper(a)\n\ndef two(a):\n    return a == 5\n"
    )
    assert [mutant.line for mutant in make_mutants(source, "one")[0]] == [1, 4]
    assert [mutant.line for mutant in make_mutants(source, "two")[0]] == [10, 10]
    assert len(make_mutants(source)[0]) == 4


def test_a_change_that_compiles_to_the_same_is_equivalent():
    mutants, equivalent = make_mutants("def f(a):\n    return 1.0 * 1.0\n")
    assert equivalent == 2  # 1.0 / 1.0 is the same, and 1.0 * 0.5 is 0.5 * 1.0
    assert all(ast.parse(mutant.text) for mutant in mutants)


def test_survivors_are_listed_with_their_diff(tmp_path):
    two = "\n\ndef other(response):\n    return 1.0 if response == 'x' else 0.0\n"
    weak = CASES.split("  - {name: first")[0]
    folder = write_project(tmp_path, reward__py=(REWARD + two).replace("\n", "\r\n"), reward__cases__yaml=weak)
    measured = measure_mutations(f"{folder}/reward.py:quality", folder / "reward.cases.yaml")
    assert {each.diff for each in measured.survived} == {
        "-        return 0.0\n+        pass", "-        return 0.0\n+        return 0.5",
    }  # fmt: skip
    assert measured.to_dict() | {"survived": []} == {
        "score": 0.6, "killed": 3, "timed_out": 0, "unloadable": 0, "equivalent": 0, "untried": 0, "survived": [],
    }  # fmt: skip
    sampled = measure_mutations(f"{folder}/reward.py:quality", folder / "reward.cases.yaml", most=2)
    assert (sampled.killed + len(sampled.survived), sampled.untried) == (2, 3)


def test_a_mutant_that_hangs_is_killed_and_one_that_does_not_load_is_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("plaudit.ci.mutation.SHORTEST_S", 2.0)
    monkeypatch.setattr("plaudit.ci.mutation.PATIENCE", 0)
    source = (
        "KEY = ['a'].index('a')\nLETTER = 'ab'[KEY + 1]\n\n\n"
        "def f(response):\n    n = len(response)\n    while n > 2:\n        n -= 1\n    return float(LETTER == 'b')\n"
    )
    cases = "cases:\n  - {name: a, response: abcdef, expected: 1.0}\n"
    folder = write_project(tmp_path, reward__py=source, reward__cases__yaml=cases)
    measured = measure_mutations(f"{folder}/reward.py:f", folder / "reward.cases.yaml")
    assert measured.timed_out == 2  # n += 1, and no n -= 1
    assert measured.unloadable == 2  # 'ab'[KEY + 2], ['a'].index('')
    assert measured.killed >= 3
    assert measured.score == measured.killed / (measured.killed + len(measured.survived))


def test_a_table_that_fails_or_a_reward_without_a_file_has_no_score(tmp_path):
    folder = write_project(tmp_path, reward__py=REWARD.replace("[-1]", "[0]"))
    with pytest.raises(InvalidSettings, match=r"does not pass on the unchanged reward \(right\)"):
        measure_mutations(f"{folder}/reward.py:quality", folder / "reward.cases.yaml")
    with pytest.raises(InvalidSettings, match="a reward in a file"):
        measure_mutations("length", folder / "reward.cases.yaml")
