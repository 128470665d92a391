"""One question put to an endpoint: a verdict, or a status that says why there is none, and what it took."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.output import Status
from plaudit.endpoint.channel import CallFailed
from plaudit.endpoint.transient import HttpRefusal
from plaudit.judges.chat_endpoint import ChatConnection
from plaudit.judges.question import Question
from plaudit.judges.verdict import Answer, Verdict, read_verdict
from plaudit.judges.verdict_fields import Unreadable

__all__ = ["Judgement", "put_question", "report_calls"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of one question; `verdict` is None where `status` is not ok, and `reason` says why."""

    verdict: Verdict | None
    status: Status = Status.OK
    reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    waited_s: float = 0.0


async def put_question(connection: ChatConnection, question: Question) -> Judgement:
    """Ask, and read the answer; never raises for what an endpoint or a model does."""
    try:
        sent = await connection.ask(question)
    except CallFailed as given_up:
        words = f"{connection.url}: {given_up}"
        return Judgement(None, given_up.status, words, {}, given_up.attempts, given_up.waited_s)
    except HttpRefusal as refusal:
        return Judgement(None, Status.ERROR, f"{connection.url} refused: {refusal}", {}, 1)
    took = (sent.value.usage or {}, sent.attempts, sent.waited_s)
    try:
        _check_context(sent.value, question)
        return Judgement(read_verdict(sent.value, question.fields, question.code), Status.OK, "", *took)
    except Unreadable as error:
        return Judgement(None, Status.UNPARSED, str(error), *took)


def _check_context(answer: Answer, question: Question) -> None:
    """Refuse the answer to half a question: some servers cut what is longer than their context, from its beginning.

    Words are counted, of which hardly any tokenizer puts two into one token; a language without spaces has few.
    """
    read = (answer.usage or {}).get("prompt_tokens", 0)
    words = sum(len(message["content"].split()) for message in question.messages("text", system=True))
    if 0 < read < words / 2:
        raise Unreadable(
            f"the endpoint read {read:,} tokens of a question with {words:,} words: its context is too short, and it "
            "cut the question"
        )


def report_calls(judgements: Iterable[Judgement]) -> dict[str, Any]:
    """What some calls took, as the metadata of an output."""
    listed = list(judgements)
    usage: dict[str, float] = {}
    for judgement in listed:
        for name, value in judgement.usage.items():
            usage[name] = usage.get(name, 0) + value
    report: dict[str, Any] = {
        "attempts": sum(judgement.attempts for judgement in listed),
        "waited_s": round(sum(judgement.waited_s for judgement in listed), 3),
    }
    return {**report, "usage": usage} if usage else report
