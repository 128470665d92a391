"""Read a verdict from what a judge answered, and from nothing else.

A verdict counts only if it carries the code of its call, which no text of the sample holds: an answer that repeats the
response, with whatever verdict stands in it, is not a verdict. Thoughts are left out before anything is looked for.
Two verdicts that differ are none.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plaudit.judges.verdict_fields import CODE, REASONING, Unreadable, VerdictField

__all__ = ["Answer", "Verdict", "read_verdict"]

MAX_PLACES = 64
"""How often the code is looked for, and how many braces before it are tried as the beginning of a verdict."""
MAX_CHARS = 200_000
MAX_SHOWN = 80
_CUT_OFF = {"length", "max_tokens"}
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGIN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_LINE = re.compile(r"[\s*_-]*([\w .-]+?)[*_]*\s*[:=]\s*(.*)")
_QUOTES = "\"'`* "
_CLOSERS = " \t\r\n`}]"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered: the text, the arguments of its tool calls, why it ended, and what it used."""

    text: str = ""
    tool_arguments: tuple[str, ...] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The values of the fields, by name, and the judge's reasoning."""

    values: Mapping[str, Any]
    reasoning: str = ""


def read_verdict(answer: Answer, fields: Sequence[VerdictField], code: str | None) -> Verdict:
    """The one verdict in an answer; Unreadable says why there is none.

    Without a code the whole answer must be one JSON object.
    """
    if answer.refusal:
        raise Unreadable(f"the judge refused: {answer.refusal[:MAX_SHOWN]}")
    if answer.finish_reason in _CUT_OFF:
        raise Unreadable("the answer was cut off before its end; raise max_tokens in the endpoint's sampling")
    if answer.finish_reason == "content_filter":
        raise Unreadable("the endpoint's content filter stopped the answer")
    if len(answer.text) > MAX_CHARS:
        raise Unreadable(f"the answer has {len(answer.text):,} characters, more than any verdict")
    text = _without_thoughts(answer.text)
    found = [given for argument in answer.tool_arguments if (given := _whole_object(argument)) is not None]
    if code is None:
        found += [given for given in [_whole_object(_unfenced(text))] if given is not None]
    else:
        told = [given for given in found if _carries(given, code)]
        found = [*told, *_objects(text, code), *_blocks(text, code, fields)]
    if not found:
        raise Unreadable(_missing(answer, text, code))
    verdicts = [_read_fields(given, fields) for given in found]
    if any(verdict.values != verdicts[0].values for verdict in verdicts[1:]):
        raise Unreadable(f"the answer holds {len(verdicts)} verdicts that differ")
    return verdicts[-1]


def _read_fields(given: Mapping[str, Any], fields: Sequence[VerdictField]) -> Verdict:
    values = {}
    for field in fields:
        if field.name not in given:
            raise Unreadable(f"the verdict has no {field.name!r}")
        values[field.name] = field.read(given[field.name])
    reasoning = given.get(REASONING, given.get("steps"))  # as graders of OpenAI call it
    return Verdict(values, reasoning if isinstance(reasoning, str) else "")


def _without_thoughts(text: str) -> str:
    """The text behind the thoughts; nothing, where a thought was begun and not ended."""
    text = _THOUGHT_END.split(text)[-1]  # some servers leave out the opening tag
    begun = _THOUGHT_BEGIN.search(text)
    return text[: begun.start()] if begun else text


def _unfenced(text: str) -> str:
    """What stands in a markdown block, where the text is one."""
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```")):
        return stripped
    return stripped.removesuffix("```").partition("\n")[2]


def _whole_object(text: str) -> dict[str, Any] | None:
    try:
        given = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _objects(text: str, code: str) -> list[dict[str, Any]]:
    """The JSON objects in a text that carry the code: for each place of it, the nearest that begins before it.

    A judge that quotes a response without escaping its quotes lets it end the object with a value of its own; what the
    judge wrote then goes on behind it. So where a brace closes in prose behind an object, none of them counts.
    """
    found: dict[int, dict[str, Any]] = {}
    ends: dict[int, int] = {}
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    for match in islice(re.finditer(code, text, re.IGNORECASE), MAX_PLACES):
        place = match.start()
        for _ in range(MAX_PLACES):
            place = text.rfind("{", 0, place)
            if place < 0 or place in found:
                break
            try:
                given, end = decoder.raw_decode(text, place)
            except (ValueError, RecursionError):
                continue
            if end > match.start() and _carries(given, code):
                found[place], ends[place] = given, end
                break
    starts = sorted(found)
    for place, following in zip(starts, [*starts[1:], len(text)], strict=False):
        if "}" in text[ends[place] : following].lstrip(_CLOSERS):
            raise Unreadable("a brace closes behind the verdict: a quote in it may have ended it too early")
    return list(found.values())


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different; one that says two things says nothing."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _carries(given: Mapping[str, Any], code: str) -> bool:
    said = given.get(CODE)
    return isinstance(said, str) and said.strip().casefold() == code


def _blocks(text: str, code: str, fields: Sequence[VerdictField]) -> list[dict[str, Any]]:
    """What stands between the tags of this call: a line for each field, or the one value alone."""
    found = []
    before, *blocks = text.split(f"<verdict-{code}>")
    for block in blocks:
        body, end, _ = block.partition(f"</verdict-{code}>")
        if not end:
            continue
        lines = [line.strip() for line in body.splitlines() if line.strip()]
        pairs = [(each[1].strip(), each[2].strip(_QUOTES)) for line in lines if (each := _LINE.fullmatch(line))]
        if not pairs and len(lines) == len(fields) == 1:
            pairs = [(fields[0].name, lines[0].strip(_QUOTES))]
        named = {**dict(pairs), REASONING: before.strip()}
        found.append(named if len(named) == len(pairs) + 1 else {})
    return found


def _missing(answer: Answer, text: str, code: str | None) -> str:
    if not text.strip() and not answer.tool_arguments:
        thought = " but a thought" if answer.text.strip() else ""
        return f"the judge said nothing{thought}; a judge that thinks needs a larger max_tokens"
    shown = " ".join((text or answer.tool_arguments[0]).split())
    what = "no verdict" if code is None or code in text.casefold() else "no verdict with the code of this call"
    return f"{what} in the answer: {shown[:MAX_SHOWN]}{'…' if len(shown) > MAX_SHOWN else ''}"
