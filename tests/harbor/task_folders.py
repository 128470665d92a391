"""Task folders for tests, written from a few texts."""

from pathlib import Path

TOML = 'schema_version = "1.4"\n[task]\nname = "tests/{name}"\n'
DOCKERFILE = "FROM python:3.12-slim\nWORKDIR /app\n"
SOLVE = "printf 'def add(a, b):\\n    return a + b\\n' > /app/add.py\n"
TEST = """#!/bin/bash
if python3 -I -c 'import sys; sys.path.append("/app"); from add import add; assert add(2, 3) == 5 and add(9, -4) == 5'
then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""


def write_task(folder: Path, name: str = "adding", *, toml: str = "", files: dict[str, str] | None = None) -> Path:
    """A sound task in separate mode; `toml` is added to its task.toml, and `files` replace or add files."""
    task = folder / name
    mode = "" if "environment_mode" in toml else '[verifier]\nenvironment_mode = "separate"\n'
    texts = {
        "task.toml": TOML.format(name=name) + mode + toml,
        "instruction.md": "Write /app/add.py with a function add(a, b) that returns the sum.\n",
        "environment/Dockerfile": DOCKERFILE,
        "solution/solve.sh": SOLVE,
        "tests/test.sh": TEST,
        **(files or {}),
    }
    for path, text in texts.items():
        (task / path).parent.mkdir(parents=True, exist_ok=True)
        (task / path).write_text(text)
    return task


SHARED = '[verifier]\nenvironment_mode = "shared"\n'
