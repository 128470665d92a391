"""OpenEnv: a client of its own kind, whose server runs here, as an environment of plaudit."""

import asyncio
import socket
import threading
import time

import uvicorn
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from openenv.core.generic_client import GenericEnvClient

SYSTEM, DISTRIBUTION = "openenv", "openenv"
RAN = (
    "an EnvClient against its own server, played as an environment of plaudit; a world of plaudit served to its clients"
)
FORMS = {}


class EchoAction(Action):
    message: str


class EchoObservation(Observation):
    echoed_message: str = ""


class EchoServer(Environment):
    """Says what it hears, is done after two steps, and pays by the letter."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        self._state = State(episode_id="1", step_count=0)

    def reset(self, **_):
        self._state = State(episode_id="1", step_count=0)
        return EchoObservation(echoed_message="ready", done=False, reward=0.0)

    def step(self, action, **_):
        self._state.step_count += 1
        done = self._state.step_count == 2
        return EchoObservation(
            echoed_message=f"you said {action.message}", done=done, reward=float(len(action.message))
        )

    @property
    def state(self):
        return self._state


class EchoClient(EnvClient[EchoAction, EchoObservation, State]):
    def _step_payload(self, action: EchoAction) -> dict:
        return {"message": action.message}

    def _parse_result(self, payload: dict):
        said = payload.get("observation", {}).get("echoed_message", "")
        observation = EchoObservation(echoed_message=said)
        return StepResult(observation=observation, reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload):
        return State(**payload)


def start(application):
    """A server of the application, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server, f"http://127.0.0.1:{port}"


def play_echo():
    """Observations, rewards and the end as the server gives them."""
    from plaudit.agents import EpisodeStart
    from plaudit.loading import load_agent

    server, EchoClient.base_url = start(create_app(EchoServer, EchoAction, EchoObservation))
    environment = load_agent(f"{__name__}:EchoClient").environment()
    assert environment.reset(EpisodeStart("Go: ")) == "Go: ready"
    first, last = environment.step("hello"), environment.step("you")
    assert (first.feedback, first.reward, first.done) == ("you said hello", 5.0, False), first
    assert (last.feedback, last.reward, last.done) == ("you said you", 3.0, True), last
    server.should_exit = True


class WorldAction(Action):
    message: str


class WorldClient(EnvClient[WorldAction, Observation, State]):
    def _step_payload(self, action: WorldAction) -> dict:
        return {"message": action.message}

    def _parse_result(self, payload: dict):
        text = payload.get("observation", {}).get("message", "")
        return StepResult(observation=text, reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload):
        return State(**payload)


async def solve(url, task, wrong=False):
    """What OpenEnv's own client is paid for a task of `robot_room`, and what it observed."""
    async with GenericEnvClient(base_url=url) as client:
        first = await client.reset(task=task)
        seen = await client.step({"message": "[see()]"})
        lamp = seen.observation["message"].strip()
        lamp = "abcd"["abcd".index(lamp) - 1] if wrong else lamp
        switched = await client.step({"message": f"[on('{lamp}')]"})
        last = await client.step({"message": "ok]"})
        return first, switched, last


def serve_world():
    """A world behind OpenEnv's server: its own client plays it, two sessions share nothing, and our client plays it."""
    from plaudit.agents import EpisodeStart
    from plaudit.loading import load_agent
    from plaudit.worlds import WORLDS, build_openenv_app

    server, url = start(build_openenv_app(WORLDS["robot_room"]))

    async def both():
        return await asyncio.gather(solve(url, "room-3"), solve(url, "room-4", wrong=True))

    (first, switched, right), (_, _, wrong) = asyncio.run(both())
    assert first.observation["message"] == "003? ", first
    assert switched.metadata["changes"][0]["after"] is True, switched
    assert (right.reward, right.done, wrong.reward, wrong.done) == (1.0, True, 0.0, True)
    WorldClient.base_url = url
    environment = load_agent(f"{__name__}:WorldClient").environment()
    environment.reset(EpisodeStart(""))
    letter = environment.step("[see()]").feedback.strip()
    environment.step(f"[on('{letter}')]")
    last = environment.step("ok]")
    assert (last.reward, last.done) == (1.0, True), last
    server.should_exit = True


EPISODES = {"an echo server": play_echo, "a world as a server": serve_world}


def shipped():
    return []
