"""`plaudit world …`: the tasks of a world as rows of prompts, and a task as an MCP server."""

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.markup import escape

from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, reserve_stdout
from plaudit.errors import InvalidSettings, require
from plaudit.loading import load_agent
from plaudit.report.formatting import bare_table
from plaudit.worlds import McpEpisode, World, build_openenv_app, build_ors_app
from plaudit.worlds.mcp_server import serve_stdio

__all__ = ["world"]

world = typer.Typer(name="world", no_args_is_help=True, help="List the tasks of a world, and offer one over MCP.")
FIFTH = 5
Name = Annotated[str, typer.Argument(metavar="WORLD", help="A ready-made world, bfcl, or world.py:Class.")]


@world.command()
@reserve_stdout()
def tasks(
    name: Name,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write prompts and task ids here, for training.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option("--held-out", metavar="FILE", help="Write every fifth task here, not to --out.")
    ] = None,
    demonstrations: Annotated[
        Path | None, typer.Option("--demonstrations", metavar="FILE", help="Write actions for a warm start here.")
    ] = None,
    chat: Annotated[bool, typer.Option("--chat", help="Write prompts as chat messages.")] = False,
    json: options.Json = False,
) -> int:
    """List the tasks of WORLD; each was checked: its gold calls earn 1, doing nothing earns 0."""
    kind = _load(name)
    rows = kind.rows(chat=chat)
    apart = rows[FIFTH - 1 :: FIFTH] if held_out is not None else []
    trained = [row for row in rows if row not in apart]
    if chat and demonstrations is not None:
        raise InvalidSettings("demonstrations are texts, not chat messages; leave out --chat or --demonstrations")
    shown = kind.demonstrations(row["id"] for row in trained) if demonstrations is not None else []
    files = [(out, trained, "tasks"), (held_out, apart, "tasks held out"), (demonstrations, shown, "actions shown")]
    for path, listed, what in files:
        if path is not None:
            options.check_output(path)
            path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in listed))
            print_message(f"{len(listed)} {what} in {path}")
    if any(path is not None for path, _, _ in files):
        return _print_refused(kind)
    if json:
        print_json(rows)
    else:
        table = bare_table("task", "the user says first")
        for task in kind.tasks().values():
            table.add_row(escape(task.id), escape(task.turns[0].user))
        print_result(table)
    return _print_refused(kind)


@world.command()
def serve(
    name: Name,
    task: Annotated[
        str | None, typer.Option("--task", metavar="ID", help="The task to play; `world tasks` lists them.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Serve http://127.0.0.1:PORT/mcp; without it, stdio.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Keep reward, calls and changes here, as JSON.")
    ] = None,
    openenv: Annotated[bool, typer.Option("--openenv", help="Serve OpenEnv's protocol; clients choose tasks.")] = False,
    ors: Annotated[bool, typer.Option("--ors", help="Serve the Open Reward Standard; clients choose tasks.")] = False,
) -> int:
    """Offer one episode of WORLD as an MCP server: its tools, and `say` for messages to the user.

    With --openenv or --ors, offer all its tasks as a server of that protocol.
    """
    if openenv or ors:
        if port is None or task is not None or out is not None or (openenv and ors):
            raise InvalidSettings("--openenv or --ors needs --port, and neither --task nor --out: clients choose tasks")
        return _serve_http((build_openenv_app if openenv else build_ors_app)(_load(name)), port)
    if task is None:
        raise InvalidSettings("an MCP server plays one task; name it with --task")

    def keep(outcome: dict[str, Any]) -> None:
        if out is not None:
            out.write_bytes(msgspec.json.encode(outcome))

    episode = McpEpisode(_load(name), task, keep)
    server = episode.build_server()
    if port is not None:
        return _serve_http(server.streamable_http_app(), port)
    serve_stdio(server)
    sys.stderr.flush()
    return 0


def _serve_http(application: Any, port: int) -> int:
    uvicorn: Any = require("uvicorn", extra="serve", purpose="serving a world over HTTP")
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="warning")
    return 0


def _print_refused(kind: type[World]) -> int:
    for task_id, reason in kind.refused().items():
        print_message(f"left out: {task_id}: {reason}")
    return 0


def _load(name: str) -> type[World]:
    kind = load_agent(name).environment
    if not issubclass(kind, World):
        raise InvalidSettings(f"{name} is an environment without a state, not a world")
    return kind
