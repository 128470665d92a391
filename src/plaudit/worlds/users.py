"""Users of a world: one that says the turns of its task, and one played by a model behind an endpoint.

A user gets the messages that it and the agent have said to each other, and nothing of tools and state.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import msgspec

from plaudit.contract.calling import await_value
from plaudit.endpoint.channel import CallFailed
from plaudit.endpoint.http_client import HttpClient, ModelServer
from plaudit.endpoint.transient import HttpRefusal
from plaudit.errors import AgentError
from plaudit.worlds.task import Task

STOP = "###STOP###"
GREETING = "How can I help you?"
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
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


@dataclass(frozen=True, eq=False)
class ModelUser(ModelServer, User):
    """A chat model that plays the user; it ends the episode by its own reply, whatever the agent writes.

    A reply counts only if it is complete. Without one (the endpoint is down after the tries of `policy`, or the reply
    is empty or cut off) the episode has a status with the reason, and no reward.
    """

    temperature: float = 0.0
    max_tokens: int = 200

    def reply(self, task: Task, dialogue: Sequence[tuple[str, str]]) -> str | None:
        body = {
            "model": self.model,
            "messages": _show_to_model(task, dialogue),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        choice = _read_choice(await_value(self._send(body)), self.url)
        text = (choice.message.content or "").strip()
        if not text:
            raise AgentError(f"the model {self.model} that plays the user said nothing")
        if choice.finish_reason == "length":
            raise AgentError(f"the user's reply was cut off at max_tokens={self.max_tokens}: {text!r:.80}; raise it")
        return None if STOP in text else text

    async def _send(self, body: dict[str, object]) -> bytes:
        client = HttpClient(self.url, self.read_key(), purpose="a user played by a model")
        try:
            return (await self.channel.send(partial(client.post, "/chat/completions", body))).value
        except (CallFailed, HttpRefusal) as error:
            raise AgentError(f"no reply of the user from {self.url}: {error}") from error
        finally:
            await client.close()


def _show_to_model(task: Task, dialogue: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The dialogue as the model sees it: the user's part is the assistant's, and a greeting comes first, since many
    chat templates refuse to begin with the assistant."""
    scenario = task.scenario or task.turns[0].user
    roles = {"user": "assistant", "agent": "user"}
    return [
        {"role": "system", "content": GUIDELINES.format(scenario=scenario)},
        {"role": "user", "content": GREETING},
        *({"role": roles[role], "content": text.replace(STOP, "")} for role, text in dialogue),
    ]


def _read_choice(answer: bytes, url: str) -> _Choice:
    try:
        return msgspec.json.decode(answer, type=_Completion).choices[0]
    except (msgspec.MsgspecError, IndexError) as error:
        raise AgentError(f"{url} did not answer with a chat completion: {error}") from None
