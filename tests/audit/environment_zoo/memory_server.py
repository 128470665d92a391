"""A small MCP server with two tools that keeps its notes in memory, or in the file that its first argument names."""

import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("memory")
kept: list[str] = []


@server.tool()
def remember(note: str) -> str:
    """Keep a note."""
    kept.append(note)
    if sys.argv[1:]:
        with Path(sys.argv[1]).open("a") as file:
            file.write(f"{note}\n")
    return "kept"


@server.tool()
def recall() -> str:
    """All notes."""
    notes = Path(sys.argv[1]).read_text().split() if sys.argv[1:] and Path(sys.argv[1]).exists() else kept
    return " ".join(notes) or "nothing"


server.run()
