"""Tools of MCP servers in an episode: `mcp:COMMAND …` starts a server for each episode, `mcp:URL` connects to one.

The server of a command lives as long as its episode, so that nothing it remembers reaches another one. The environment
gives no reward: a reward function scores the episode, or a subclass defines `finish`.
"""

import asyncio
import functools
import json
import shlex
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, ClassVar

from plaudit.agents.environment import MAX_ANSWER, EpisodeStart
from plaudit.errors import AgentError, require
from plaudit.worlds.remote_tools import RemoteEnvironment, as_function

PREFIX = "mcp:"
START_S = 30.0


class McpSession:
    """A connection to one server, in a thread with its own event loop; `close` also ends a server that it started."""

    def __init__(self, target: str, timeout_s: float = START_S) -> None:
        mcp = require("mcp", extra="mcp", purpose="tools of MCP servers")
        if not hasattr(mcp, "Client"):
            raise AgentError("tools of MCP servers need mcp 2 or newer: pip install 'plaudit[mcp]'")
        if target.startswith(("http://", "https://")):
            self._server: Any = target
        else:
            command, *arguments = shlex.split(target)
            self._server = mcp.StdioServerParameters(command=command, args=arguments)
        self._client_class: Any = mcp.Client
        self._timeout_s = timeout_s
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._ready: Future[None] = Future()
        self._closing = asyncio.Event()
        self._serving: asyncio.Task[Any] | None = None
        self._thread = threading.Thread(target=self._run, name="plaudit-mcp", daemon=True)
        self._thread.start()
        try:
            self._ready.result(timeout_s)
        except TimeoutError:
            self.close()
            raise AgentError(f"the MCP server {target!r} did not start within {timeout_s:g} s") from None
        except Exception as error:
            raise AgentError(f"the MCP server {target!r} did not start: {_describe(error)}") from error

    def list_tools(self) -> list[Any]:
        """The tools of the server, with `name`, `description` and `input_schema`."""
        return list(self._wait(lambda: self._client.list_tools()).tools)

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The result of a tool as text, and whether it succeeded."""
        try:
            result = self._wait(lambda: self._client.call_tool(name, arguments))
        except TimeoutError:
            raise AgentError(f"the tool {name} took longer than {self._timeout_s:g} s") from None
        except Exception as error:  # noqa: BLE001 - refusals of the protocol are results that an agent can read
            return f"error: {_describe(error)}", False
        texts = [part.text if hasattr(part, "text") else f"({part.type})" for part in result.content]
        text = "\n".join(texts) or json.dumps(result.structured_content)
        return (f"error: {text}" if result.is_error else text)[:MAX_ANSWER], not result.is_error

    def close(self) -> None:
        """End the connection, and the server if it was started for it."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)
            self._thread.join(START_S)

    def _end(self) -> None:
        """Leave the client's context; a start that has not returned is cancelled, which ends the server."""
        self._closing.set()
        if self._client is None and self._serving is not None:
            self._serving.cancel()

    def _wait(self, call: Callable[[], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            return await call()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(self._timeout_s)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._serving = asyncio.current_task()
        try:
            async with self._client_class(self._server) as self._client:
                self._ready.set_result(None)
                await self._closing.wait()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for the start
            if not self._ready.done():
                self._ready.set_exception(error)


class McpEnvironment(RemoteEnvironment):
    """An episode with the tools of a server; an action without a call ends it, and a subclass may judge it there."""

    target: ClassVar[str] = ""
    timeout_s: ClassVar[float] = START_S

    def reset(self, start: EpisodeStart) -> str | None:
        self.session = McpSession(self.target, self.timeout_s)
        return None


@functools.cache
def build_mcp_environment(spec: str) -> type[McpEnvironment]:
    """The environment of a server, as `mcp:COMMAND …` or `mcp:URL`; the server is asked for its tools once."""
    target = spec.removeprefix(PREFIX).strip()
    if not target:
        raise AgentError("name a command or a URL: mcp:uvx mcp-server-time, mcp:http://127.0.0.1:8000/mcp")
    session = McpSession(target)
    try:
        tools = tuple(as_function(each.name, each.description, each.input_schema) for each in session.list_tools())
    finally:
        session.close()
    return type("McpEnvironment", (McpEnvironment,), {"target": target, "tools": tools})


def _describe(error: BaseException) -> str:
    """The innermost reason of an error, which task groups wrap."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:500]
