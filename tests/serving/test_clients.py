"""Clients that nobody here wrote: OpenRLHF's own, and curl."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OPENRLHF = Path(sys.prefix) / "openrlhf"  # by the Makefile: apart from the other packages, without its dependencies
EXECUTOR = """
import asyncio, json, sys
from openrlhf.utils.agent import SingleTurnAgentExecutor

async def ask(urls, rows):
    return await SingleTurnAgentExecutor(urls)._fetch_rewards_via_http(rows, ["?"] * len(rows), ["yes"] * len(rows))

rows, *servers = map(json.loads, sys.argv[1:])
print(json.dumps([asyncio.run(ask(urls, rows)) for urls in servers]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not OPENRLHF.is_dir(), reason="OpenRLHF has no package for this Python")
def test_openrlhf_reads_its_rewards_from_one_server_and_from_two(server):
    one, two = f"{server.address}/get_reward", f"{server.address}/mark/get_reward"
    given = map(json.dumps, (["?yes", "?no", "?yes", "?no"], [one], [one, two]))
    command = [sys.executable, "-c", EXECUTOR, *given]
    ran = subprocess.run(command, env={"PYTHONPATH": str(OPENRLHF)}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert [len(parts) for parts in told] == [1, 2]
    for parts in told:
        assert [reward for part in parts for reward in part["rewards"]] == [1.0, 0.0, 1.0, 0.0]
        assert [score for part in parts for score in part["scores"]] == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--http1.0",),
        ("--header", "transfer-encoding: chunked"),
        ("--header", "expect: 100-continue"),
        ("--header", "connection: close"),
    ],
    ids=" ".join,
)
def test_every_form_of_curl_request_is_answered(server, tmp_path, options):
    texts = ["yes", "n" * 2_000_000]
    (tmp_path / "body").write_text(json.dumps({"query": texts, "labels": ["yes", "yes"]}))
    command = ["curl", "--silent", "--show-error", "--fail-with-body", "--max-time", "20", *options]
    command += ["--header", "content-type: application/json", "--data-binary", f"@{tmp_path / 'body'}"]
    url = f"{server.address}/get_reward"
    ran = subprocess.run([*command, url, url], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(part + "}}") for part in ran.stdout.split("}}") if part]
    assert [answer["rewards"] for answer in answers] == [[1.0, 0.0]] * 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_gets_an_error_message(server):
    command = ["curl", "--silent", "--write-out", "%{http_code}", "--max-time", "20"]
    json_body = ("--header", "content-type: application/json", "--data")
    for options, code, words in (
        (("--data", "{}"), "415", "application/json"),
        ((*json_body, "{"), "400", "not JSON"),
        ((*json_body, '{"query": [1]}'), "422", "query"),
        (("--http2", *json_body, "{}"), "400", "make it use HTTP/1.1 only"),
        ((), "405", "takes POST"),
    ):
        told = subprocess.run([*command, *options, f"{server.address}/get_reward"], capture_output=True, text=True)
        assert told.stdout.endswith(code)
        assert words in told.stdout
