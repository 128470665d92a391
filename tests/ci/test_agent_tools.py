"""`plaudit mcp` with the real client, over standard input and output."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

from plaudit.ci.agent_tools import MAX_ANSWER, CommandTools
from tests.ci.projects import write_project

HANGS = "import time\ntime.sleep(600)\n\n\ndef f(response):\n    return 1.0\n"
RAISES = "def f(response):\n    raise ValueError('no' * 5000)\n"


def test_a_client_gets_small_answers_and_errors(tmp_path):
    folder = write_project(tmp_path, raises__py=RAISES)
    row = {"prompt": "p" * 5000, "response": "4", "ground_truth": "4"}
    (folder / "long.jsonl").write_text("".join(json.dumps(row | {"id": n}) + "\n" for n in range(60)))

    async def use():
        server = StdioServerParameters(command=sys.executable, args=["-m", "plaudit", "mcp", str(folder)])
        async with Client(server) as client:
            tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
            assert set(tools) == {"check", "test", "audit", "explain", "diff"}
            assert tools["test"]["required"] == ["cases"]
            calls = {
                "tested": ("test", {"reward": "reward.py:quality", "cases": "reward.cases.yaml"}),
                "raises": ("check", {"reward": "raises.py:f"}),
                "no file": ("check", {"reward": "nope.py:f"}),
                "explained": ("explain", {"reward": "reward.py:quality", "rollouts": "long.jsonl", "count": 40}),
                "compared": ("diff", {"old": "reward.py:quality", "new": "length", "rollouts": "long.jsonl"}),
            }
            replies = await asyncio.gather(*(client.call_tool(*call) for call in calls.values()))
            full = json.loads(replies[3].content[0].text)["full"]
            assert len(json.loads(Path(full).read_text())) == 40
            return dict(zip(calls, replies, strict=True))

    replies = asyncio.run(use())
    answers = {name: json.loads(reply.content[0].text) for name, reply in replies.items()}
    assert all(len(reply.content[0].text) <= MAX_ANSWER for reply in replies.values())
    assert {name for name, reply in replies.items() if reply.is_error} == {"no file"}
    assert answers["tested"]["meaning"] == "passed"
    assert answers["raises"]["result"][0]["rule"] == "scored"
    assert "no file" in answers["no file"]["error"]
    assert answers["explained"]["result"][0]["reward_output"]["reward"] == 1.0
    assert answers["explained"]["result"][-1].endswith("more")
    assert answers["compared"]["result"]["count"] == 60


def test_a_command_that_hangs_is_stopped(tmp_path):
    write_project(tmp_path, hangs__py=HANGS)
    text, ok = asyncio.run(CommandTools(tmp_path, tmp_path, 1.0).call("check", {"reward": "hangs.py:f"}))
    assert not ok
    assert json.loads(text)["error"] == "stopped after 1 s"


def test_wrong_arguments_are_answers_and_never_options_of_the_command(tmp_path):
    tools = CommandTools(tmp_path, tmp_path, 20.0)
    wrong = {
        "no tool named 'chek'": ("chek", {}),
        "check needs reward": ("check", {}),
        "check has no argument 'accept'": ("check", {"reward": "length", "accept": "x"}),
        "cases must be text": ("test", {"cases": 3}),
        "calls must be a number": ("audit", {"reward": "length", "calls": True}),
        "no reward named": ("check", {"reward": "--help"}),
    }
    for message, call in wrong.items():
        text, ok = asyncio.run(tools.call(*call))
        assert not ok
        assert message in json.loads(text)["error"]


def test_a_client_that_leaves_ends_the_command_it_waits_for(tmp_path):
    marker = tmp_path / "pid"
    write_project(tmp_path, hangs__py=f"import os\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\n{HANGS}")

    async def leave():
        async with Client(
            StdioServerParameters(command=sys.executable, args=["-m", "plaudit", "mcp", str(tmp_path)])
        ) as client:
            call = asyncio.create_task(client.call_tool("check", {"reward": "hangs.py:f"}))
            while not (marker.exists() and marker.read_text()):
                await asyncio.sleep(0.1)
        await asyncio.gather(call, return_exceptions=True)

    asyncio.run(leave())
    until = time.monotonic() + 20
    while os.path.exists(f"/proc/{marker.read_text()}") and time.monotonic() < until:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{marker.read_text()}")
