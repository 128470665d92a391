"""Read the verdict in a reply of a judge.

A verdict counts only with the nonce of its call, which no text of the sample contains: a reply that repeats a verdict
from the response is not a verdict. Reasoning blocks are removed first. Conflicting verdicts are an error.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plaudit.judges.prompt import CODE, REASONING, Unreadable, VerdictField

__all__ = ["ChatReply", "Verdict", "read_verdict"]

MAX_PLACES = 64
"""How many occurrences of the nonce are tried, and how many opening braces before each of them."""
MAX_CHARS = 200_000
MAX_SHOWN = 80
_CUT_OFF = {"length", "max_tokens"}
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGIN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSERS = " \t\r\n`}]"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply of an endpoint: its text, why it ended, and what it used."""

    text: str = ""
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The values of the fields, by name, and the judge's reasoning."""

    values: Mapping[str, Any]
    reasoning: str = ""


def read_verdict(reply: ChatReply, fields: Sequence[VerdictField], code: str | None) -> Verdict:
    """The one verdict in a reply; Unreadable says why there is none.

    Without a code the whole reply must be one JSON object.
    """
    if reply.refusal:
        raise Unreadable(f"the judge refused: {reply.refusal[:MAX_SHOWN]}")
    if reply.finish_reason in _CUT_OFF:
        raise Unreadable("the answer was cut off before its end; raise max_tokens in the endpoint's sampling")
    if reply.finish_reason == "content_filter":
        raise Unreadable("the endpoint's content filter stopped the answer")
    if len(reply.text) > MAX_CHARS:
        raise Unreadable(f"the answer has {len(reply.text):,} characters, more than any verdict")
    text = _without_thoughts(reply.text)
    if code is None:
        whole = _whole_object(_unfenced(text))
        candidates = [] if whole is None else [whole]
    else:
        candidates = _objects(text, code)
    if not candidates:
        raise Unreadable(_missing(reply, text, code))
    verdicts = [_read_fields(candidate, fields) for candidate in candidates]
    if any(verdict.values != verdicts[0].values for verdict in verdicts[1:]):
        raise Unreadable(f"the answer holds {len(verdicts)} verdicts that differ")
    return verdicts[-1]


def _read_fields(candidate: Mapping[str, Any], fields: Sequence[VerdictField]) -> Verdict:
    values = {}
    for field in fields:
        if field.name not in candidate:
            raise Unreadable(f"the verdict has no {field.name!r}")
        values[field.name] = field.read(candidate[field.name])
    reasoning = candidate.get(REASONING, candidate.get("steps"))  # as graders of OpenAI call it
    return Verdict(values, reasoning if isinstance(reasoning, str) else "")


def _without_thoughts(text: str) -> str:
    """The text after the reasoning blocks, up to one that was begun and not ended."""
    text = _THOUGHT_END.split(text)[-1]  # some servers leave out the opening tag
    begun = _THOUGHT_BEGIN.search(text)
    return text[: begun.start()] if begun else text


def _unfenced(text: str) -> str:
    """The content of a markdown block, if the whole text is one."""
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```")):
        return stripped
    return stripped.removesuffix("```").partition("\n")[2]


def _whole_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _objects(text: str, code: str) -> list[dict[str, Any]]:
    """The JSON objects in a text that carry the nonce: for each of its occurrences, the nearest object around it.

    A judge that quotes a response without escaping its quotes lets the response end the object with a value of its own;
    the rest of the judge's object then follows it. So a closing brace in the prose after an object is an error.
    """
    objects: dict[int, dict[str, Any]] = {}
    ends: dict[int, int] = {}
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    for match in islice(re.finditer(code, text, re.IGNORECASE), MAX_PLACES):
        start = match.start()
        for _ in range(MAX_PLACES):
            start = text.rfind("{", 0, start)
            if start < 0 or start in objects:
                break
            try:
                candidate, end = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
            if end > match.start() and _carries(candidate, code):
                objects[start], ends[start] = candidate, end
                break
    starts = sorted(objects)
    for start, following in zip(starts, [*starts[1:], len(text)], strict=False):
        if "}" in text[ends[start] : following].lstrip(_CLOSERS):
            raise Unreadable("a brace closes behind the verdict: a quote in it may have ended it too early")
    return list(objects.values())


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate JSON keys."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _carries(candidate: Mapping[str, Any], code: str) -> bool:
    value = candidate.get(CODE)
    return isinstance(value, str) and value.strip().casefold() == code


def _missing(reply: ChatReply, text: str, code: str | None) -> str:
    if not text.strip():
        thought = " but a thought" if reply.text.strip() else ""
        return f"the judge said nothing{thought}; a judge that thinks needs a larger max_tokens"
    shown = " ".join(text.split())
    what = "no verdict" if code is None or code in text.casefold() else "no verdict with the code of this call"
    return f"{what} in the answer: {shown[:MAX_SHOWN]}{'…' if len(shown) > MAX_SHOWN else ''}"
