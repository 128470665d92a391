"""`plaudit mcp`: tests of rewards as tools for coding agents, over the Model Context Protocol."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from plaudit.ci.agent_tools import CommandTools
from plaudit.ci.commands import stop_commands
from plaudit.worlds.mcp_server import build_tool_server, serve_stdio

__all__ = ["mcp"]

INSTRUCTIONS = (
    "Test reward functions for RL: check (contract), test (case tables), audit (attacks), explain (samples), diff (two "
    "versions). Paths are relative to the folder of the server. Answers are short; `full` names a file with everything."
)


def mcp(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder that paths are relative to.")] = Path(),
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long one call may take.")] = 300.0,
) -> int:
    """Serve check, test, audit, explain and diff as MCP tools on standard input and output, for coding agents."""
    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    with tempfile.TemporaryDirectory(prefix="plaudit-mcp-") as results:
        tools = CommandTools(folder.resolve(), Path(results), seconds)
        server = build_tool_server(tools.list_tools, tools.call, INSTRUCTIONS)
        serve_stdio(server, stop_commands)
    return 0
