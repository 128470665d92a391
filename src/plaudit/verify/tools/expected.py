"""The calls that a row expects, from the columns of public data sets, and whether an argument is the expected one.

| data set | expected calls |
|---|---|
| BFCL | `ground_truth`: `[{name: {argument: [accepted values, "" = may be absent]}}]`; none if the id has irrelevance |
| xLAM, OpenAI | `answers` or the ground truth: `[{"name": …, "arguments": {…}}]`, also as JSON text; `[]` = none |
| ToolRL, verl's rlla | the ground truth is a response with `<tool_call>`, or with `<response>` alone = none |
| NeMo | `expected_action`: `{"type": "function_call", "name": …, "arguments": …}`, or `{"type": "message"}` = none |

The types are those of the tool's schema, or else of the expected value: an int may stand for a float, never a float for
an int, and a bool is no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import cache_by_content, columns_of, find_column, read_literal
from plaudit.verify.tags import without_thinking
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls, quote, read_call

Schema = Mapping[str, Any]
ABSENT_MARK = ""
"""The mark that BFCL puts among the accepted values of an argument that may be absent."""
_FLOAT_TYPES = ("float", "number", "double")
_IGNORED_BY_BFCL = str.maketrans("", "", " ,./-_*^")


@dataclass(frozen=True, slots=True)
class ExpectedArgument:
    """The values that are right for an argument."""

    values: tuple[Any, ...]
    optional: bool = False
    """Whether the argument may be absent."""
    nested: bool = False
    """Whether the objects in a value list the accepted values of their keys, as in BFCL."""
    schema: Schema = field(default_factory=dict)

    def accepts(self, value: Any, *, published: bool = False) -> bool:
        """Whether a value is right; `published` compares texts as BFCL does."""
        if any(_same(value, expected, self.schema, self.nested, published) for expected in self.values):
            return True
        return self.optional and equals_default(value, self.schema)


def equals_default(value: Any, schema: Schema) -> bool:
    """Whether a value is the default of the schema."""
    return "default" in schema and _same(value, schema["default"], schema, nested=False, published=False)


def is_alternatives(value: Any) -> bool:
    """Whether an object lists the accepted values of each key."""
    return isinstance(value, dict) and all(isinstance(each, list) and each for each in value.values())


def read_alternatives(values: list[Any], schema: Schema) -> ExpectedArgument:
    """An argument with its accepted values as BFCL lists them; the mark is a value only where it is the only one."""
    marked = any(isinstance(value, str) and value == ABSENT_MARK for value in values)
    others = tuple(value for value in values if not (isinstance(value, str) and value == ABSENT_MARK))
    return ExpectedArgument(others or (ABSENT_MARK,), marked, nested=True, schema=schema)


def _same(value: Any, expected: Any, schema: Schema, nested: bool, published: bool) -> bool:
    if isinstance(expected, bool) or expected is None:
        return value is expected
    if isinstance(expected, str):
        return isinstance(value, str) and _plain(value, published) == _plain(expected, published)
    if isinstance(expected, int | float):
        return _same_number(value, expected, schema)
    if isinstance(expected, list | tuple):
        return _same_list(value, expected, schema, nested, published)
    if isinstance(expected, dict):
        return _same_object(value, expected, schema, nested, published)
    return False


def _plain(text: str, published: bool) -> str:
    return text.translate(_IGNORED_BY_BFCL).lower().replace("'", '"') if published else text.strip()


def _same_number(value: Any, expected: float, schema: Schema) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != expected:
        return False
    return isinstance(value, int) or isinstance(expected, float) or _is_float(schema)


def _is_float(schema: Schema) -> bool:
    written = str(schema.get("type")).lower()
    return any(name in written for name in _FLOAT_TYPES)


def _same_list(value: Any, expected: Any, schema: Schema, nested: bool, published: bool) -> bool:
    if not isinstance(value, list | tuple) or len(value) != len(expected):
        return False
    items = schema.get("items")
    item_schema = items if isinstance(items, dict) else schema
    if any(isinstance(each, float) for each in expected):
        item_schema = {**item_schema, "type": "float"}
    pairs = zip(value, expected, strict=True)
    return all(_same(one, other, item_schema, nested, published) for one, other in pairs)


def _same_object(value: Any, expected: Mapping[str, Any], schema: Schema, nested: bool, published: bool) -> bool:
    if not isinstance(value, dict):
        return False
    properties = schema.get("properties")
    schemas = properties if isinstance(properties, dict) else {}
    if nested and is_alternatives(expected):
        arguments = {key: read_alternatives(values, _schema_of(schemas, key)) for key, values in expected.items()}
    else:
        arguments = {
            key: ExpectedArgument((each,), nested=nested, schema=_schema_of(schemas, key))
            for key, each in expected.items()
        }
    return value.keys() <= arguments.keys() and all(
        argument.accepts(value[key], published=published) if key in value else argument.optional
        for key, argument in arguments.items()
    )


def _schema_of(schemas: Mapping[str, Any], key: str) -> Schema:
    schema = schemas.get(key)
    return schema if isinstance(schema, dict) else {}


MOST_CALLS = 64
DEEPEST = 40
"""The largest depth of nested values in a row."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call, with the values that are right for each argument."""

    name: str
    arguments: Mapping[str, ExpectedArgument]


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """The calls that a row requires, or none."""

    calls: tuple[ExpectedCall, ...]
    parameters: Mapping[str, Mapping[str, Schema]] = field(default_factory=dict)
    """The schemas of the parameters of each tool, in order."""


