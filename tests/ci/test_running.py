"""Reward CI on real projects: what fails, what is left out, and what is compared."""

import json

import pytest

from plaudit.ci import read_project, run_ci, write_comment
from plaudit.errors import InvalidSettings
from tests.ci.projects import PYPROJECT, REWARD, git, release, write_project

LOOSE = REWARD.replace("float(words[-1] == ground_truth)", "float(ground_truth in words)")


def run(folder, *steps, against=None):
    return run_ci(read_project(folder), steps=steps, against=against)


def test_a_worse_reward_fails_with_its_flips_new_exploits_and_cases(tmp_path):
    folder = write_project(tmp_path)
    release(folder)
    sound = run(folder, "test", "check", "mutation", "lock")
    assert sound.passed
    assert sound.release is None
    statuses = {step: result.status for step, result in sound.rewards["quality"].items()}
    assert statuses == {"test": "passed", "check": "passed", "mutation": "passed", "lock": "left out"}
    write_project(folder, reward__py=LOOSE)
    report = run(folder)
    steps = report.rewards["quality"]
    assert {step: result.status for step, result in steps.items()} == {
        "test": "failed", "check": "passed", "audit": "failed", "diff": "failed", "mutation": "left out",
        "lock": "left out",
    }  # fmt: skip
    [flip] = steps["diff"].details["flips"]
    assert (flip["response"], flip["old"], flip["new"]) == ("17 or 18", 0.0, 1.0)
    paid = {finding["operator"] for finding in steps["audit"].details}
    assert paid & {"list of numbers", "right beside another answer"}
    comment = write_comment(report)
    assert "| <code>9</code> | flip | 0 → 1 | <code>17 or 18</code> |" in comment
    assert "uncommitted changes" in comment
    json.dumps(report.to_dict())


def test_a_renamed_reward_is_compared_and_a_sample_that_one_version_does_not_score_is_never_equal(tmp_path):
    texts = ("4", "4 or 5", "raise old", "raise new", "raise")
    rows = "".join(json.dumps({"prompt": "p", "response": text, "ground_truth": "4"}) + "\n" for text in texts)
    raising = "    if response in ('raise {}', 'raise'):\n        raise ValueError(response)\n    words ="
    old, new = (text.replace("    words =", raising.format(name)) for text, name in ((REWARD, "old"), (LOOSE, "new")))
    write_project(tmp_path, reward__py=old, rollouts__jsonl=rows)
    release(tmp_path)
    moved = PYPROJECT.replace("reward.py:quality", "better.py:score")
    write_project(
        tmp_path, reward__py="", pyproject__toml=moved, better__py=new.replace("quality", "score"), rollouts__jsonl=rows
    )
    result = run(tmp_path, "diff").rewards["quality"]["diff"]
    assert result.status == "failed"
    assert "3 of 5 samples flip, 1 rewards differ; scored by one version only: 2, by neither: 1" in result.summary


def test_an_old_version_that_does_not_load_is_left_out_with_the_reason(tmp_path):
    write_project(tmp_path, reward__py="def quality(response:\n")
    release(tmp_path)
    write_project(tmp_path)
    report = run(tmp_path, "diff")
    assert report.rewards["quality"]["diff"].status == "left out"
    assert "SyntaxError" in report.rewards["quality"]["diff"].summary
    assert report.passed


def test_a_new_version_that_does_not_load_fails(tmp_path):
    write_project(tmp_path)
    release(tmp_path)
    write_project(tmp_path, reward__py="def quality(response:\n")
    assert run(tmp_path, "diff").rewards["quality"]["diff"].status == "failed"


def test_a_release_that_imports_the_working_tree_is_not_compared(tmp_path, monkeypatch):
    """As with a package that is installed in editable mode."""
    source = f"from shared.words import LIMIT\n\n\n{REWARD}"
    folder = write_project(tmp_path / "project", reward__py=REWARD)
    release(folder)
    git(folder, "tag", "--delete", "v1.0")
    (folder / "lib" / "shared").mkdir(parents=True)
    (folder / "lib" / "shared" / "words.py").write_text("LIMIT = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(folder / "lib"))
    write_project(folder, reward__py=source, __gitignore="lib/\n")
    release(folder, "v2.0")
    result = run(folder, "diff").rewards["quality"]["diff"]
    assert result.status == "left out"
    assert "words.py of the working tree" in result.summary


def test_without_a_release_the_diff_is_left_out_and_all_findings_are_new(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    few = PYPROJECT.replace("300", "20")
    report = run(write_project(tmp_path / "project", pyproject__toml=few), "diff", "audit")
    assert "not a git repository" in report.rewards["quality"]["diff"].summary
    audited = report.rewards["quality"]["audit"].summary
    assert "all count as new: no released version" in audited
    assert "stopped early" in audited
    assert "Not compared with a release" in write_comment(report)


BAD = {
    "": "declares no rewards",
    "[tool.plaudit.ci.rewards]\n": "declares no rewards",
    PYPROJECT + 'case = "x"\n': "unknown field",
    PYPROJECT.replace("reward.cases", "nope.cases"): "names nope.cases.yaml, which is no file",
    PYPROJECT.replace("mutants = 8", "max_flips = 2"): "max_flips",
    "[broken": "cannot be read",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=range(len(BAD)))
def test_a_table_that_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(InvalidSettings, match=message):
        read_project(write_project(tmp_path, pyproject__toml=text))
