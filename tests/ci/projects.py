"""Small projects with rewards, in git repositories of their own."""

import json
import os
import subprocess
from pathlib import Path

REWARD = '''"""A reward."""


def quality(response, ground_truth):
    """1.0 for the right number at the end."""
    words = response.split()
    if not words:
        return 0.0
    return float(words[-1] == ground_truth)
'''
CASES = """cases:
  - {name: right, response: it is 4, ground_truth: "4", expected: 1.0}
  - {name: wrong, response: it is 5, ground_truth: "4", expected: 0.0}
  - {name: first, response: 4 or 5, ground_truth: "4", expected: 0.0}
  - {name: nothing, response: "", ground_truth: "4", expected: 0.0}
"""
PYPROJECT = """[tool.plaudit.ci]
audit_calls = 400
mutants = 8

[tool.plaudit.ci.rewards.quality]
reward = "reward.py:quality"
cases = "reward.cases.yaml"
rollouts = "rollouts.jsonl"
"""
ROLLOUTS = [
    {"prompt": f"What is {a} + {b}?", "response": response, "ground_truth": str(a + b)}
    for a, b in ((12, 5), (7, 8), (30, 4))
    for response in (f"{a} + {b} = {a + b}", f"It is {a + b + 1}", "I do not know.")
]
ROLLOUTS.append({"prompt": "What is 12 + 5?", "response": "17 or 18", "ground_truth": "17"})


def write_project(folder: Path, **files: str) -> Path:
    """A project; names of files are given with `__` in place of dots."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(json.dumps(row) + "\n" for row in ROLLOUTS)
    usual = {
        "reward__py": REWARD,
        "reward__cases__yaml": CASES,
        "pyproject__toml": PYPROJECT,
        "rollouts__jsonl": rows,
    }
    for name, text in (usual | files).items():
        (folder / name.replace("__", ".")).write_bytes(text.encode())
    return folder


def git(folder: Path, *arguments: str) -> str:
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-c", "commit.gpgsign=false", *arguments], cwd=folder, env=os.environ | names, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def release(folder: Path, tag: str = "v1.0") -> None:
    """Commit everything below a folder, and tag it."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", tag)
    git(folder, "tag", tag)
