"""Environments of Open Reward Standard servers: `ors:URL`, or `ors:URL/NAME?split=test`.

The protocol is HTTP with event streams, so no package is needed. A session is one episode; the ground truth of its
start is the index of a task, and without one the seed chooses. The server gives the rewards, which are summed.
"""

import dataclasses
import functools
import json
import time
import urllib.error
import urllib.request
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from plaudit.agents.environment import MAX_ANSWER, EpisodeStart, StepResult
from plaudit.errors import AgentError
from plaudit.worlds.remote_tools import RemoteEnvironment, as_function

PREFIX = "ors:"
TIMEOUT_S = 30.0


class OrsSession:
    """One session of a server: an episode of the task with this index."""

    def __init__(self, url: str, name: str, split: str, index: int, timeout_s: float = TIMEOUT_S) -> None:
        self.url, self.name, self.timeout_s = url, name, timeout_s
        self.rewards: list[float] = []
        self.has_ended = False
        self._id = _request(f"{url}/create_session", {}, "", timeout_s)[0][1]
        self.send("create", {"env_name": name, "split": split, "index": index})

    def send(self, path: str, data: dict[str, Any] | None = None) -> Any:
        """The server's answer to a GET, or to a POST of data."""
        return _request(f"{self.url}/{path}", data, self._id, self.timeout_s)

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The result of a tool as text, and whether it succeeded; its reward is kept."""
        events = self.send(f"{self.name}/call", {"name": name, "input": arguments})
        if any(kind == "error" for kind, _ in events):
            raise AgentError(f"the tool {name} failed on {self.url}: {events[-1][1]:.500}")
        if not events or events[-1][0] != "end":
            raise AgentError(f"{self.url} ended its answer to {name} early")
        answer = json.loads("".join(data for kind, data in events if kind in ("chunk", "end")))
        if not answer["ok"]:
            return f"error: {answer['error']}"[:MAX_ANSWER], False
        output = answer["output"]
        self.rewards += [] if output["reward"] is None else [output["reward"]]
        self.has_ended = output["finished"]
        return _text(output["blocks"])[:MAX_ANSWER], True

    def close(self) -> None:
        """End the episode on the server."""
        self.send("delete", {})


class OrsEnvironment(RemoteEnvironment):
    """An episode on a server; a finished call ends it, or an action without a call."""

    target: ClassVar[tuple[str, str, str]]
    """URL, name of the environment, split."""
    task_count: ClassVar[int]
    last_tool: ClassVar[dict[str, Any] | None] = None
    """The tool that the server wants called with the last message."""
    session: OrsSession | None = None

    def reset(self, start: EpisodeStart) -> str:
        truth = start.ground_truth
        index = start.seed % self.task_count if truth is None else int(truth)
        if not 0 <= index < self.task_count:
            raise AgentError(f"{self.target[0]} has {self.task_count} tasks, so the ground truth cannot be {truth!r}")
        self.session = OrsSession(*self.target, index)
        prompt = _text(self.session.send(f"{self.target[1]}/prompt"))
        return prompt if start.messages else f"{start.prompt}{prompt}"

    def step(self, action: str) -> StepResult:
        assert self.session is not None
        self.session.rewards.clear()
        result = super().step(action)
        reward = sum(self.session.rewards) if self.session.rewards else None
        return dataclasses.replace(result, done=result.done or self.session.has_ended, reward=reward)

    def finish(self, action: str) -> StepResult:
        assert self.session is not None
        if self.last_tool is not None:
            argument = self.last_tool["arg"]
            self.session.call(self.last_tool["name"], {} if argument is None else {argument: action})
        return StepResult("", True)


@functools.cache
def build_ors_environment(spec: str) -> type[OrsEnvironment]:
    """The environment of a server, as `ors:URL` or `ors:URL/NAME?split=SPLIT`; the first name and split by default."""
    parts = urlsplit(spec.removeprefix(PREFIX).strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise AgentError("name the address of a server: ors:http://127.0.0.1:8080")
    url = f"{parts.scheme}://{parts.netloc}"
    names = _request(f"{url}/list_environments", None, "", TIMEOUT_S)
    name = parts.path.strip("/").lower() or names[0]
    if name not in names:
        raise AgentError(f"{url} has no environment {name!r}; it has {', '.join(names)}")
    splits = [each["name"] for each in _request(f"{url}/{name}/splits", None, "", TIMEOUT_S)]
    split = parse_qs(parts.query).get("split", splits)[0]
    if split not in splits:
        raise AgentError(f"{url} has no split {split!r} of {name}; it has {', '.join(splits)}")
    count = _request(f"{url}/{name}/num_tasks", {"split": split}, "", TIMEOUT_S)["num_tasks"]
    listed = _request(f"{url}/{name}/tools", None, "", TIMEOUT_S)
    tools = tuple(as_function(each["name"], each["description"], each["input_schema"]) for each in listed["tools"])
    members = {"target": (url, name, split), "task_count": count, "tools": tools, "last_tool": listed["terminal_tool"]}
    return type("OrsEnvironment", (OrsEnvironment,), members)


def _request(url: str, data: dict[str, Any] | None, session: str, timeout_s: float) -> Any:
    """The answer of a server: JSON, or the events (kind, data) of a stream."""
    headers = {"Content-Type": "application/json", **({"X-Session-ID": session} if session else {})}
    body = None if data is None else json.dumps(data).encode()
    deadline = time.monotonic() + timeout_s
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=timeout_s) as response:
            if "event-stream" in response.headers.get("Content-Type", ""):
                return list(_events(response, url, deadline))
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise AgentError(f"{url}: {error.code}: {error.read(2000).decode(errors='replace')}") from None
    except TimeoutError:
        raise AgentError(f"{url} took longer than {timeout_s:g} s") from None
    except (OSError, ValueError) as error:
        raise AgentError(f"{url}: {error}") from None


def _events(lines: Any, url: str, deadline: float) -> Any:
    """The events of a stream; a server that only sends signs of life is given up at the deadline."""
    kind = ""
    for line in lines:
        if time.monotonic() > deadline:
            raise TimeoutError(url)
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, value


def _text(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(block.get("text", f"({block['type']})") for block in blocks)
