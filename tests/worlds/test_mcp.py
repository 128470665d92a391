"""MCP both ways: a real server's tools in an episode, and a world that a real client plays."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from plaudit.agents import EpisodeStart
from plaudit.agents.player import describe_tool
from plaudit.audit import play_actions
from plaudit.errors import AgentError
from plaudit.loading import load_agent
from plaudit.worlds import WORLDS, McpEpisode, build_mcp_environment

TIME = f"mcp:{sys.executable} -m mcp_server_time --local-timezone UTC"
CONVERT = (
    '<tool_call>{"name": "convert_time", "arguments": '
    '{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}}</tool_call>'
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children() -> set[int]:
    """The child processes of all threads of this process; a thread may end while they are listed."""
    pids: set[int] = set()
    for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pids.update(map(int, file.read_text().split()))
    return pids


def no_child_is_left(before: set[int]) -> bool:
    deadline = time.monotonic() + 20
    while not children() <= before and time.monotonic() < deadline:
        time.sleep(0.1)
    return children() <= before


def test_the_tools_of_a_server_have_its_schemas():
    described = {tool.__name__: describe_tool(tool)["function"] for tool in build_mcp_environment(TIME).tools}
    assert set(described) == {"get_current_time", "convert_time"}
    parameters = described["convert_time"]["parameters"]
    assert set(parameters["required"]) == {"source_timezone", "time", "target_timezone"}
    assert "IANA" in parameters["properties"]["source_timezone"]["description"]


def test_an_episode_uses_a_server_of_its_own_and_ends_it():
    before = children()
    actions = [CONVERT, CONVERT.replace("Asia/Tokyo", "Nowhere/At all"), CONVERT.replace('"12:00"', "12"), "21:00"]
    played = play_actions(load_agent(TIME), EpisodeStart("What time is it in Tokyo? ", "21:00"), actions, deadline_s=60)
    assert played.failure is None
    first, unknown, wrong_type, _ = played.feedback
    assert "T21:00:00+09:00" in first
    assert unknown.strip().startswith("error")
    assert wrong_type.strip().startswith("error")
    assert (played.done, played.reward) == (True, None)
    assert no_child_is_left(before)


def test_an_episode_that_stops_early_ends_its_server_too():
    before = children()
    played = play_actions(load_agent(TIME), EpisodeStart("Go. "), [CONVERT], deadline_s=60)
    assert not played.done
    assert no_child_is_left(before)


@pytest.mark.parametrize("action", ["<tool_call>{broken", '<tool_call>{"name": "nope", "arguments": {}}</tool_call>'])
def test_a_call_that_cannot_be_made_is_a_result(action):
    played = play_actions(load_agent(TIME), EpisodeStart("Go. "), [action, "done"], deadline_s=60)
    assert played.feedback[0].strip().startswith("error")


def test_a_server_that_does_not_start_or_answer_is_named():
    with pytest.raises(AgentError, match="did not start"):
        build_mcp_environment("mcp:/no/such/server")
    with pytest.raises(AgentError, match="name a command or a URL"):
        build_mcp_environment("mcp:")


def test_a_server_that_never_answers_meets_its_deadline():
    from plaudit.worlds.mcp_tools import McpSession

    before = children()
    with pytest.raises(AgentError, match="did not start within 1 s"):
        McpSession(f"{sys.executable} -c 'import time; time.sleep(60)'", 1.0)
    assert no_child_is_left(before)


def test_a_client_plays_a_world_in_memory():
    episode = McpEpisode(WORLDS["retail_desk"], "return-W102")

    async def play():
        async with Client(episode.build_server()) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["return_items"].input_schema["properties"]["codes"]["items"] == {"type": "string"}
            await client.call_tool("identify", {"email": "ada@example.org", "zip_code": "10115"})
            refused = await client.call_tool("return_items", {"order_id": "W102", "codes": "BA1"})
            assert refused.is_error
            await client.call_tool("return_items", {"order_id": "W102", "codes": ["BA1"]})
            assert episode.reward is None
            return await client.call_tool("say", {"text": "You get 19.99 dollars back."})

    assert asyncio.run(play()).content[0].text == "the episode has ended"
    assert episode.outcome["reward"] == 1.0
    assert [call["name"] for call in episode.outcome["calls"]] == ["identify", "return_items"]
    assert {change["path"] for change in episode.outcome["changes"]} >= {"caller", "orders.W102.refunded_cents"}


COMMAND = [sys.executable, "-m", "plaudit", "world", "serve", "calendar_desk", "--task", "cancel-hire"]


async def cancel(target) -> None:
    async with Client(target) as client:
        result = await client.call_tool("cancel_meeting", {"meeting_id": "hire"})
        assert result.content[0].text == "cancelled"
        await client.call_tool("say", {"text": "Cancelled."})
        late = await client.call_tool("cancel_meeting", {"meeting_id": "plan"})
        assert late.is_error


def test_a_world_is_served_over_stdio(tmp_path):
    out = tmp_path / "outcome.json"
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "-o", str(out)], env=dict(os.environ))
    asyncio.run(cancel(server))
    assert json.loads(out.read_text())["reward"] == 1.0


def test_a_world_is_served_over_http(tmp_path):
    out, port = tmp_path / "outcome.json", free_port()
    server = subprocess.Popen([*COMMAND, "--port", str(port), "-o", str(out)])
    try:
        for _ in range(200):
            try:
                asyncio.run(cancel(f"http://127.0.0.1:{port}/mcp"))
                break
            except Exception:
                if out.exists():
                    raise
                time.sleep(0.2)
    finally:
        server.kill()
        server.wait()
    assert json.loads(out.read_text())["reward"] == 1.0
