import pytest

from plaudit import jsonline


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        (b'{"a": 1, ', jsonline.TruncatedJSON, "ends in the middle"),
        (b'{"a": "\\ud800', jsonline.TruncatedJSON, "ends in the middle"),
        (b'{"a": "\\ud800"} x', jsonline.InvalidJSON, "Extra data"),
        (b"{broken", jsonline.InvalidJSON, "keys must be strings"),
        (b'{"a": "\xff"}', jsonline.InvalidJSON, "not UTF-8: byte 0xff"),
        (b"NaN", jsonline.InvalidJSON, "invalid character"),
        (b'["\\ud800", NaN]', jsonline.InvalidJSON, "NaN is not JSON"),
        (b"[" * 100_000, jsonline.InvalidJSON, "nested too deeply"),
        (b"1e400", jsonline.InvalidJSON, "out of range"),
    ],
)
def test_broken_json_is_refused_with_the_reason(line, error, message):
    with pytest.raises(error, match=message):
        jsonline.decode(line)


def test_lone_surrogates_survive():
    assert jsonline.decode(jsonline.encode({"a": "\ud800x"})) == {"a": "\ud800x"}


def test_whole_numbers_of_any_size_survive():
    assert jsonline.decode(jsonline.encode([10**100, -(2**70)])) == [10**100, -(2**70)]


def test_a_bottomless_value_is_refused_not_a_crash():
    value: list = []
    value.append(value)
    with pytest.raises(jsonline.NotPlain, match="too deeply"):
        jsonline.encode(value)
