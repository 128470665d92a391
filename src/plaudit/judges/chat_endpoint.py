"""Request verdicts from a server with OpenAI's chat protocol.

A verdict is a JSON object. It is requested by the prompt and by a JSON schema, or by the prompt alone if the server
refuses the schema. Every request passes through the channel of the endpoint, which limits, paces and retries the calls
of all judges that share it.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import msgspec

from plaudit.contract.output import Status
from plaudit.endpoint.channel import CallFailed, CallResult
from plaudit.endpoint.http_client import HttpClient, ModelServer
from plaudit.endpoint.transient import HttpRefusal
from plaudit.errors import InvalidSettings, TransientError
from plaudit.judges.prompt import ChatReply, Question, Unreadable, Verdict, read_verdict
from plaudit.settings import NonNegative, check_fields, set_field

SAMPLING: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 1024}
MAX_COUNT = 10**15
"""Token counts above this are errors of the server."""
_SCHEMA_REFUSALS = {400, 404, 405, 415, 422, 501}
"""Statuses with which servers refuse a field that they do not know."""
_RESERVED = frozenset({"messages", "model", "response_format", "stream", "tools", "tool_choice", "n"})


@dataclass(frozen=True, eq=False)
class ChatEndpoint(ModelServer):
    """The server of a judge: `ChatEndpoint("http://127.0.0.1:8000/v1", "my-model", api_key_env="MY_KEY")`.

    Judges that share an endpoint share its limits.
    """

    _: KW_ONLY
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """More fields of each request, over temperature 0 and 1024 tokens; None leaves one out."""
    prices: tuple[float, float] | None = None
    """Prices of a million prompt tokens and of a million response tokens, for the `cost` of each call."""
    system: bool = True
    """False for models without a system role: the instructions then begin the user's message."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self)
        if not isinstance(self.sampling, Mapping):
            raise InvalidSettings(f"sampling is a mapping such as {{'temperature': 0.7}}, got {self.sampling!r:.60}")
        if taken := sorted(_RESERVED & self.sampling.keys()):
            raise InvalidSettings(f"sampling cannot hold {', '.join(taken)}: the judge sets these fields itself")
        if self.prices is not None:
            set_field(self, "prices", _checked_prices(self.prices))
        set_field(self, "_takes_schema", True)  # until it refuses one

    @property
    def request_fields(self) -> dict[str, Any]:
        """The fields of each request other than its messages."""
        return {name: value for name, value in {**SAMPLING, **self.sampling}.items() if value is not None}

    @asynccontextmanager
    async def connect(self) -> AsyncIterator["ChatConnection"]:
        """Connections to the endpoint, for the calls of one batch."""
        connection = ChatConnection(self, self.read_key())
        try:
            yield connection
        finally:
            await connection.close()


