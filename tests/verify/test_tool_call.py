"""Tool calls: scores of each mode, pairing, values, attacks, bad rows, and the assignment behind the pairing."""

import itertools
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit.verify import ToolCalls
from plaudit.verify.assignment import assign

TWO = {
    "question": "?",
    "ground_truth": [{"name": "f", "arguments": {"a": 1, "b": "x"}}, {"name": "g", "arguments": {}}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("response", "exact", "f1", "graded"),
    [
        ("[g(), f(a=1, b='x')]", 1, 1, 1),
        ("[f(a=1, b='x')]", 0, 2 / 3, (1 / 2 + 1 + 2) / 5),
        ("[f(a=1, b='y'), g()]", 0, 1 / 2, (1 + 1 + 1 + 1) / 5),
        ("[f(a=1), g()]", 0, 1 / 2, (1 + 1 / 2 + 1 + 1) / 5),
        ("[f(a=1, b='x', c=3), g()]", 0, 1 / 2, (1 + 2 / 3 + 2 + 1) / 5),
        ("[f(a=1, b='x'), g(), g()]", 0, 4 / 5, (2 / 3 + 1 + 2 + 1) / 5),
        ("[h()]", 0, 0, 0),
        ("no call", 0, 0, 0),
    ],
)
def test_modes_have_the_values_of_their_formulas(response, exact, f1, graded):
    for mode, score in {"exact": exact, "f1": f1, "graded": graded}.items():
        assert ToolCalls(mode=mode).verify(TWO, response).score == pytest.approx(score), mode


def test_calls_before_the_end_of_thoughts_do_not_count():
    assert ToolCalls().verify(TWO, "[h()]</think>[g(), f(a=1, b='x')]").passed
    assert not ToolCalls().verify(TWO, "[g(), f(a=1, b='x')]</think>[h()]").passed


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_the_order_of_calls_and_of_expected_calls_does_not_matter(order, expected_order):
    accepted = [[1, 2], [1], [2, 3], [3, 4]]
    row = {"question": "?", "ground_truth": [{"f": {"a": accepted[index]}} for index in expected_order]}
    calls = ", ".join(f"f(a={(2, 1, 3, 4)[index]})" for index in order)
    assert ToolCalls().verify(row, f"[{calls}]").passed


@given(st.dictionaries(st.text(min_size=1, max_size=4), JSON, max_size=4))
def test_the_expected_call_itself_passes(arguments):
    call = {"name": "f", "arguments": arguments}
    row = {"question": "?", "ground_truth": [call]}
    for response in (json.dumps(call), {"role": "assistant", "content": None, "tool_calls": [{"function": call}]}):
        assert ToolCalls().verify(row, response).passed


@given(JSON, JSON)
def test_different_values_never_pass(expected, value):
    passed = (
        ToolCalls()
        .verify(
            {"question": "?", "ground_truth": [{"name": "f", "arguments": {"a": expected}}]},
            json.dumps({"name": "f", "arguments": {"a": value}}),
        )
        .passed
    )
    if passed and not isinstance(expected, str | dict | list):
        assert value == expected
        assert isinstance(value, bool) is isinstance(expected, bool)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=4))
def test_an_assignment_has_the_greatest_sum(weights):
    columns = assign(weights)
    used = [column for column in columns if column is not None]
    assert len(used) == len(set(used)) == min(len(weights), 3)
    padded = [[*row, 0] for row in weights]
    sums = (sum(row[column] for row, column in zip(padded, order, strict=False)) for order in _orders(len(weights)))
    assert sum(row[column] for row, column in zip(weights, columns, strict=True) if column is not None) == max(sums)


def _orders(rows):
    return itertools.permutations(range(4), rows)


@pytest.mark.parametrize(
    "response",
    [
        "[" + ", ".join(["f(a=1, b='x')"] * 2000) + "]",
        "<tool_call>" * 4000,
        '<tool_call>{"name": "f", "arguments": {"a": ' + "[" * 20_000,
        '{"name": "f", "arguments": {"a": ' + "[" * 400 + "]" * 400 + "}}",
        "[f(a=0x" + "f" * 40_000 + ", b='x'), g()]",
        "[f(a=" + "9" * 40_000 + ", b='x'), g()]",
        "f(" * 10_000 + ")" * 10_000,
        '<tool_call>{"name": "f", "arguments": {"a": 1}}' + " " * 1_000_000,
        {"role": "assistant", "content": None, "tool_calls": [5, None, {"function": 7}, {"function": {"name": ["f"]}}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": [1]}}] * 5000},
    ],
    ids=range(10),
)
def test_hostile_responses_fail_in_time(response):
    started = time.process_time()
    verdict = ToolCalls().verify(TWO, response)
    assert verdict.decided
    assert not verdict.passed
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"function": [{"name": "f"}]}, "no expected calls"),
        ({"ground_truth": [{"name": "f", "arguments": "{broken"}]}, "arguments are not JSON"),
        ({"ground_truth": [{"f": {"a": 1}}]}, "not an expected call"),
        ({"ground_truth": [{"name": "f", "arguments": {}}] * 65}, "at most 64"),
        ({"ground_truth": [{"name": "f", "arguments": {}}], "tools": [5.0]}, "a tool has a name"),
        ({"ground_truth": json.loads("[" * 60 + "]" * 60)}, "nested deeper"),
    ],
)
def test_bad_rows_are_declined_with_the_reason(row, reason):
    verdict = ToolCalls().verify({"question": "?", **row}, "[f()]")
    assert verdict.score is None
    assert reason in verdict.reason


def test_the_reason_names_what_is_wrong():
    assert ToolCalls().verify(TWO, "[f(a=2, c=1), g()]").reason == "f: a is 2, b is missing, c is not expected"
    assert ToolCalls().verify(TWO, "[f(a=1, b='x')]").reason == "no call of g"
    assert ToolCalls().verify(TWO, "no call").reason == "no calls where 2 are expected"
