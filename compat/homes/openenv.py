"""OpenEnv: a client of its own kind, whose server runs here, as an environment of plaudit."""

import socket
import threading
import time

import uvicorn
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

SYSTEM, DISTRIBUTION = "openenv", "openenv"
RAN = "an EnvClient against its own server, played as an environment of plaudit"
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


def play_echo():
    """Observations, rewards and the end as the server gives them."""
    from plaudit.agents import EpisodeStart
    from plaudit.loading import load_agent

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(create_app(EchoServer, EchoAction, EchoObservation), port=port, log_level="error")
    )
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    EchoClient.base_url = f"http://127.0.0.1:{port}"
    environment = load_agent(f"{__name__}:EchoClient").environment()
    assert environment.reset(EpisodeStart("Go: ")) == "Go: ready"
    first, last = environment.step("hello"), environment.step("you")
    assert (first.feedback, first.reward, first.done) == ("you said hello", 5.0, False), first
    assert (last.feedback, last.reward, last.done) == ("you said you", 3.0, True), last
    server.should_exit = True


EPISODES = {"an echo server": play_echo}


def shipped():
    return []
