"""Tool calls in what a model wrote.

| format | example |
|---|---|
| Hermes, Qwen, ToolRL | `<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>`, also with several calls |
| xLAM | `[{"name": "add", "arguments": {"a": 1}}]` |
| Llama 3 | `<|python_tag|>{"name": "add", "parameters": {"a": 1}}`, or without the tag; `<|python_tag|>f.call(a=1)` |
| Python | a block of ` ```python ` or ` ```tool_code ` with calls, or a list `[add(a=1), add(a=2)]` |

Arguments are plain values: Python is parsed and never run. Text that looks like a call but is not one is malformed,
with the reason.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PYTHON_TAG", "MalformedCall", "ToolCall", "parse_tool_calls", "quote", "read_call"]

MAX_TEXT = 50_000
PYTHON_TAG = "<|python_tag|>"
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_BLOCK = re.compile(r"```(?:python|py|tool_code|tool_call)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_JSON = json.JSONDecoder()
_TURN_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: arguments by name, and those that were given by place."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    positional: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A text that was meant as a call, and why it is none."""

    text: str
    reason: str


def parse_tool_calls(text: str) -> list[ToolCall | MalformedCall]:
    """The calls in a text, in order; none where it has only words.

    >>> parse_tool_calls('<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>')
    [ToolCall(name='add', arguments={'a': 1}, positional=())]
    """
    if len(text) > MAX_TEXT:
        marked = "<tool_call>" in text or PYTHON_TAG in text
        return [MalformedCall(text[:60], f"a call of {len(text):,} characters is too long")] if marked else []
    if "<tool_call>" in text:
        return [call for element in _HERMES.finditer(text) for call in _read_json(element.group(1))]
    if PYTHON_TAG in text:
        return list(_read_tagged(text.split(PYTHON_TAG, 1)[1]))
    bare = _strip_turn_end(text)
    if bare.startswith("{") and re.search(r'"(name|function)"', bare):
        return list(_read_json(bare))
    if bare.startswith("[") and bare.endswith("]"):
        read = _read_json if re.search(r'"(arguments|parameters)"', bare) else _read_python
        if _are_calls(calls := list(read(bare))):
            return calls
    blocks = [block.group(1) for block in _BLOCK.finditer(text)]
    return [call for block in blocks for call in _read_python(block)]


def read_call(value: Any, text: str | None = None) -> ToolCall | MalformedCall:
    """The call in an object with a name and arguments; `text` is what a malformed one is quoted as."""
    text = quote(value) if text is None else text
    if isinstance(value, dict) and isinstance(value.get("function"), dict):  # as OpenAI nests it
        value = value["function"]
    if not isinstance(value, dict):
        return MalformedCall(text, "a call is an object with a name and arguments")
    name = value.get("name", value.get("function"))
    if not isinstance(name, str) or not name:
        return MalformedCall(text, "the call has no 'name'")
    arguments: Any = next((value[key] for key in ("arguments", "parameters") if key in value), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            return MalformedCall(text, f"arguments are not JSON: {error}")
    if not isinstance(arguments, dict):
        return MalformedCall(text, "arguments must be an object of names and values")
    return ToolCall(name, arguments)


def quote(value: Any, most: int = 80) -> str:
    """The start of a value as Python writes it, for messages."""
    try:
        return repr(value)[:most]
    except (ValueError, RecursionError):  # a number with more digits than Python writes, or nested too deeply
        return f"a {type(value).__name__} too large to show"


def _strip_turn_end(text: str) -> str:
    stripped = text.strip()
    for end in _TURN_ENDS:
        stripped = stripped.removesuffix(end).rstrip()
    return stripped


def _read_tagged(text: str) -> Iterator[ToolCall | MalformedCall]:
    bare = _strip_turn_end(text)
    if bare.startswith("{"):
        yield from _read_json(bare)
    else:
        yield from _read_python(bare) or [MalformedCall(bare, "no call after <|python_tag|>")]


def _read_json(text: str) -> Iterator[ToolCall | MalformedCall]:
    """The calls in JSON: objects or lists of objects, one after the other, with blanks, ";" or "," between them."""
    bare = text.strip()
    start = 0
    while start < len(bare) or not bare:
        try:
            value, end = _JSON.raw_decode(bare, start)
        except (ValueError, RecursionError) as error:
            yield MalformedCall(bare[start:], f"not JSON: {error}")
            return
        for call in value if isinstance(value, list) else [value]:
            yield read_call(call, bare[start:end])
        start = end + len(bare[end:]) - len(bare[end:].lstrip(";, \n\t\r"))


def _read_python(source: str) -> list[ToolCall | MalformedCall]:
    """Calls with plain arguments; other statements are malformed, since nothing here runs them."""
    try:
        tree = ast.parse(source.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [MalformedCall(source.strip(), f"not Python: {error}")]
    nodes: list[ast.AST] = []
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr) else statement
        nodes += value.elts if isinstance(value, ast.List) else [value]
    return [_read_node(node) for node in nodes]


def _read_node(node: ast.AST) -> ToolCall | MalformedCall:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print" and node.args:
        node = node.args[0]
    if not isinstance(node, ast.Call):
        return MalformedCall(_source_of(node), "only calls of tools can be made, such as name(argument=value)")
    called = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "call" else node.func
    name = _dotted_name(called)
    if name is None:
        return MalformedCall(_source_of(node), "a tool is called by its name, such as add or calendar.add")
    try:
        positional = tuple(ast.literal_eval(argument) for argument in node.args)
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return MalformedCall(_source_of(node), "arguments must be plain values, not expressions")
    if None in {keyword.arg for keyword in node.keywords}:
        return MalformedCall(_source_of(node), "arguments cannot be unpacked with **")
    return ToolCall(name, named, positional)


def _source_of(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):  # a number with more digits than Python writes, or nested too deeply
        return type(node).__name__


def _dotted_name(node: ast.AST) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _are_calls(calls: list[ToolCall | MalformedCall]) -> bool:
    return any(isinstance(call, ToolCall) for call in calls)
