"""Users of a world: one that says the turns of its task, and one played by a model behind an endpoint.

A user gets the messages that it and the agent have said to each other, and nothing of tools and state.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from plaudit.contract.calling import await_value
from plaudit.endpoint.http_client import HttpClient, KeySource, check_url
from plaudit.errors import AgentError
from plaudit.worlds.task import Task

__all__ = ["ModelUser", "ScriptedUser", "User"]

STOP = "###STOP###"
GUIDELINES = f"""You are a customer who talks to a support agent. Your situation:

{{scenario}}

Say one short message at a time, in your own words. Tell only what your situation says, and only when it is needed.
Never play the agent. When all you want is done, or the agent cannot help, answer with {STOP} and nothing else."""


class User(ABC):
    """Answers what the agent says."""

    follows_turns: ClassVar[bool] = False
    """Whether its messages are the turns of the task, so that each turn is judged when it ends."""

    @abstractmethod
    def reply(self, task: Task, dialogue: Sequence[tuple[str, str]]) -> str | None:
        """The next message, after (role, text) pairs that end with the agent's; None ends the episode."""


class ScriptedUser(User):
    """Says the next turn of the task whatever the agent said, and ends the episode after the last one."""

    follows_turns: ClassVar[bool] = True

    def reply(self, task: Task, dialogue: Sequence[tuple[str, str]]) -> str | None:
        spoken = sum(role == "user" for role, _ in dialogue)
        return task.turns[spoken].user if spoken < len(task.turns) else None


class _Message(msgspec.Struct):
    content: str


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


@dataclass(frozen=True)
class ModelUser(User):
    """A chat model that plays the user; it ends the episode by its own reply, whatever the agent writes."""

    url: str
    model: str
    temperature: float = 0.0
    max_tokens: int = 200
    key: KeySource = field(default_factory=KeySource)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", check_url(self.url))

    def reply(self, task: Task, dialogue: Sequence[tuple[str, str]]) -> str | None:
        scenario = task.scenario or task.turns[0].user
        messages = [{"role": "system", "content": GUIDELINES.format(scenario=scenario)}]
        # to the model, the user's part is the assistant's
        roles = {"user": "assistant", "agent": "user"}
        messages += [{"role": roles[role], "content": text.replace(STOP, "")} for role, text in dialogue]
        body = {
            "model": self.model,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        text = str(await_value(self._ask(body))).strip()
        if not text:
            raise AgentError(f"the model {self.model} that plays the user said nothing")
        return None if STOP in text else text

    async def _ask(self, body: dict[str, object]) -> str:
        client = HttpClient(self.url, self.key.read(), purpose="a user played by a model")
        try:
            answer = await client.post("/chat/completions", body)
        finally:
            await client.close()
        try:
            return msgspec.json.decode(answer, type=_Completion).choices[0].message.content
        except (msgspec.MsgspecError, IndexError) as error:
            raise AgentError(f"{self.url} did not answer with a chat completion: {error}") from None
