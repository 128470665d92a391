"""Tool calls: every format of current chat templates, and what a malformed call is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.agents import (
    EpisodeStart,
    MalformedCall,
    StepResult,
    ToolCall,
    ToolEnvironment,
    parse_tool_calls,
)
from plaudit.agents.built_in_environments import Calculator, calculate
from plaudit.agents.player import describe_tool

ADD = ToolCall("add", {"a": 1, "b": "x"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": "x"}}\n</tool_call>', [ADD]),
        ('I think <tool_call>{"name": "add", "arguments": {"a": 1, "b": "x"}}', [ADD]),
        ('<tool_call>{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": \\"x\\"}"}</tool_call>', [ADD]),
        ('<|python_tag|>{"name": "add", "parameters": {"a": 1, "b": "x"}}<|eom_id|>', [ADD]),
        ('{"name": "add", "parameters": {"a": 1, "b": "x"}}<|eot_id|>', [ADD]),
        ('<|python_tag|>{"name": "add", "parameters": {"a": 1, "b": "x"}}; {"name": "f"}', [ADD, ToolCall("f")]),
        ('<|python_tag|>add.call(a=1, b="x")', [ADD]),
        ('Let me see.\n```python\nadd(a=1, b="x")\n```', [ADD]),
        ('```tool_code\nprint(add(1, b="x"))\n```', [ToolCall("add", {"b": "x"}, (1,))]),
        ('[add(a=1, b="x"), f()]', [ADD, ToolCall("f")]),
        ('<tool_call>{"name": "f"}\n{"name": "add", "arguments": {"a": 1, "b": "x"}}', [ToolCall("f"), ADD]),
        ('[{"name": "add", "arguments": {"a": 1, "b": "x"}}]', [ADD]),
        ("[calendar.add(a=1)]", [ToolCall("calendar.add", {"a": 1})]),
        ('[{"name": "Ada"}]', []),
        ("<tool_call></tool_call>", [MalformedCall("", "not JSON: Expecting value: line 1 column 1 (char 0)")]),
        ("The answer is 42.", []),
        ("[1, 2, 3]", []),
        ('{"answer": 42}', []),
    ],
)
def test_calls_are_found_in_the_formats_of_chat_templates(text, calls):
    assert parse_tool_calls(text) == calls


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<tool_call>{broken</tool_call>", "not JSON"),
        ('<tool_call>{"arguments": {}}</tool_call>', "no 'name'"),
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "must be an object"),
        ("<tool_call>" + "[" * 40_000, "not JSON"),
        ("<tool_call>" + "x" * 60_000, "too long"),
        ("```python\nwhile True\n```", "not Python"),
        ("```python\nimport os\n```", "only calls of tools"),
        ("```python\nf(__import__('os').system('true'))\n```", "plain values"),
        ("```python\nf()('true')\n```", "called by its name"),
        ("<|python_tag|>", "no call"),
    ],
)
def test_a_malformed_call_has_a_reason(text, reason):
    [found] = parse_tool_calls(text)
    assert isinstance(found, MalformedCall)
    assert reason in found.reason


@given(st.text(max_size=80), st.sampled_from(["", "<tool_call>", "<|python_tag|>", "```python\n", '{"name":', "["]))
def test_no_text_breaks_the_parser(text, mark):
    for call in parse_tool_calls(mark + text):
        assert isinstance(call, ToolCall | MalformedCall)


class Shop(ToolEnvironment):
    call_cost = 0.1

    def price(self, item: str, count: int = 1) -> str:
        """What an item costs."""
        if item != "tea":
            raise LookupError(f"no {item} here")
        return str(3 * count)

    tools = (price,)

    def reset(self, start):
        return None

    def finish(self, action):
        return StepResult("", True, 1.0)


@pytest.mark.parametrize(
    ("action", "feedback", "reward"),
    [
        ("```python\nprice('tea', count=2)\n```", "6", 0.0),
        ("```python\nprize('tea')\n```", "error: no tool named 'prize'; did you mean 'price'?", -0.1),
        ("```python\nprice(cup='tea')\n```", "error: price(item: str, count: int = 1)", -0.1),
        ("```python\nprice('ink')\n```", "error: LookupError: no ink here", -0.1),
        ("<tool_call>{</tool_call>", "error: malformed tool call: not JSON", -0.1),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_with_an_error_the_model_can_read(action, feedback, reward):
    shop = Shop()
    shop.reset(EpisodeStart("?"))
    result = shop.step(action)
    assert result.feedback.startswith(feedback)
    assert (result.reward, result.done, result.role) == (pytest.approx(reward), False, "tool")


def test_a_tool_is_described_for_chat_templates():
    about = describe_tool(Shop.price)["function"]
    assert (about["name"], about["description"]) == ("price", "What an item costs.")
    assert about["parameters"]["properties"] == {"item": {"type": "string"}, "count": {"type": "integer"}}
    assert about["parameters"]["required"] == ["item"]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 3 * 4", "14"),
        ("(1 + 1) / 4", "0.5"),
        ("-2 ** 2", "-4"),
        ("7 // 2 % 2", "1"),
        ("10 / 5", "2"),
        ("2**64", str(2**64)),
    ],
)
def test_the_calculator_computes(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "__import__('os')",
        "'a' * 10**9",
        "1e99 * 1e99",
        "(-8) ** 0.5",
        "1 / 0",
        "(" * 90 + ")" * 90,
        "x",
        "1 " * 200,
    ],
)
def test_the_calculator_refuses_expensive_expressions(expression):
    with pytest.raises((ValueError, SyntaxError, ZeroDivisionError, OverflowError)):
        calculate(expression)


def test_a_calculator_episode_ends_with_the_answer():
    calculator = Calculator()
    calculator.reset(EpisodeStart("17 * 23?", "391"))
    assert (
        calculator.step('<tool_call>{"name": "calculate", "arguments": {"expression": "17*23"}}</tool_call>').feedback
        == "391"
    )
    final = calculator.step("The answer is 391.")
    assert (final.done, final.reward, final.logs["calls"]) == (True, 1.0, 1)
