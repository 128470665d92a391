"""A world as an OpenEnv server: an action is a message of the agent, an observation is what it is answered.

An episode lives in a WebSocket session, as OpenEnv has it. `reset(task="ID")` chooses the task, `reset(seed=N)` the
N-th one. What calls changed, and what costs the reward, is in the metadata of the observation.
"""

from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.errors import require
from plaudit.worlds.world import World

PURPOSE = "offering a world as an OpenEnv server"


def build_openenv_app(world: type[World], max_sessions: int = 64) -> Any:
    """The application, for uvicorn; it needs the package openenv."""
    server: Any = require("openenv.core.env_server", package="openenv", purpose=PURPOSE)
    types: Any = require("openenv.core.env_server.types", package="openenv", purpose=PURPOSE)
    world.tasks()  # an invalid task is an error now

    class Message(types.Action):  # type: ignore[misc]
        message: str

    class Answer(types.Observation):  # type: ignore[misc]
        message: str = ""

    class Episode(server.Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self.world, self.progress = world(), types.State(step_count=0)

        def reset(
            self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **_: Any
        ) -> Any:
            self.world = world()
            self.progress = types.State(episode_id=episode_id, step_count=0)
            first = self.world.reset(EpisodeStart("", task, seed=seed or 0))
            return Answer(message=first, done=False, metadata={"task": self.world.task.id})

        def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Any:
            self.progress.step_count += 1
            result = self.world.step(action.message)
            return Answer(message=result.feedback, done=result.done, reward=result.reward, metadata=result.logs or {})

        @property
        def state(self) -> Any:
            return self.progress

    return server.create_app(Episode, Message, Answer, env_name=world.__name__, max_concurrent_envs=max_sessions)
