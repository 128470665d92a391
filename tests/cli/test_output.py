"""Standard output holds results and nothing else, in whatever encoding it has."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.forked import ForkedCommand

LOUD = """
import os, subprocess
print("noise of the import")
os.write(1, b"noise below Python\\n")

def loud(response):
    print("noise of the reward")
    os.write(1, b"noise below Python\\n")
    subprocess.run(["echo", "noise of a process"])
    return 1.0
"""


def run(*arguments, **environment):
    command = ForkedCommand(arguments, environment)
    command.wait()
    return command


@pytest.mark.parametrize("backend", ["processes", "inline"])
def test_a_reward_that_prints_spoils_neither_json_nor_scored_lines(rollouts, tmp_path, backend):
    (tmp_path / "loud.py").write_text(LOUD)
    summary = run("score", tmp_path / "loud.py", rollouts, "--json", "--backend", backend, "-w", 1)
    assert json.loads(summary.out)["count"] == 4
    scored = run("score", tmp_path / "loud.py", rollouts, "-o", "-", "--backend", backend, "-w", 1)
    assert [json.loads(line)["reward_output"]["reward"] for line in scored.out.splitlines()] == [1.0] * 4
    assert "noise of a process" in scored.err


@pytest.mark.parametrize("command", [["check"], ["test"], ["explain"], ["rewards"]], ids=" ".join)
def test_no_command_lets_a_reward_print_into_its_json(plaudit, rollouts, tmp_path, command):
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "cases.yaml").write_text("- {response: a, expected: 1}\n")
    rest = {"check": [], "test": ["cases.yaml"], "explain": [rollouts], "rewards": []}[command[0]]
    ran = plaudit(*command, "loud.py", *rest, "--json")
    assert ran.json is not None
    assert "noise" not in ran.out


COMMANDS = {
    "score": ["score", "check_answer", "data.jsonl"],
    "explain": ["explain", "check_answer", "data.jsonl"],
    "check": ["check", "length", "data.jsonl"],
    "help": ["--help"],
    "help of a command": ["train", "-h"],
    "error": ["score", "“length”", "data.jsonl"],
}


RUN_EACH = """
import json, os, sys
from plaudit.cli import main

os.cpu_count = lambda: 1
for arguments in json.load(sys.stdin):
    try:
        main(arguments)
    except SystemExit as exited:
        sys.stderr.write(f"exit code {exited.code}\\n")
"""


def test_an_encoding_without_all_characters_is_no_error(tmp_path):
    """In one process: what is imported for a command takes longer than the command."""
    row = {"prompt": "Grüße · 日本 😀?", "response": "Die Antwort ist 4 …", "ground_truth": "4"}
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n")
    command = [sys.executable, "-c", RUN_EACH]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    asked = json.dumps(list(COMMANDS.values())).encode()
    done = subprocess.run(command, input=asked, capture_output=True, env=environment, cwd=tmp_path)
    codes = [int(code) for code in re.findall(rb"exit code (\d+)", done.stderr)]
    assert dict(zip(COMMANDS, codes, strict=True)) == {name: 2 * (name == "error") for name in COMMANDS}
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()


def test_json_is_utf8_whatever_the_terminal(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps({"prompt": "é 😀 \ud800", "response": "a"}) + "\n")
    command = [sys.executable, "-m", "plaudit", "explain", "length", "data.jsonl", "--json", "--backend", "inline"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path)
    assert json.loads(done.stdout)[0]["prompt"] == "é 😀 \ud800"


def test_columns_says_how_wide_a_pipe_is(rollouts):
    command = ["score", "0.5 * length + format", rollouts, "--backend", "inline"]
    narrow, wide = (run(*command, COLUMNS=width).out for width in ("50", "160"))
    assert max(map(len, narrow.splitlines())) <= 50
    assert max(map(len, wide.splitlines())) > 60


def test_colons_in_names_are_not_emoji(rollouts, tmp_path):
    (tmp_path / "const.py").write_text(
        "from plaudit import RewardOutput\n"
        "def zero(response):\n    return RewardOutput(0.0, components={'a:key:b': RewardOutput(1.0)})\n"
    )
    shown = run("explain", f"{tmp_path}/const.py:zero", rollouts, "-n", 1, "--backend", "inline").out
    assert "a:key:b" in shown


@pytest.mark.parametrize("command", ["score", "check"])
def test_a_warning_of_loading_is_printed_once(rollouts, tmp_path, command):
    (tmp_path / "page.py").write_text("def good(response):\n    return 1.0\nunused = missing_name()\n")
    shown = run(command, f"{tmp_path}/page.py:good", rollouts).err
    assert shown.count("missing_name") == 2  # the source line and the error, in one message
    assert shown.count("warning: ") == 1
    assert "UserWarning" not in shown
