"""Open Reward Standard: a server of the package as an environment of plaudit, and a world served by the package."""

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import uvicorn
from openreward.environments import Environment, Server, TextBlock, ToolOutput, terminal, tool
from pydantic import BaseModel

SYSTEM, DISTRIBUTION = "ors", "openreward"
RAN = "a server of the package, played as an environment of plaudit; a world of plaudit behind the package's server"
FORMS = {}


class Guess(BaseModel):
    number: int


class Message(BaseModel):
    text: str


class Numbers(Environment):
    """Guess the number of the task; each guess that is nearer pays, the last message ends the episode."""

    @classmethod
    def list_splits(cls):
        return ["train", "test"]

    @classmethod
    def list_tasks(cls, split):
        return [{"number": number} for number in ((3, 5) if split == "train" else (8,))]

    def get_prompt(self):
        return [TextBlock(text="Guess a number. ")]

    @tool
    def guess(self, args: Guess) -> ToolOutput:
        """Guess the number."""
        right = args.number == self.task_spec["number"]
        return ToolOutput(blocks=[TextBlock(text="x" * 3000 if right else "no")], reward=float(right) / 2)

    @tool
    @terminal
    def submit(self, args: Message) -> ToolOutput:
        """The last message."""
        return ToolOutput(blocks=[], reward=0.5 if "done" in args.text else 0.0, finished=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(application):
    """A server of the application, and its address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server, f"http://127.0.0.1:{port}"


def write_call(name, **arguments):
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def play_numbers():
    """Prompts, results in several chunks, refused arguments, rewards and the last message as the server gives them."""
    from plaudit.agents import EpisodeStart
    from plaudit.loading import load_agent

    server, url = start(Server([Numbers]).app)
    environment = load_agent(f"ors:{url}/numbers?split=test").environment()
    assert environment.reset(EpisodeStart("Go: ", 0)) == "Go: Guess a number. "
    wrong, refused = environment.step(write_call("guess", number=1)), environment.step(write_call("guess", number="a"))
    right, last = environment.step(write_call("guess", number=8)), environment.step("done")
    assert (wrong.feedback, wrong.reward, wrong.done) == ("\nno\n", 0.0, False), wrong
    assert "validation" in refused.feedback, refused
    assert refused.reward is None, refused
    assert (len(right.feedback.strip()), right.reward, right.done) == (3000, 0.5, False), right.reward
    assert (last.reward, last.done) == (0.5, True), last
    environment.close()
    server.should_exit = True


def serve_world():
    """A world behind the package's server: the right lamp is paid, another is not, and no client sees the goal."""

    port = free_port()  # in a process of its own: the package serves one application per process
    command = [sys.executable, "-m", "plaudit", "world", "serve", "robot_room", "--ors", "--port", str(port)]
    server, url = subprocess.Popen(command, stdout=subprocess.DEVNULL), f"http://127.0.0.1:{port}"
    try:
        wait_for(port)
        play_room(url)
    finally:
        server.kill()
        server.wait()


def wait_for(port):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("no server")


def play_room(url):
    from plaudit.agents import EpisodeStart
    from plaudit.loading import load_agent

    body = json.dumps({"split": "train"}).encode()
    request = urllib.request.Request(f"{url}/robotroom/tasks", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        tasks = json.load(answer)["tasks"]
    assert all(set(task) == {"id"} for task in tasks), tasks
    for shift, earned in ((0, 1.0), (1, 0.0)):
        environment = load_agent(f"ors:{url}").environment()
        environment.reset(EpisodeStart("", 2))
        lamp = environment.step(write_call("see")).feedback.strip()
        environment.step(write_call("on", lamp="abcd"[("abcd".index(lamp) + shift) % 4]))
        last = environment.step(write_call("say", text="ok"))
        assert (last.reward, last.done) == (earned, True), last
        assert "finished" in environment.step(write_call("see")).feedback
        environment.close()


EPISODES = {"a server of numbers": play_numbers, "a world as a server": serve_world}


def shipped():
    return []
