"""Check whether a response is well-formed JSON, XML, markdown or a code block, and whether data fits a JSON Schema.

JSON and XML must be the whole response, or all of one fenced block: a program can read it without searching. Empty
structures are refused. Whether the content is right is not checked.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

import jsonschema_rs

from plaudit.errors import InvalidSettings
from plaudit.verify.fences import find_fences
from plaudit.verify.structured.data_formats import (
    MalformedData,
    local_name,
    parse_json,
    parse_xml,
    payload_of,
    shorten_error,
)
from plaudit.verify.tags import headed_sections, without_thinking
from plaudit.verify.text import words

_BOOLEANS = {"true": True, "false": False}


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise InvalidSettings unless this is a JSON Schema that refers to nothing outside itself."""
    try:
        _validator(json.dumps(schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError, ValueError) as error:
        raise InvalidSettings(f"not a usable JSON Schema: {shorten_error(error)}") from None


def find_misfit(schema: Mapping[str, Any], data: Any) -> str | None:
    """The place where data does not fit a schema, with the reason; None where it fits."""
    try:
        error = next(_validator(json.dumps(schema)).iter_errors(data), None)
    except ValueError as unreadable:  # numbers and text that JSON allows but the validator's language does not
        return f"/: cannot be validated: {shorten_error(unreadable)}"
    if error is None:
        return None
    path = "/".join(str(part) for part in error.instance_path)
    return f"/{path}: {error.message:.120}"


def make_strict(schema: Any) -> Any:
    """A schema whose objects have all of their properties and no others, as NeMo Gym and OpenAI take schemas."""
    if isinstance(schema, list):
        return [make_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: make_strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        strict |= {"required": list(schema["properties"]), "additionalProperties": False}
    return strict


def typed_by(schema: Any, data: Any) -> Any:
    """Data whose values are all text, with the types that a schema names; a value that does not fit stays text."""
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    types = wanted if isinstance(wanted, list) else [wanted]
    if isinstance(data, dict) and "array" in types and len(data) == 1:
        data = next(iter(data.values()))  # XML: <tags><tag>a</tag><tag>b</tag></tags>
    if "array" in types:
        listed = data if isinstance(data, list) else [] if data == "" else [data]
        return [typed_by(schema.get("items", {}), item) for item in listed]
    if isinstance(data, dict):
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        return {key: typed_by(properties.get(key, {}), value) for key, value in data.items()}
    if not isinstance(data, str):
        return data
    for name in types:
        value = _as_type(data, name)
        if value is not data:
            return value
    return data


def _as_type(text: str, name: str | None) -> Any:
    try:
        if name == "integer":
            return int(text)
        if name == "number":
            return float(text)
    except ValueError:
        return text
    if name == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    return None if name == "null" and text in ("", "null") else text


@functools.lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """Compiled once per schema; not kept in rewards, since validators cannot be sent to other processes."""
    return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse_reference)


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema; put it under $defs")


_LIST_ITEM = re.compile(r"^[ \t]*+(?:[-*+]|\d{1,3}[.)])[ \t]+(\S.*)$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*+\|?[ \t]*+:?-{3,}+[-:| \t]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a response has the structure, and why not."""

    ok: bool
    reason: str


def check_json(response: str, schema: Mapping[str, Any] | None = None) -> Finding:
    """Whether a response is JSON: a filled object or list, or whatever the JSON Schema allows."""
    try:
        value = parse_json(payload_of(without_thinking(response), "json"))
    except (ValueError, RecursionError) as error:
        return Finding(False, f"not JSON: {shorten_error(error)}")
    if schema is not None:
        misfit = find_misfit(schema, value)
        return Finding(
            misfit is None, f"JSON that breaks the schema at {misfit}" if misfit else "JSON that fits the schema"
        )
    if not isinstance(value, dict | list) or not value:
        return Finding(False, "JSON, but not a filled object or list")
    return Finding(True, f"JSON {'object' if isinstance(value, dict) else 'list'} of {len(value)}")


def check_xml(response: str, required_tags: Sequence[str] = ()) -> Finding:
    """Whether a response is one XML element with text in it and the tags asked for; no DTDs, no entities."""
    try:
        root = parse_xml(payload_of(without_thinking(response), "xml"))
    except MalformedData as error:
        return Finding(False, str(error))
    for tag in required_tags:
        element = next((element for element in root.iter() if local_name(element) == tag), None)
        if element is None or not _has_text(element):
            return Finding(False, f"XML, but <{tag}> is {'missing' if element is None else 'empty'}")
    return Finding(True, f"XML with root <{root.tag}>") if _has_text(root) else Finding(False, "XML without any text")


def check_markdown(response: str, required_headings: Sequence[str] = ()) -> Finding:
    """Whether a response uses markdown: the required headings, or any heading, list of two, table or code block."""
    visible = without_thinking(response)
    if required_headings:
        sections = _sections(visible)
        missing = [title for title in required_headings if not words(sections.get(title.casefold(), ""))]
        description = f"{len(required_headings)} headings with text"
        return Finding(False, f"heading {missing[0]!r} is missing or empty") if missing else Finding(True, description)
    kinds = {
        "heading": any(words(text) for text in _sections(visible).values()),
        "list": len({item for item in _LIST_ITEM.findall(visible) if words(item)}) >= 2,
        "table": _TABLE_RULE.search(visible) is not None and "|" in visible,
        "code block": any(words(block.text) for block in find_fences(visible).closed),
    }
    used = [kind for kind, there in kinds.items() if there]
    return Finding(True, f"markdown with {', '.join(used)}") if used else Finding(False, "no markdown structure")


def check_code(response: str, language: str | None = None) -> Finding:
    """Whether a response holds a closed, filled code block, of the language if one is asked for."""
    blocks = [block for block in find_fences(without_thinking(response)).closed if words(block.text)]
    if not blocks:
        return Finding(False, "no closed code block with anything in it")
    if language and all(block.language.casefold() != language.casefold() for block in blocks):
        return Finding(False, f"no code block is marked as {language} (found: {blocks[0].language or 'no language'})")
    return Finding(True, f"{len(blocks)} code block{'s' if len(blocks) > 1 else ''}")


def _sections(text: str) -> dict[str, str]:
    """The text under each heading, by its title in lower case."""
    return {section.name: section.text for section in headed_sections(text)}


def _has_text(element: Element) -> bool:
    return bool(words("".join(element.itertext())))
