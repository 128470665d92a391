"""The calls that a row expects, from the columns of public data sets.

| data set | expected calls |
|---|---|
| BFCL | `ground_truth`: `[{name: {argument: [accepted values, "" = may be absent]}}]`; none if the id has irrelevance |
| xLAM, OpenAI | `answers` or the ground truth: `[{"name": …, "arguments": {…}}]`, also as JSON text; `[]` = none |
| ToolRL, verl's rlla | the ground truth is a response with `<tool_call>`, or with `<response>` alone = none |
| NeMo | `expected_action`: `{"type": "function_call", "name": …, "arguments": …}`, or `{"type": "message"}` = none |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import cache_by_content, columns_of, find_column, read_literal
from plaudit.verify.tags import without_thinking
from plaudit.verify.tools.arguments import (
    ExpectedArgument,
    Schema,
    is_alternatives,
    read_alternatives,
)
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls, quote, read_call

__all__ = ["ExpectedCall", "ExpectedCalls", "read_expected_calls"]

MOST_CALLS = 64
DEEPEST = 40
"""How deep the values of a row may be nested."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call, with the values that are right for each argument."""

    name: str
    arguments: Mapping[str, ExpectedArgument]


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """What a row asks for: these calls, or no call."""

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
    """How deep lists and objects are nested, counted up to one more than is allowed."""
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
