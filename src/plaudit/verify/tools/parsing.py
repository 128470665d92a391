"""Tool calls in what a model wrote.

| format | example |
|---|---|
| Hermes, Qwen, ToolRL | `<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>`, also with several calls |
| xLAM | `[{"name": "add", "arguments": {"a": 1}}]`, also in a fenced block |
| Mistral | `[TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}]` |
| Llama 3 | `<|python_tag|>{"name": "add", "parameters": {"a": 1}}`, or without the tag; `<|python_tag|>f.call(a=1)` |
| Llama 3.1, Qwen3-Coder | `<function=add>{"a": 1}</function>`, `<function=add><parameter=a>1</parameter></function>` |
| Python | a fenced block with calls, or a list `[add(a=1), add(a=2)]` |

Arguments are plain values: Python is parsed and never run. Text that looks like a call but is not one is malformed,
with the reason; so is an object that has a key twice.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

MAX_TEXT = 50_000
PYTHON_TAG = "<|python_tag|>"
MISTRAL_TAG = "[TOOL_CALLS]"
CALL_TAGS = ("<tool_call>", PYTHON_TAG, MISTRAL_TAG, "<function=")
"""Text with one of these was meant as a call."""
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^<>\s]{1,200})>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\s]{1,200})>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_BLOCK = re.compile(r"```(python|py|tool_code|tool_call|json)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_IN_JSON = re.compile(r'"(?:name|function)"')
_IN_JSON_LIST = re.compile(r'"(?:arguments|parameters)"')
_CLOSING = re.compile(r"\)")
LONGEST_CALL = 2_000  # characters, of a call among words
MOST_BRACKETS = 10
_TURN_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises ValueError where a key appears twice, since readers differ on which value counts."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key appears twice in an object")
    return value


_JSON = json.JSONDecoder(object_pairs_hook=_object_of)


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool: arguments by name, and those that were given by place."""

    name: str
    arguments: dict[str, Any] = {}  # a Struct copies it
    positional: tuple[Any, ...] = ()


class MalformedCall(msgspec.Struct, frozen=True):
    """A text that was meant as a call, and why it is none."""

    text: str
    reason: str


def parse_tool_calls(text: str) -> list[ToolCall | MalformedCall]:
    """The calls in a text, in order; none where it has only words.

    >>> parse_tool_calls('<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>')
    [ToolCall(name='add', arguments={'a': 1}, positional=())]
    """
    if len(text) > MAX_TEXT:
        marked = any(tag in text for tag in CALL_TAGS)
        return [MalformedCall(text[:60], f"a call of {len(text):,} characters is too long")] if marked else []
    if "<function=" in text:
        return [_read_function(*element.groups()) for element in _FUNCTION.finditer(text)]
    if "<tool_call>" in text:
        return [call for element in _HERMES.finditer(text) for call in _read_json(element.group(1))]
    if PYTHON_TAG in text:
        return list(_read_tagged(text.split(PYTHON_TAG, 1)[1]))
    if MISTRAL_TAG in text:
        return list(_read_json(_strip_turn_end(text.split(MISTRAL_TAG, 1)[1])))
    bare = _strip_turn_end(text)
    calls = _read_bare(bare)
    if _are_calls(calls) or (calls and bare.startswith("{")):
        return calls
    return [call for block in _BLOCK.finditer(text) for call in _read_block(*block.groups())]


def parse_python_calls(text: str) -> list[ToolCall | MalformedCall]:
    """The calls of a text that is Python calls and nothing else; none for other texts."""
    calls = _read_python(text) if text.endswith(")") and len(text) <= MAX_TEXT else []
    return calls if all(isinstance(call, ToolCall) for call in calls) else []


def has_call(text: str, tools: Collection[str]) -> bool:
    """Whether a text has a call of one of these tools among its words, such as `add(1)`, or "Action: add"."""
    for name in tools:
        spelled = re.escape(name)
        if re.search(rf'(?:"name"\s*:\s*"|\bAction:[ \t]*){spelled}(?!\w)', text):
            return True
        for call in re.finditer(rf"(?<![\w.]){spelled}\(", text):
            ends = [bracket.end() for bracket in _CLOSING.finditer(text, call.end(), call.end() + LONGEST_CALL)]
            calls = [each for end in ends[:MOST_BRACKETS] for each in _read_python(text[call.start() : end])]
            if any(isinstance(each, ToolCall) and (each.arguments or each.positional) for each in calls):
                return True
    return False


def _read_bare(text: str) -> list[ToolCall | MalformedCall]:
    """The calls of a text that is nothing else."""
    if text.startswith("{") and _IN_JSON.search(text):
        return list(_read_json(text))
    if text.startswith("[") and text.endswith("]"):
        return list((_read_json if _IN_JSON_LIST.search(text) else _read_python)(text))
    return []


def _read_block(language: str | None, text: str) -> list[ToolCall | MalformedCall]:
    """The calls of a fenced block; one that is not marked as Python counts only if it has calls."""
    if language in ("python", "py", "tool_code", "tool_call"):
        return _read_python(text)
    calls = _read_bare(text.strip())
    return calls if _are_calls(calls) else []


def _read_function(name: str, text: str) -> ToolCall | MalformedCall:
    """A call whose name is in a tag, and whose arguments are a JSON object or tags with JSON or text in them."""
    parameters = _PARAMETER.findall(text)
    if parameters:
        if len({key for key, _ in parameters}) != len(parameters):
            return MalformedCall(text, "a parameter appears twice")
        return ToolCall(name, {key: _read_parameter(value.strip()) for key, value in parameters})
    return read_call({"name": name, "arguments": text.strip() or {}}, text)


def _read_parameter(text: str) -> Any:
    try:
        return _JSON.decode(text)
    except (ValueError, RecursionError):
        return text


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
    if "arguments" in value and "parameters" in value:
        return MalformedCall(text, "the call has both 'arguments' and 'parameters'")
    arguments: Any = value.get("arguments", value.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = _JSON.decode(arguments)
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
