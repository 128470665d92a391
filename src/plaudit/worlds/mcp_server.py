"""A task of a world as an MCP server: the world's tools, and one that says something to the user.

A server is one episode. MCP has no place for rewards, so the outcome is kept beside: `McpEpisode.outcome`, which
`plaudit world serve` writes to a file after every call.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.agents.player import describe_tool
from plaudit.errors import AgentError, require
from plaudit.verify.tools.parsing import ToolCall
from plaudit.worlds.state import as_data, changes
from plaudit.worlds.world import World

SAY = "say"


class McpEpisode:
    """One episode of a task, played by the client of a server."""

    def __init__(
        self, world: type[World], task_id: str, on_change: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> None:
        describe_tools(world, world.tools)  # a tool whose name the server needs is an error now
        self.world, self.on_change = world(), on_change
        self.world.reset(EpisodeStart("", task_id))
        self._before = as_data(self.world.state)
        self.reward: float | None = None
        """None while the episode goes on."""

    @property
    def outcome(self) -> dict[str, Any]:
        """The task, the reward once the episode has ended, what cost it, the calls and what they changed."""
        world = self.world
        return {
            "task": world.task.id,
            "reward": self.reward,
            "broken": world.broken,
            "calls": [{"name": call.name, "arguments": call.arguments} for call in world.history],
            "changes": [change._asdict() for change in changes(self._before, as_data(world.state))],
        }

    @property
    def instructions(self) -> str:
        """The policy, and what the user says first."""
        first = self.world.task.turns[0].user
        return f"{self.world.policy}\n\nThe user says: {first}\nAnswer the user with the tool {SAY}."

    def tools(self) -> list[dict[str, Any]]:
        """Name, description and schema of every tool of the task."""
        return describe_tools(type(self.world), self.world.tools_of(self.world.task))

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The result of a call, and whether it succeeded."""
        if self.world.has_ended:
            return "the episode has ended", False
        if name != SAY:
            answer, ok = self.world.call(ToolCall(name, arguments))
        elif not isinstance(arguments.get("text"), str):
            return "error: `text` must be a text", False
        else:
            result = self.world.say(arguments["text"])
            self.reward = result.reward if result.done else None
            answer, ok = ("the episode has ended" if result.done else self.world.dialogue[-1][1]), True
        self.on_change(self.outcome)
        return answer, ok

    def build_server(self) -> Any:
        """The server; run it with `serve_stdio` or as the application that `streamable_http_app` gives."""

        async def call(name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
            return self.call(name, arguments)

        return build_tool_server(self.tools, call, self.instructions)


def describe_tools(world: type[World], tools: Sequence[Callable[..., Any]]) -> list[dict[str, Any]]:
    """Name, description and schema of tools of a world, and of the one that says something to the user."""
    if any(tool.__name__ == SAY for tool in tools):
        raise AgentError(f"{world.__name__} has a tool named {SAY!r}, which the server needs for messages")
    words = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    about = f"Say something to the user. The {world.ended_by} ends the episode."
    described = [describe_tool(tool)["function"] for tool in tools]
    return [*described, {"name": SAY, "description": about, "parameters": words}]


def build_tool_server(
    tools: Callable[[], list[dict[str, Any]]],
    call: Callable[[str, dict[str, Any]], Awaitable[tuple[str, bool]]],
    instructions: str,
) -> Any:
    """An MCP server of tools (name, description, parameters); `call` gives a text, and whether the call succeeded."""
    require("mcp", extra="mcp", purpose="serving tools over MCP")
    types: Any = require("mcp_types", extra="mcp", purpose="serving tools over MCP")
    lowlevel: Any = require("mcp.server.lowlevel", extra="mcp", purpose="serving tools over MCP")

    async def list_tools(context: Any, params: Any) -> Any:
        listed = [
            types.Tool(name=each["name"], description=each["description"], input_schema=each["parameters"])
            for each in tools()
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: Any) -> Any:
        text, ok = await call(params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=not ok)

    return lowlevel.Server("plaudit", instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool)


def serve_stdio(server: Any, on_close: Callable[[], None] = lambda: None) -> None:
    """Serve on standard input and output until the client closes them; `on_close` ends what calls still wait for."""
    stdio: Any = require("mcp.server.stdio", extra="mcp", purpose="serving tools over MCP")

    async def run() -> None:
        async with stdio.stdio_server() as (reading, writing):
            try:
                await server.run(reading, writing, server.create_initialization_options())
            finally:
                on_close()

    asyncio.run(run())
