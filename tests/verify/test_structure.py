import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.errors import InvalidSettings
from plaudit.verify.structured.form import check_code, check_json, check_markdown, check_schema, check_xml

SCHEMA = {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}
BOMB = '<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'


@pytest.mark.parametrize("response", ['{"a": 1}', "[1]", '```json\n{"a": 1}\n```', '<think>hm</think>{"a": 1}'])
def test_json_alone_or_in_one_fence_is_json(response):
    assert check_json(response).ok


@pytest.mark.parametrize(
    "response",
    [
        "",
        "{}",
        "[]",
        "4",
        '"text"',
        'Here: {"a": 1}',
        '{"a": NaN}',
        '{"a": 1}{"b": 2}',
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_what_a_program_cannot_read_or_holds_nothing_is_not_json(response):
    assert not check_json(response).ok


def test_a_schema_decides_and_the_reason_names_the_place():
    assert check_json('{"answer": 4}', SCHEMA).ok
    finding = check_json('{"answer": "four"}', SCHEMA)
    assert not finding.ok
    assert "/answer" in finding.reason


@pytest.mark.parametrize("response", ['{"answer": "\\ud800"}', "[" * 900 + "]" * 900, '{"answer": 1e999}'])
def test_json_that_the_validator_cannot_hold_does_not_fit_the_schema(response):
    assert not check_json(response, SCHEMA).ok


@pytest.mark.parametrize(
    "schema",
    [{"type": "objekt"}, {"pattern": "("}, {"$ref": "http://example.com/a.json"}, {"$ref": "file:///etc/passwd"}],
)
def test_a_broken_or_outside_schema_is_refused_when_built(schema):
    with pytest.raises(InvalidSettings, match="JSON Schema"):
        check_schema(schema)


@pytest.mark.parametrize("response", ["<a>x</a>", "<a><b>1</b></a>", "```xml\n<a>x</a>\n```"])
def test_one_element_with_text_is_xml(response):
    assert check_xml(response).ok


@pytest.mark.parametrize(
    "response", ["", "<a>", "<a></a>", "<a> </a>", "text <a>x</a>", BOMB, "<a>\x00</a>", "<a>\ud800</a>"]
)
def test_broken_empty_and_dangerous_xml_is_refused(response):
    assert not check_xml(response).ok


def test_required_tags_must_hold_text():
    assert check_xml("<r><a><b>1</b></a></r>", ["a", "b"]).ok
    assert not check_xml("<r><a/>x</r>", ["a"]).ok
    assert not check_xml("<r>x</r>", ["a"]).ok


@pytest.mark.parametrize("response", ["# Title\ntext", "- one\n- two", "|a|b|\n|---|---|\n|1|2|", "```\ncode\n```"])
def test_markdown_structure_is_recognised(response):
    assert check_markdown(response).ok


@pytest.mark.parametrize("response", ["", "plain text", "# Title", "- one", "- one\n- one", "```\n```", "# \n- \n- "])
def test_plain_or_empty_markdown_is_none(response):
    assert not check_markdown(response).ok


def test_required_headings_must_hold_text():
    assert check_markdown("## Plan\nadd\n## Result\n4", ["plan", "Result"]).ok
    assert not check_markdown("## Plan\n## Result\n4", ["Plan"]).ok


def test_a_code_block_must_be_closed_filled_and_of_the_language():
    assert check_code("```python\nx = 1\n```", "Python").ok
    assert check_code("text\n~~~\nx = 1\n~~~").ok
    assert not check_code("```js\nx\n```", "python").ok
    assert not check_code("```python\nx = 1").ok
    assert not check_code("```python\n\n```").ok
    assert not check_code("x = 1").ok


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_checked(text):
    for check in (check_json, check_xml, check_markdown, check_code):
        assert check(text).reason
        assert check(f"```json\n{text}\n```").reason


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, min_size=1), max_leaves=20
    )
)
def test_written_json_is_json(value):
    assert check_json(json.dumps([value])).ok
