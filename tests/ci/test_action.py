"""The steps of the GitHub Action and the entries of the pre-commit hooks, run as they are written.

`gh` is a script that keeps comments in a file: there is no GitHub here. Its `--jq` runs the real jq.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.ci.projects import REWARD, release, write_project

ROOT = Path(__file__).parent.parent.parent
STEPS = {step["name"]: step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
GH = f"""#!{sys.executable}
import json, pathlib, subprocess, sys
store = pathlib.Path(__file__).with_name("comments.json")
comments = json.loads(store.read_text())
path = next(word for word in sys.argv if word.startswith("repos/"))
body = [pathlib.Path(word.removeprefix("body=@")).read_text() for word in sys.argv if word.startswith("body=@")]
if "--jq" in sys.argv:
    query = sys.argv[sys.argv.index("--jq") + 1]
    subprocess.run(["jq", "-r", query], input=store.read_text(), text=True, check=True)
elif "POST" in sys.argv:
    comments.append({{"id": len(comments) + 7, "user": {{"type": "Bot"}}, "body": body[0]}})
elif "PATCH" in sys.argv:
    next(each for each in comments if path.endswith(f"/comments/{{each['id']}}"))["body"] = body[0]
store.write_text(json.dumps(comments))
"""


@pytest.fixture
def runner(tmp_path):
    """Runs a step with the variables and programs of a runner."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "plaudit").write_text(f'#!/bin/sh\nexec {sys.executable} -m plaudit "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    other = {"id": 1, "user": {"type": "User"}, "body": "<!-- plaudit-ci -->\nnot ours"}
    (programs / "comments.json").write_text(json.dumps([other]))
    variables = {
        "PATH": f"{programs}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "GITHUB_REPOSITORY": "a/b",
        "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip

    def run(name, folder, **values):
        assert STEPS[name]["shell"] == "bash"
        assert set(values) == set(STEPS[name]["env"])
        assert "${{" not in STEPS[name]["run"]  # values reach a script only as variables
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        return subprocess.run(command, cwd=folder, env=os.environ | variables | values, capture_output=True, text=True)

    return run


def comments(tmp_path):
    return json.loads((tmp_path / "bin" / "comments.json").read_text())


def test_the_action_keeps_one_comment_and_fails_on_a_regression(tmp_path, runner):
    table = '[tool.plaudit.ci]\naudit_calls = 20\n[tool.plaudit.ci.rewards.quality]\nreward = "reward.py:quality"\n'
    folder = write_project(tmp_path / "project", pyproject__toml=table)
    release(folder)
    for text, status in ((REWARD, "0"), (REWARD.replace("if not words", "if False"), "1")):  # fails on no words
        (tmp_path / "output").write_text("")
        (folder / "reward.py").write_text(text)
        ran = runner("Run plaudit ci", tmp_path, FOLDER="project", AGAINST="v1.0")
        assert ran.returncode == 0, ran.stderr
        outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
        assert outputs["status"] == status, Path(outputs["comment"]).read_text()
        assert json.loads(Path(outputs["json"]).read_text())["passed"] is (status == "0")
        posted = runner("Write the comment", tmp_path, GH_TOKEN="t", NUMBER="5", COMMENT=outputs["comment"])
        assert (posted.returncode, posted.stdout) == (0, "")
        theirs, ours = comments(tmp_path)
        assert theirs["body"].endswith("not ours")
        assert ours["body"] == Path(outputs["comment"]).read_text()
        assert runner("Fail where a step has failed", tmp_path, STATUS=status).returncode == int(status)
    assert "❌ check" in ours["body"]
    assert (tmp_path / "summary").read_text().count("## Reward CI") == 2


def test_a_comment_that_cannot_be_written_is_a_warning(tmp_path, runner):
    (tmp_path / "bin" / "gh").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "comment").write_text("x")
    ran = runner("Write the comment", tmp_path, GH_TOKEN="t", NUMBER="5", COMMENT=str(tmp_path / "comment"))
    assert ran.returncode == 0
    assert ran.stdout.startswith("::warning::")


def test_a_project_without_rewards_fails_with_the_reason(tmp_path, runner):
    ran = runner("Run plaudit ci", tmp_path, FOLDER=".", AGAINST="")
    assert "declare the rewards of the project there" in ran.stderr
    assert "status=2" in (tmp_path / "output").read_text()


def test_the_hooks_fail_on_a_broken_case_and_on_a_lock_that_is_out_of_date(tmp_path):
    folder = write_project(tmp_path)

    def run(name):
        entry = [sys.executable, "-m", *shlex.split(HOOKS[name]["entry"])]
        return subprocess.run(entry, cwd=folder, capture_output=True, text=True)

    assert run("plaudit-lock").returncode == 0
    (folder / "reward.py").write_text(REWARD.replace("[-1]", "[0]"))
    ran = run("plaudit-ci")
    assert ran.returncode == 1
    assert "❌ test" in ran.stdout
    assert "❌ lock" in ran.stdout
    assert all(hook["language"] == "python" and not hook["pass_filenames"] for hook in HOOKS.values())
