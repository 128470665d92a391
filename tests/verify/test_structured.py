"""Structured data: field accuracy, weights, order, and texts made to exhaust a parser."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.errors import InvalidSettings
from plaudit.verify import Structured
from plaudit.verify.structured.fields import Comparison, compare_fields, has_path, read_path

DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
BOMB = "\n".join(["a0: &a0 [x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20))])


def share(expected, data, **how):
    fields = compare_fields(expected, data, Comparison(**how))
    return sum(field.is_right for field in fields), len(fields)


@pytest.mark.parametrize(
    ("expected", "data", "right", "fields"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, 1, 2),
        ({"a": 1}, {"a": 1, "b": {"c": 1, "d": 2}}, 1, 3),
        ({"a": {"b": 1}}, {"a": 5}, 0, 2),
        ([1, 2, 3], [1, 3], 1, 3),
        ([], [1], 0, 1),
        ({"a": []}, {"a": {}}, 0, 1),
        ({"a": True}, {"a": 1}, 0, 1),
        ({"a": 1}, {"a": 1.0}, 1, 1),
        (5, 5, 1, 1),
    ],
)
def test_fields_are_the_leaves_of_both_sides(expected, data, right, fields):
    assert share(expected, data) == (right, fields)
    assert share(data, expected) == (right, fields)


@given(DATA)
def test_data_equals_itself_in_every_field(data):
    right, fields = share(data, json.loads(json.dumps(data)))
    assert right == fields >= 1


@given(st.lists(DATA, max_size=5), st.randoms())
def test_lists_in_any_order_are_paired_in_the_best_way(items, chance):
    shuffled = chance.sample(items, len(items))
    right, fields = share(items, shuffled, ordered=False)
    assert right == fields


def test_weights_count_for_all_that_is_below_a_path():
    row = {"ground_truth": {"head": {"a": 1, "b": 2}, "rows": [{"x": 1}, {"x": 2}]}}
    answer = '{"head": {"a": 1, "b": 0}, "rows": [{"x": 1}, {"x": 0}]}'
    assert Structured().verify(row, answer).score == 2 / 4
    assert Structured(weights={"head": 3}).verify(row, answer).score == 4 / 8
    assert Structured(weights={"head": 0, "rows[1].x": 3}).verify(row, answer).score == 1 / 4
    assert Structured(weights={"head": 0, "rows": 0}).verify(row, answer).score is None


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("yaml", BOMB),
        ("yaml", "[" * 100_000),
        ("yaml", "- " * 50_000),
        ("yaml", "".join(f"{' ' * i}a:\n" for i in range(300))),
        ("yaml", "? [a]\n: 1"),
        ("yaml", "a: .nan"),
        ("yaml", "x: 1\n" * 30_000),
        ("json", '{"a":' * 50_000),
        ("json", "[" * 500 + "]" * 500),
        ("json", "9" * 100_000),
        ("toml", "a = " + "[" * 50_000),
        ("toml", "a = inf"),
        ("csv", '"' * 100_001),
        ("csv", "a,b\n" + "1,2,3\n" * 50_000),
        ("xml", "<a>" * 50_000),
        ("xml", "<a>" * 2_000 + "x" + "</a>" * 2_000),
        ("table", "|a|b|\n|-|-|\n" + "|1|\n" * 20_000),
        ("tool_call", "<tool_call>" * 10_000),
        ("json", "x" * 1_000_000),
    ],
)
def test_what_exhausts_a_parser_earns_nothing_in_time(format, text):
    started = time.process_time()
    verdict = Structured(format).verify({"ground_truth": {"a": 1}}, text)
    assert (verdict.score, bool(verdict.reason)) == (0.0, True)
    assert time.process_time() - started < 2


def test_paths_have_keys_indices_and_wildcards():
    data = {"a": [{"b": 1}, {"c": None}], "x.y": 1}
    for path, there in {
        "a[0].b": True,
        "a[1].c": True,
        "a[1].b": False,
        "a[*].c": True,
        "$.a": True,
        "a[2]": False,
    }.items():
        assert has_path(data, read_path(path)) is there, path
    assert [read_path(path) for path in ("", "a..b", "a[", "[x]", "csv::")] == [None] * 5


def test_settings_that_make_no_sense_are_refused():
    for settings in ({"key_paths": ["a..b"]}, {"weights": {"a": -1}}, {"tolerance": -1}, {"format": "html"}):
        with pytest.raises(InvalidSettings):
            Structured(**settings)
