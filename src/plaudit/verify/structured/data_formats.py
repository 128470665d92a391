"""Structured data in JSON, YAML, TOML, CSV, XML, a markdown table or a tool call, read as plain data.

The data must be the whole answer, or all of its one fenced block: what a program could read without searching.
Duplicate keys, NaN, aliases, entities and text around the data are errors. Dates are text, as in JSON.
"""

import csv
import json
import math
import re
import tomllib
from collections.abc import Callable
from datetime import date, time
from typing import Any, ClassVar
from xml.etree.ElementTree import Element, ParseError

import yaml
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from plaudit.verify.fences import find_fences
from plaudit.verify.texts.tables import find_markdown_tables
from plaudit.verify.tools.parsing import MalformedCall, parse_tool_calls, read_call
from plaudit.verify.verifier import Answer

LONGEST_TEXT = 300_000
DEEPEST = 100
MOST_EVENTS = 100_000
UNTYPED = ("csv", "table", "xml")
"""Formats whose values are all text."""
CODE_MARKS = ("<|BEGIN_CODE|>", "<|END_CODE|>")
_FENCE_MARKS = {"yaml": ("", "yaml", "yml"), "table": ("", "markdown", "md"), "csv": ("", "csv", "tsv")}


class MalformedData(ValueError):
    """A text that is not data of its format, with the reason."""


def parse_data(answer: Answer, format: str) -> Any:
    """The data of an answer; MalformedData where it is not of the format."""
    if format == "tool_call":
        return _check_plain(_parse_call(answer))
    text = payload_of(answer.text, format)
    if len(text) > LONGEST_TEXT:
        raise MalformedData(f"{format} of more than {LONGEST_TEXT:,} characters")
    try:
        return _check_plain(DATA_FORMATS[format](text))
    except MalformedData:
        raise
    except (ValueError, ParseError, LookupError, csv.Error, yaml.YAMLError, RecursionError, MemoryError) as error:
        raise MalformedData(f"not {format}: {shorten_error(error)}") from None


def payload_of(text: str, format: str) -> str:
    """The text, or what stands in its one fenced block, or between StructEval's marks, if there is nothing else."""
    stripped = text.strip()
    if stripped.startswith(CODE_MARKS[0]) and stripped.endswith(CODE_MARKS[1]):
        return stripped.removeprefix(CODE_MARKS[0]).removesuffix(CODE_MARKS[1]).strip()
    blocks = find_fences(stripped).closed
    if len(blocks) != 1 or (blocks[0].start, blocks[0].end) != (0, len(stripped)):
        return stripped
    is_marked = blocks[0].language.lower() in _FENCE_MARKS.get(format, ("", format))
    return blocks[0].text.strip("\n") if is_marked else stripped


def parse_json(text: str) -> Any:
    """The value of a JSON text; ValueError for what JSON does not define: NaN, a key that occurs twice."""
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_pairs)


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with the values of JSON: only true and false are booleans, dates are text; no key occurs twice."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith((":timestamp", ":bool"))]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        return _unique_pairs(
            [(self.construct_object(key, True), self.construct_object(value, True)) for key, value in node.value]
        )


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF"))


def _parse_yaml(text: str) -> Any:
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise MalformedData("YAML with aliases is not read")
        if depth > DEEPEST or number > MOST_EVENTS:
            raise MalformedData("YAML that is too large or nested too deeply")
    return yaml.load(text, Loader=_Loader)


def _parse_csv(text: str) -> Any:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    separator = next((mark for mark in ",\t;" if lines and mark in lines[0]), ",")
    return _records(list(csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)))


def _parse_table(text: str) -> Any:
    tables = find_markdown_tables(text)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(tables) != 1 or len(lines) != len(tables[0]) + 1:
        raise MalformedData("not one markdown table and nothing else")
    return _records(tables[0])


def _records(rows: list[list[str]]) -> list[dict[str, str]]:
    """Rows by the names of their columns, which are in the first row."""
    if len(rows) < 2:
        raise MalformedData("no header with rows")
    header = [name.strip() for name in rows[0]]
    if not all(header) or len(set(header)) != len(header):
        raise MalformedData("the columns have no different names")
    if any(len(row) != len(header) for row in rows):
        raise MalformedData("a row is not as long as the header")
    return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows[1:]]


def parse_xml(text: str) -> Element:
    """The root of an XML text; MalformedData for what is none, or declares a document type or entities."""
    try:
        return fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise MalformedData(f"XML with forbidden declarations ({type(error).__name__})") from None
    except (ParseError, ValueError, LookupError) as error:
        raise MalformedData(f"not XML: {shorten_error(error)}") from None


def _parse_xml(text: str) -> Any:
    root = parse_xml(text)
    return {local_name(root): _of_element(root)}


def _of_element(element: Element) -> Any:
    """The text of an element, or its attributes (@name) and children by name; children of one name are a list."""
    data: dict[str, Any] = {f"@{name.rpartition('}')[2]}": value for name, value in element.attrib.items()}
    for child in element:
        name, value = local_name(child), _of_element(child)
        if name not in data:
            data[name] = value
        elif isinstance(data[name], _Repeated):
            data[name].append(value)
        else:
            data[name] = _Repeated([data[name], value])
    text = (element.text or "").strip()
    if not data:
        return text
    return {**data, "#text": text} if text else data


class _Repeated(list[Any]):
    """Children of one name."""


def _parse_call(answer: Answer) -> Any:
    """The arguments of the only tool call."""
    calls = [read_call(call) for call in answer.tool_calls] or parse_tool_calls(answer.text)
    if len(calls) != 1:
        raise MalformedData(f"{len(calls) or 'no'} tool calls")
    if isinstance(calls[0], MalformedCall):
        raise MalformedData(f"malformed call: {calls[0].reason:.100}")
    if calls[0].positional:
        raise MalformedData("a tool call with arguments that have no name")
    return calls[0].arguments


DATA_FORMATS: dict[str, Callable[[str], Any]] = {
    "json": parse_json,
    "yaml": _parse_yaml,
    "toml": tomllib.loads,
    "csv": _parse_csv,
    "table": _parse_table,
    "xml": _parse_xml,
}


def _check_plain(data: Any, depth: int = 0) -> Any:
    """The same data as JSON has it: keys and dates as text; no NaN, nothing nested too deeply."""
    if depth > DEEPEST:
        raise MalformedData("nested too deeply")
    if isinstance(data, dict):
        return {_key(key): _check_plain(value, depth + 1) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_check_plain(value, depth + 1) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        raise MalformedData(f"{data} is not a number that JSON has")
    if isinstance(data, date | time):
        return data.isoformat()
    if data is None or isinstance(data, str | int | float):
        return data
    raise MalformedData(f"a value of the type {type(data).__name__}")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | float) or key is None:
        return json.dumps(key)
    raise MalformedData("a key that is not text")


def _unique_pairs(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    unique: dict[Any, Any] = {}
    for key, value in pairs:
        try:
            if key in unique:
                raise MalformedData(f"the key {key!r:.40} occurs twice")
        except TypeError:
            raise MalformedData("a key that is not text") from None
        unique[key] = value
    return unique


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def shorten_error(error: BaseException) -> str:
    """The first line of what an error says."""
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