def read_expected_calls(sample: Trajectory) -> ExpectedCalls:
    """The expected calls of a row; raises InvalidTrajectory where they cannot be told."""
    tools = find_column(sample, "function", "functions", "tools")
    action = find_column(sample, "expected_action")
    no_call = sample.ground_truth is None and "irrelevance" in str(sample.id)
    if action is None and sample.ground_truth is None and not no_call:
        raise InvalidTrajectory(f"the row has no expected calls (found {', '.join(columns_of(sample))})")
    return _read_calls(tools, action, sample.ground_truth)


@cache_by_content
def _read_calls(tools: Any, action: Any, truth: Any) -> ExpectedCalls:
    """The calls of a row: those of the expected action, else of the ground truth; None for no call."""
    parameters = _read_tools(read_literal(tools))
    entries = _read_entries(action, read_literal(truth), has_tools=bool(parameters))
    if len(entries) > MOST_CALLS:
        raise InvalidTrajectory(f"at most {MOST_CALLS} expected calls, got {len(entries)}")
    return ExpectedCalls(tuple(_read_call(entry, parameters) for entry in entries), parameters)


def _read_entries(action: Any, truth: Any, *, has_tools: bool) -> list[Any]:
    if action is not None:
        is_message = isinstance(action, dict) and action.get("type") == "message"
        return [] if is_message else _listed(action)
    if truth is None:
        return []
    if isinstance(truth, str) and truth.strip():
        return _read_text(truth)
    if truth == [] and has_tools:
        return []
    if not truth or not isinstance(truth, list | dict):
        raise InvalidTrajectory(f"the ground truth has no expected calls: {quote(truth)}")
    return _listed(truth)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _read_text(truth: str) -> list[Any]:
    text = without_thinking(truth)
    calls = parse_tool_calls(text)
    if not calls and "<response>" not in text:
        raise InvalidTrajectory(f"the ground truth has neither <tool_call> nor <response>: {truth!r:.80}")
    return list(calls)


def _read_call(entry: Any, parameters: Mapping[str, Mapping[str, Schema]]) -> ExpectedCall:
    if _depth(entry) > DEEPEST:
        raise InvalidTrajectory(f"the expected calls are nested deeper than {DEEPEST} levels")
    if _is_bfcl(entry):
        [(name, alternatives)] = entry.items()
        schemas = parameters.get(name, {})
        return ExpectedCall(
            name,
            {key: read_alternatives(values, schemas.get(key, {})) for key, values in alternatives.items()},
        )
    call = _as_call(entry)
    if not isinstance(call, ToolCall) or call.positional:
        reason = f": {call.reason}" if isinstance(call, MalformedCall) else ""
        raise InvalidTrajectory(f"{quote(entry)} is not an expected call{reason}")
    schemas = parameters.get(call.name, {})
    arguments = {key: ExpectedArgument((value,), schema=schemas.get(key, {})) for key, value in call.arguments.items()}
    return ExpectedCall(call.name, arguments)


def _is_bfcl(entry: Any) -> bool:
    return isinstance(entry, dict) and len(entry) == 1 and all(map(is_alternatives, entry.values()))


def _as_call(entry: Any) -> ToolCall | MalformedCall:
    if isinstance(entry, ToolCall | MalformedCall):
        return entry
    if isinstance(entry, str):  # BFCL's executable rows have calls in Python
        calls = parse_tool_calls(f"[{entry}]")
        return calls[0] if len(calls) == 1 else MalformedCall(entry, "not one call")
    return read_call(entry)


def _read_tools(tools: Any) -> dict[str, dict[str, Schema]]:
    """The schemas of the parameters of each tool; a tool that is only named has none."""
    if tools is None:
        return {}
    if not isinstance(tools, list | tuple | dict):
        raise InvalidTrajectory(f"the tools are a list of schemas, got {quote(tools)}")
    parameters: dict[str, dict[str, Schema]] = {}
    for tool in [tools] if isinstance(tools, dict) else tools:
        function = tool.get("function", tool) if isinstance(tool, dict) else {"name": tool}
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise InvalidTrajectory(f"a tool has a name, got {quote(tool)}")
        schemas = function.get("parameters")
        properties = schemas.get("properties", schemas) if isinstance(schemas, dict) else {}
        if not isinstance(properties, dict):
            raise InvalidTrajectory(f"the parameters of {function['name']} are {quote(properties)}")
        parameters[function["name"]] = {
            str(key): schema for key, schema in properties.items() if isinstance(schema, dict)
        }
    return parameters


def _depth(value: Any) -> int:
    """The depth of nested lists and objects, counted up to one more than is allowed."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        level = [
            child
            for each in level
            if isinstance(each, list | tuple | dict)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        depth += 1
    return depth
