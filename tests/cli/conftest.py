"""Run commands as a user does, in this process: arguments in, exit code and both streams out."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from plaudit.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def plaudit(capfdbinary, tmp_path, monkeypatch) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # one worker a command: each takes time to start

    def run(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as exited:
            main([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Ran(exited.value.code, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def rollouts(tmp_path) -> Path:
    """Four samples in two groups; the second and the fourth are wrong."""
    rows = [
        {"prompt": "2+2?", "response": "The answer is 4.", "ground_truth": "4", "group": "a", "id": "r0"},
        {"prompt": "2+2?", "response": "The answer is 5.", "ground_truth": "4", "group": "a", "id": "r1"},
        {"prompt": "3+3?", "response": "The answer is 6.", "ground_truth": "6", "group": "b", "id": "r2", "level": 3},
        {"prompt": "3+3?", "response": "no idea", "ground_truth": "6", "group": "b", "id": "r3"},
    ]
    path = tmp_path / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
