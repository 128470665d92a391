"""NeMo Gym's resource servers and their requests, as far as `verify` reads them.

A server is built from its config and a client for other servers. Here the config consists of its defaults and of the
keyword arguments, and there are no other servers: a server that calls a judge fails with an error.
"""

from enum import Enum
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["STUBS"]


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Reference(BaseModel):
    type: str
    name: str


class _Content(_Open):
    type: str = "output_text"
    text: str = ""
    annotations: list[Any] = []


class _Message(_Open):
    type: str = "message"
    role: str = "user"
    content: str | list[_Content] = ""


class _Output(_Open):
    id: str = ""
    type: str = "message"
    role: str = "assistant"
    status: str = "completed"
    content: list[_Content] = []


class Response(_Open):
    """A model's answer: the messages of the Responses API."""

    id: str = ""
    output: list[_Output] = []

    @property
    def output_text(self) -> str:
        return "".join(part.text for output in self.output for part in output.content if part.type == "output_text")


class CreateParams(_Open):
    """The request to a model."""

    input: str | list[_Message] = ""


class ReverifyMode(str, Enum):  # noqa: UP042 - their class
    STATELESS = "stateless"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class BaseResourcesServerConfig(_Open):
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNKNOWN
    name: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    entrypoint: str = "app.py"
    domain: Any = None


class BaseRunRequest(BaseModel):
    responses_create_params: CreateParams


class BaseVerifyRequest(BaseRunRequest):
    response: Response


class BaseVerifyResponse(BaseVerifyRequest):
    reward: float


class BaseMultiRewardVerifyResponse(BaseVerifyResponse):
    reward_components: dict[str, float]


class BaseSeedSessionRequest(BaseModel):
    pass


class BaseSeedSessionResponse(BaseModel):
    pass


class SimpleResourcesServer(BaseModel):
    """A server; whatever is neither its config nor a field of its own is a setting of the config."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    config: BaseResourcesServerConfig
    server_client: Any = None

    def __init__(self, **settings: Any) -> None:
        fields = {name: settings.pop(name) for name in list(settings) if name in type(self).model_fields}
        if "config" not in fields:
            kind: Any = type(self).model_fields["config"].annotation
            fields["config"] = kind(**settings)
        super().__init__(**fields)


class _ModelServer(_Reference):
    type: Literal["responses_api_models"]


class _ResourcesServer(_Reference):
    type: Literal["resources_servers"]


_SERVERS = (
    BaseResourcesServerConfig, BaseRunRequest, BaseVerifyRequest, BaseVerifyResponse, BaseMultiRewardVerifyResponse,
    BaseSeedSessionRequest, BaseSeedSessionResponse, ReverifyMode, SimpleResourcesServer,
)  # fmt: skip
STUBS: dict[str, dict[str, object]] = {
    "nemo_gym.base_resources_server": {each.__name__: each for each in _SERVERS},
    "nemo_gym.config_types": {"ModelServerRef": _ModelServer, "ResourcesServerRef": _ResourcesServer},
    "nemo_gym.openai_utils": {
        "NeMoGymResponse": Response,
        "NeMoGymResponseCreateParamsNonStreaming": CreateParams,
        "NeMoGymChatCompletion": _Open,
        "NeMoGymChatCompletionCreateParamsNonStreaming": _Open,
        "NeMoGymEasyInputMessage": _Message,
        "NeMoGymResponseOutputMessage": _Output,
        "NeMoGymResponseOutputText": _Content,
    },
}
