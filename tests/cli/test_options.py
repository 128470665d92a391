"""Options mean the same in every command: (command, option, meaning) of all commands, compared by name."""

import ast
import importlib
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from typer.main import get_command

from plaudit.cli.app import COMMANDS, PANELS, _build

SHORT = {
    "-c": "--columns", "-e": "--entry-point", "-f": "--follow", "-h": "--help", "-k": "--pass-at", "-l": "--language",
    "-m": "--module", "-n": "--count", "-o": "--out", "-p": "--port", "-q": "--quiet", "-s": "--solution",
    "-t": "--temperature", "-w": "--workers",
}  # fmt: skip
"""Every short option, and the long one that it stands for."""
SYNONYMS = {
    "--output": "--out", "--force": "--overwrite", "--number": "--count", "--samples": "--count", "--rows": "--count",
    "--examples": "--count", "--episodes": "--count", "--max-samples": "--limit", "--silent": "--quiet",
}  # fmt: skip
COMMAND_LINE = {name: get_command(_build([name])).commands[name] for name in COMMANDS}
RUN = {
    f"{name} {inner}".strip(): command
    for name, declared in COMMAND_LINE.items()
    for inner, command in (getattr(declared, "commands", None) or {"": declared}).items()
}
"""Every command that does something: those of `harbor`, `judge` and `world` by both words."""


def options():
    """Every option of every command: the command, its names and its declaration."""
    for command, declared in RUN.items():
        for parameter in declared.params:
            if parameter.param_type_name == "option":
                yield command, parameter


def test_every_command_is_in_a_panel():
    assert set(COMMAND_LINE) == set(COMMANDS)
    assert {command.rich_help_panel for command in COMMAND_LINE.values()} == set(PANELS)


def test_the_help_lists_each_command_with_its_own_summary():
    listed = get_command(_build([])).commands
    assert {name: each.help for name, each in listed.items()} == {
        name: each.help for name, each in COMMAND_LINE.items()
    }


def test_a_short_option_has_one_meaning():
    for command, option in options():
        longs = [name for name in option.opts if name.startswith("--")]
        for short in (name for name in option.opts if not name.startswith("--")):
            assert SHORT[short] in (longs or [f"--{option.name}"]), (command, option.opts)


def test_an_option_has_its_short_name_in_every_command():
    long_to_short = {long: short for short, long in SHORT.items()}
    for command, option in options():
        for name in set(option.opts) & set(long_to_short) - {"--help"}:
            assert long_to_short[name] in option.opts, (command, name)


def test_an_option_has_one_name():
    used = {(command, name) for command, option in options() for name in set(option.opts) & set(SYNONYMS)}
    assert used == set()


def test_an_option_takes_the_same_kind_of_value_in_every_command():
    kinds = defaultdict(lambda: defaultdict(list))
    for command, option in options():
        kind = (str(option.bare_type), option.is_flag, option.multiple)
        kinds[option.opts[0]][kind].append(command)
    different = {name: dict(found) for name, found in kinds.items() if len(found) > 1}
    paths = {"--out"}  # a path, or `-` for standard output
    choices = {"--backend", "--on-unscored"}  # what serves offers others than what scores
    tasks = {"--task"}  # what a task is depends on the command: a name, an id in a world, a folder
    assert set(different) <= paths | choices | tasks


def test_a_reward_is_the_first_argument():
    for command, declared in RUN.items():
        arguments = [each.metavar or "" for each in declared.params if each.param_type_name == "argument"]
        rewards = [index for index, metavar in enumerate(arguments) if "REWARD" in metavar]
        assert rewards in ([], [0]), command


def test_a_command_that_prints_json_can_be_quiet():
    for command, declared in RUN.items():
        names = {name for each in declared.params for name in each.opts}
        assert ("--json" in names) == ("--quiet" in names), command


def test_functions_of_commands_are_short():
    for path in Path(importlib.import_module("plaudit.cli").__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.body[0].lineno < 50, (path.name, node.name)


WITHOUT_TORCH = (
    "rewards", "tasks no_such", "hack", "hack no_such", "world tasks no", "compat", "labels no_such.jsonl",
    "judge calibrate no_such.yaml no_such.jsonl", "harbor check no_such", "train no_such.yaml", "train --print-config",
    "train optimiser.lr=1", "episode no_such", "report no_such.jsonl", "serve no_such", "pairs no_such -o p.jsonl",
    "watch no_such", "sample no_such hi", "eval no_such --task sort_digits", "merge no_such -o merged",
    "episode treasure_hunt --actor no_such", "train model.path=no_such", "train data.path=no_such.jsonl",
    "train task=no_such", "train training.reward_function=no_such.py", "train advantage=no_such",
    "train-reward-model no_such.jsonl",
)  # fmt: skip
RUN_ALL = f"""
import sys
from plaudit.cli import main
for command in {WITHOUT_TORCH!r}:
    try:
        main(command.split())
    except SystemExit:
        pass
    if "torch" in sys.modules:
        sys.exit(f"{{command}} imports torch")
"""


def test_a_list_or_an_error_needs_no_torch(tmp_path):
    """In one process: the first that imports it is named."""
    ran = subprocess.run([sys.executable, "-c", RUN_ALL], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_every_command_can_be_imported():
    for location in COMMANDS.values():
        module, _, function = location.partition(":")
        command = getattr(importlib.import_module(f"plaudit.cli.{module}"), function)
        assert callable(command) or all(map(callable, command.commands.values()))