class ChatConnection:
    """The connections of one batch to an endpoint; `ask` sends a question."""

    def __init__(self, endpoint: ChatEndpoint, key: str | None) -> None:
        self._endpoint, self.url = endpoint, endpoint.url
        self._client = HttpClient(endpoint.url, key, purpose=f"the judge at {endpoint.url}")

    async def ask(self, question: Question) -> CallResult[ChatReply]:
        """The reply to a question; CallFailed when the endpoint was given up, HttpRefusal when it refused."""
        if self._endpoint._takes_schema:  # type: ignore[attr-defined]  # set when it is built
            try:
                return await self._endpoint.channel.send(partial(self._send, question, with_schema=True))
            except HttpRefusal as refusal:
                if refusal.status not in _SCHEMA_REFUSALS:
                    raise
        sent = await self._endpoint.channel.send(partial(self._send, question, with_schema=False))
        set_field(self._endpoint, "_takes_schema", False)
        return sent

    async def _send(self, question: Question, *, with_schema: bool) -> ChatReply:
        endpoint = self._endpoint
        shape = {"name": "verdict", "strict": True, "schema": question.schema}
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": question.messages(system=endpoint.system),
            **endpoint.request_fields,
            **question.request_fields,
            **({"response_format": {"type": "json_schema", "json_schema": shape}} if with_schema else {}),
        }
        return _read_reply(await self._client.post("/chat/completions", body), endpoint.prices)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of one question; `verdict` is None if `status` is not ok, and `reason` gives the cause."""

    verdict: Verdict | None
    status: Status = Status.OK
    reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    waited_s: float = 0.0


async def ask(connection: ChatConnection, question: Question) -> CallOutcome:
    """The verdict on a question, or why there is none; never raises for what an endpoint or a model does."""
    try:
        sent = await connection.ask(question)
    except CallFailed as given_up:
        reason = f"{connection.url}: {given_up}"
        return CallOutcome(None, given_up.status, reason, {}, given_up.attempts, given_up.waited_s)
    except HttpRefusal as refusal:
        return CallOutcome(None, Status.ERROR, f"{connection.url} refused: {refusal}", {}, 1)
    took = (sent.value.usage or {}, sent.attempts, sent.waited_s)
    try:
        _check_context(sent.value, question)
        return CallOutcome(read_verdict(sent.value, question.fields, question.code), Status.OK, "", *took)
    except Unreadable as error:
        return CallOutcome(None, Status.UNPARSED, str(error), *took)


def _check_context(reply: ChatReply, question: Question) -> None:
    """Reject the reply if the server cut the question: some drop the beginning of what exceeds their context.

    Words are compared with tokens: hardly any tokenizer puts two words into one token.
    """
    read = (reply.usage or {}).get("prompt_tokens", 0)
    words = sum(len(message["content"].split()) for message in question.messages(system=True))
    if 0 < read < words / 2:
        raise Unreadable(
            f"the endpoint read {read:,} tokens of a question with {words:,} words: its context is too short, and it "
            "cut the question"
        )


def report_calls(outcomes: Iterable[CallOutcome]) -> dict[str, Any]:
    """Attempts, waits and usage of some calls, for the metadata of an output."""
    listed = list(outcomes)
    usage: dict[str, float] = {}
    for outcome in listed:
        for name, value in outcome.usage.items():
            usage[name] = usage.get(name, 0) + value
    report: dict[str, Any] = {
        "attempts": sum(outcome.attempts for outcome in listed),
        "waited_s": round(sum(outcome.waited_s for outcome in listed), 3),
    }
    return {**report, "usage": usage} if usage else report


def _read_reply(body: bytes, prices: tuple[float, float] | None) -> ChatReply:
    """The reply in a body; a body that is not a chat completion is a transient error."""
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        text, refusal = choice["message"].get("content"), choice["message"].get("refusal")
        finish = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        shown = " ".join(body[:80].decode("utf-8", "replace").split())
        raise TransientError(f"the endpoint answered with something that is not a chat completion: {shown}") from None
    if isinstance(text, list):  # some servers send parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    usage = completion.get("usage")
    return ChatReply(
        text if isinstance(text, str) else "",
        finish if isinstance(finish, str) else None,
        refusal if isinstance(refusal, str) else None,
        _with_cost(usage, prices) if isinstance(usage, dict) else None,
    )


def _with_cost(usage: dict[str, Any], prices: tuple[float, float] | None) -> dict[str, Any]:
    """The plausible counts, and their cost if both are known."""
    kept = {name: value for name, value in usage.items() if _is_count(value)}
    if prices is None or not {"prompt_tokens", "completion_tokens"} <= kept.keys():
        return kept
    tokens = (kept["prompt_tokens"], kept["completion_tokens"])
    return {**kept, "cost": sum(price * count for price, count in zip(prices, tokens, strict=True)) / 1e6}


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def _checked_prices(prices: Any) -> tuple[float, float]:
    try:
        return msgspec.convert(prices, tuple[NonNegative, NonNegative])
    except msgspec.ValidationError:
        message = f"prices are two numbers, a million tokens of prompts and of answers; got {prices!r:.60}"
        raise InvalidSettings(message) from None
