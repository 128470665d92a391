"""A world as a server of the Open Reward Standard: its tools, and `say` for messages to the user.

A session is an episode of one task. Clients see the ids of tasks only: goals and gold calls stay on the server.
"""

from typing import Any, ClassVar

from plaudit.errors import AgentError, require
from plaudit.worlds.mcp_server import McpEpisode, describe_tools
from plaudit.worlds.world import World

SPLIT = "train"


def build_ors_app(world: type[World]) -> Any:
    """The application, for uvicorn; it needs the package openreward."""
    ors: Any = require("openreward.environments", package="openreward", purpose="offering a world as an ORS server")
    pydantic: Any = require("pydantic", package="openreward", purpose="offering a world as an ORS server")
    tasks = [{"id": name} for name in world.tasks()]  # an invalid task is an error now

    class Episode(ors.Environment):  # type: ignore[misc]
        def __init__(self, task_spec: Any = None, secrets: Any = None) -> None:
            super().__init__(task_spec or {})
            self.episode = McpEpisode(world, self.task_spec.get("id"))

        @classmethod
        def list_splits(cls) -> list[str]:
            return [SPLIT]

        @classmethod
        def list_tasks(cls, split: str) -> list[dict[str, str]]:
            return tasks

        def get_prompt(self) -> Any:
            return [ors.TextBlock(text=self.episode.instructions)]

    def tool(name: str, description: str, parameters: dict[str, Any]) -> Any:
        class Arguments(pydantic.BaseModel):  # type: ignore[misc]
            model_config: ClassVar[Any] = {"extra": "allow"}

            @classmethod
            def model_json_schema(cls, **_: Any) -> dict[str, Any]:
                return parameters

        def call(self: Any, arguments: Any) -> Any:
            text, _ = self.episode.call(name, arguments.model_extra)
            is_last = self.episode.world.has_ended
            metadata = self.episode.outcome if is_last else None
            block = ors.TextBlock(text=text)
            return ors.ToolOutput(blocks=[block], reward=self.episode.reward, finished=is_last, metadata=metadata)

        call.__name__, call.__doc__ = name, description
        call.__annotations__ = {"arguments": Arguments, "return": ors.ToolOutput}
        return ors.tool(call)

    for each in describe_tools(world, world.tools):
        if hasattr(Episode, each["name"]):
            raise AgentError(
                f"{world.__name__} has a tool named {each['name']!r}, which ORS environments use themselves"
            )
        setattr(Episode, each["name"], tool(**each))
    Episode.__name__ = world.__name__
    return ors.Server([Episode]).app
