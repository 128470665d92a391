"""Commands as tools of an MCP server for coding agents, with small answers.

Each tool runs the command of its name with `--json` in a process of its own. The answer holds the result, cut to a
bounded size, and the path of a file with all of it.
"""

import asyncio
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from plaudit.ci.commands import run_command
from plaudit.errors import did_you_mean

MAX_ANSWER = 4000
"""Characters of an answer."""
CUTS = ((20, 400), (8, 200), (3, 120), (1, 60), (0, 40))
"""Entries of a list and characters of a text, in the order in which sizes are tried."""
PARAMETERS = {
    "reward": "The reward: file.py:name, a built-in such as 'length(target=200)', an expression, or a .yaml file.",
    "rollouts": "A file of samples: .jsonl, .parquet or .csv with prompt, response and ground_truth.",
    "cases": "A case table: .yaml, .json, .jsonl or .csv.",
    "old": "A reward, or a scored file.",
    "new": "Another reward, or the same samples scored again.",
    "calls": "How many responses may be scored.",
    "count": "How many samples to show.",
    "sample": "The id of a sample, or its index from 0.",
}
MEANINGS = {
    0: "passed",
    1: "something was found, failed or differs",
    2: "the input was wrong",
    3: "too many samples were not scored",
    4: "not attacked: no honest answer was paid more than another",
    None: "stopped at the time limit",
}


class Tool(NamedTuple):
    """A command: what it does, its positional arguments in order, which may be left out, and its options."""

    about: str
    arguments: tuple[str, ...]
    optional: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


TOOLS = {
    "check": Tool("Prove the contract of a reward on difficult responses.", ("reward", "rollouts"), ("rollouts",)),
    "test": Tool(
        "Run a case table against a reward; by default against the one that the table names.",
        ("reward", "cases"),
        ("reward",),
    ),
    "audit": Tool(
        "Attack a reward with wrong responses and report what it pays for.",
        ("reward", "rollouts"),
        ("rollouts",),
        ("calls",),
    ),
    "explain": Tool(
        "Show samples with every part of their reward; without a reward, those of a scored file.",
        ("reward", "rollouts"),
        ("reward",),
        ("count", "sample"),
    ),
    "diff": Tool(
        "Compare two rewards on samples, or two scored files: flips, order, statuses.",
        ("old", "new", "rollouts"),
        ("rollouts",),
    ),
}


@dataclass
class CommandTools:
    """The tools for a folder; full results are written below `results`, and a call takes at most `seconds`."""

    folder: Path
    results: Path
    seconds: float

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def list_tools(self) -> list[dict[str, Any]]:
        """Name, description and schema of every tool."""
        return [
            {"name": name, "description": f"{tool.about} Runs `plaudit {name}`.", "parameters": _schema(tool)}
            for name, tool in TOOLS.items()
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The answer of a tool as JSON, and whether the command could be run."""
        problem = _check_arguments(name, arguments)
        if problem is not None:
            return _encode({"error": problem}), False
        tool = TOOLS[name]
        options = [part for key in tool.options if key in arguments for part in (f"--{key}", str(arguments[key]))]
        words = [str(arguments[key]) for key in tool.arguments if key in arguments]
        command = [name, "--json", *options, "--", *words]
        done = await asyncio.to_thread(run_command, command, self.folder, self.seconds)
        answer: dict[str, Any] = {"exit_code": done.code, "meaning": MEANINGS.get(done.code, "plaudit failed")}
        if done.value is None:
            return _encode({**answer, "error": _cut(done.message, 0, 1000)}), False
        file = self.results / f"{name}-{next(self._numbers)}.json"
        file.write_bytes(msgspec.json.format(msgspec.json.encode(done.value)))
        answer |= {"full": str(file)}
        for items, characters in CUTS:
            text = _encode({**answer, "result": _cut(done.value, items, characters)})
            if len(text) <= MAX_ANSWER:
                return text, True
        return _encode({**answer, "result": "too large; read the file"}), True


def _schema(tool: Tool) -> dict[str, Any]:
    kinds = {"calls": "integer", "count": "integer"}
    names = (*tool.arguments, *tool.options)
    properties = {name: {"type": kinds.get(name, "string"), "description": PARAMETERS[name]} for name in names}
    required = [name for name in tool.arguments if name not in tool.optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _check_arguments(name: str, arguments: dict[str, Any]) -> str | None:
    """The problem of a call; None if it is valid."""
    if name not in TOOLS:
        return f"no tool named {name!r}{did_you_mean(name, TOOLS)} (there are {', '.join(TOOLS)})"
    schema = _schema(TOOLS[name])
    for key, value in arguments.items():
        if key not in schema["properties"]:
            return f"{name} has no argument {key!r}{did_you_mean(key, schema['properties'])}"
        wanted = int if schema["properties"][key]["type"] == "integer" else str
        if type(value) is not wanted or "\0" in str(value):
            return f"{name}: {key} must be {'a number' if wanted is int else 'text'}, got {value!r:.60}"
    missing = [key for key in schema["required"] if key not in arguments]
    return f"{name} needs {' and '.join(missing)}" if missing else None


def _encode(answer: dict[str, Any]) -> str:
    return msgspec.json.encode(answer).decode()


def _cut(value: Any, items: int, characters: int) -> Any:
    """A value with at most `items` entries in each list and mapping and `characters` characters in each text."""
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}… ({len(value):,} characters)"
    if isinstance(value, list):
        shown = [_cut(each, items, characters) for each in value[:items]]
        return shown if len(value) <= items else [*shown, f"… {len(value) - items:,} more"]
    if isinstance(value, dict):
        most = 10 * (items + 1)
        cut = {key[:characters]: _cut(each, items, characters) for key, each in islice(value.items(), most)}
        return cut if len(value) <= most else {**cut, "…": f"{len(value) - most:,} more"}
    return value
