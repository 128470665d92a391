import gzip
import io
import json
import tracemalloc

import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.rollouts import BadLine, Rollout, RolloutsWriter, read_rollouts

DEEP = b"[" * 100_000 + b"]" * 100_000
GOOD = b'{"prompt":"p","response":"r"}\n'


@pytest.fixture
def data(tmp_path):
    """Writes bytes to data.jsonl."""

    def write(content, name="data.jsonl"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


BAD = {
    "broken JSON": (b'{"prompt": nope}\n', "broken JSON: "),
    "truncated in the middle of the file": (b'{"prompt": "p", "resp\n', "broken JSON: the line ends in the middle"),
    "indented document": (b"{\n", "one object per line"),
    "list": (b"[1, 2]\n", "expected a JSON object with prompt and response, got a list"),
    "null": (b"null\n", "got null"),
    "number": (b"12\n", "got a number 12"),
    "missing column": (b'{"prompt":"p","text":"t"}\n', "no 'response' column"),
    "response is a number": (b'{"prompt":"p","response":4}\n', "response must be text, got int 4"),
    "response is null": (b'{"prompt":"p","response":null}\n', "response must be text, got NoneType"),
    "prompt is an object": (b'{"prompt":{"a":1},"response":"r"}\n', "prompt must be text or a list of chat messages"),
    "metadata is text": (b'{"prompt":"p","response":"r","metadata":"m"}\n', "metadata must be a dict"),
    "id is a list": (b'{"prompt":"p","response":"r","id":[1]}\n', "id must be text or a whole number"),
    "task is a number": (b'{"prompt":"p","response":"r","task":1}\n', "task must be text, got int 1"),
    "step is text": (b'{"prompt":"p","response":"r","training_step":"1"}\n', "training_step must be a whole number"),
    "tokens are wrong": (b'{"prompt":"p","response":"r","tokens":{"ids":["a"]}}\n', "tokens or steps: "),
    "output is text": (b'{"prompt":"p","response":"r","reward_output":"x"}\n', "reward_output must be an object"),
    "output is wrong": (b'{"prompt":"p","response":"r","reward_output":{"reward":"x"}}\n', "not a reward output"),
    "NaN": (b'{"prompt":"p","response":"r","score":NaN}\n', "broken JSON: "),
    "number out of range": (b'{"prompt":"\\ud800","response":"r","x":1e999}\n', "out of range"),
    "latin-1": (b'{"prompt":"caf\xe9","response":"r"}\n', "not UTF-8: byte 0xe9"),
    "latin-1 beside a surrogate": (b'{"prompt":"caf\xe9\\ud800","response":"r"}\n', "not UTF-8: byte 0xe9"),
    "nested too deeply": (b'{"prompt":"p","response":"r","x":' + DEEP + b"}\n", "nested too"),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_a_bad_line_is_an_error_that_names_file_and_line(data, line, message):
    path = data(GOOD + b"\n" + line + GOOD)
    with pytest.raises(RolloutsError) as caught:
        list(read_rollouts(path))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_a_bad_line_is_left_out_and_noted_on_request(data, line, message):
    reader = read_rollouts(data(GOOD + line + GOOD), skip_bad=True)
    assert len(list(reader)) == 2
    assert (reader.bad_count, [bad.line for bad in reader.bad]) == (1, [2])
    assert message in reader.bad[0].reason


def test_a_whole_file_of_bad_lines_is_an_error_even_when_skipping(data):
    with pytest.raises(RolloutsError, match="holds no rollouts: 150 bad lines, the first 1: broken JSON"):
        list(read_rollouts(data(b"nope\n" * 150), skip_bad=True))


def test_only_the_first_hundred_bad_lines_are_kept_and_all_are_counted(data):
    reader = read_rollouts(data(b"nope\n" * 150 + GOOD), skip_bad=True)
    assert len(list(reader)) == 1
    assert (len(reader.bad), reader.bad_count) == (100, 150)


def test_reading_twice_counts_bad_lines_once(data):
    reader = read_rollouts(data(GOOD + b"nope\n"), skip_bad=True)
    assert list(reader) == list(reader)
    assert reader.bad_count == 1


def test_duplicate_ids_name_both_lines(data):
    row = b'{"prompt":"p","response":"r","id":"x"}\n'
    with pytest.raises(RolloutsError, match=r":3: the id 'x' occurs on line 1 already.*--columns group=id"):
        list(read_rollouts(data(row + GOOD + row)))


def test_a_duplicate_id_is_left_out_when_skipping(data):
    row = b'{"prompt":"p","response":"r","id":1}\n'
    reader = read_rollouts(data(row + row), skip_bad=True)
    assert len(list(reader)) == 1
    assert isinstance(reader.bad[0], BadLine)


def test_the_same_id_at_another_training_step_is_no_duplicate(data):
    rows = b"".join(b'{"prompt":"p","response":"r","id":1,"training_step":%d}\n' % step for step in range(3))
    assert len(list(read_rollouts(data(rows)))) == 3


def test_ids_one_and_text_one_are_different(data):
    rows = b'{"prompt":"p","response":"r","id":1}\n{"prompt":"p","response":"r","id":"1"}\n'
    assert len(list(read_rollouts(data(rows)))) == 2


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \r\n", b"\xef\xbb\xbf"], ids=["empty", "blank", "crlf", "bom"])
def test_a_file_without_rollouts_is_an_error(data, content):
    with pytest.raises(RolloutsError, match=r"data\.jsonl holds no rollouts"):
        list(read_rollouts(data(content)))


def test_a_missing_file_is_an_error_with_the_nearest_name(data):
    path = data(GOOD, "rollouts.jsonl")
    with pytest.raises(RolloutsError, match=r"no file .*rolouts\.jsonl; did you mean 'rollouts\.jsonl'"):
        read_rollouts(path.with_name("rolouts.jsonl"))


def test_a_missing_folder_is_an_error_too(tmp_path):
    with pytest.raises(RolloutsError, match="no file "):
        read_rollouts(tmp_path / "nowhere" / "data.jsonl")


def test_a_folder_is_an_error_that_names_a_file_in_it(data):
    path = data(GOOD)
    with pytest.raises(RolloutsError, match=r"is a folder; name one file in it, such as .*data\.jsonl"):
        read_rollouts(path.parent)


@pytest.mark.parametrize("name", ["data.json", "data.tsv", "data"])
def test_an_unknown_suffix_is_an_error_with_the_known_ones(data, name):
    with pytest.raises(RolloutsError, match=r"rollouts files end in \.jsonl, \.jsonl\.gz, \.parquet or \.csv"):
        read_rollouts(data(GOOD, name))


def test_utf16_is_an_error_with_the_reason(data):
    with pytest.raises(RolloutsError, match="UTF-16; save the file as UTF-8"):
        list(read_rollouts(data(GOOD.decode().encode("utf-16"))))


def test_a_wrong_column_option_is_an_error_before_reading(data):
    with pytest.raises(InvalidSettings, match="no field named"):
        read_rollouts(data(GOOD), columns={"completion": "text"})


def test_byte_order_mark_crlf_and_blank_lines_are_fine(data):
    content = b"\xef\xbb\xbf" + b"\r\n".join([GOOD.strip(), b"", b"  ", GOOD.strip(), b""])
    assert list(read_rollouts(data(content))) == [Rollout(Trajectory("p", "r"))] * 2


def test_a_last_line_without_newline_is_read(data):
    reader = read_rollouts(data(GOOD + GOOD.strip()))
    assert len(list(reader)) == 2
    assert not reader.torn
    assert reader.note == ""


WHOLE = json.dumps({"prompt": "é😀", "response": '\ud83d \\ "', "x": [1.5e-7, True, None, {}]}, ensure_ascii=False)
WHOLE_BYTES = WHOLE.encode("utf-8", "replace")
ESCAPED = json.dumps({"prompt": "é", "response": '\ud83d \\ "', "x": [-1.5e-7, False, None, {}]}).encode()


@pytest.mark.parametrize("line", [WHOLE_BYTES, ESCAPED], ids=["utf-8", "escaped"])
def test_a_last_line_cut_off_at_any_byte_is_torn_and_no_error(data, line):
    for cut in range(1, len(line)):
        reader = read_rollouts(data(GOOD + line[:cut]))
        assert len(list(reader)) == 1, line[:cut]
        assert reader.torn, line[:cut]
    assert "ends in half a line" in reader.note


@pytest.mark.parametrize("tail", [b"nope", b'{"a" 1', b'{"a":\xff', b"[1, 2", b"\0\0\0"])
def test_a_last_line_broken_otherwise_is_an_error(data, tail):
    with pytest.raises(RolloutsError, match=":2: broken JSON"):
        list(read_rollouts(data(GOOD + tail)))


def test_a_file_of_half_a_line_holds_no_rollouts(data):
    with pytest.raises(RolloutsError, match="holds no rollouts, only the beginning of one"):
        list(read_rollouts(data(GOOD[:10])))


def test_a_ten_megabyte_response_and_lone_surrogates_are_fine(tmp_path):
    path = tmp_path / "big.jsonl"
    rollouts = [
        Rollout(Trajectory("p", "x" * 10_000_000)),
        Rollout(Trajectory("\ud800", "\udfff", columns={"\ud800": 1})),
    ]
    with RolloutsWriter(path) as writer:
        for rollout in rollouts:
            writer.write(rollout)
    assert list(read_rollouts(path)) == rollouts


def test_a_stream_is_read_and_left_open():
    stream = io.BytesIO(GOOD * 2)
    assert len(list(read_rollouts(stream))) == 2
    assert not stream.closed


def test_errors_in_a_stream_name_it():
    with pytest.raises(RolloutsError, match=r"^<stream>:1: "):
        list(read_rollouts(io.BytesIO(b"nope\n")))


def test_columns_are_mapped_while_reading(data):
    content = b'{"question":"q","text":"t","answer":18,"extra":{"a":[1]}}\n'
    (rollout,) = read_rollouts(data(content), columns={"response": "text"})
    assert rollout == Rollout(Trajectory("q", "t", ground_truth=18, columns={"extra": {"a": [1]}}))


def test_gzip_is_read_whatever_its_members(data):
    content = (
        gzip.compress(GOOD + GOOD[:9])
        + gzip.compress(GOOD[9:])
        + b"\0" * 100
        + gzip.compress(b"")
        + gzip.compress(GOOD)
    )
    assert len(list(read_rollouts(data(content, "data.jsonl.gz")))) == 3


def test_broken_gzip_is_an_error(data):
    content = bytearray(gzip.compress(GOOD * 1000, compresslevel=0))
    content[5000:5100] = b"\xff" * 100
    with pytest.raises(RolloutsError, match=r"data\.gz: the gzip data is broken after line|data\.gz:\d+: "):
        list(read_rollouts(data(bytes(content), "data.gz")))


def test_a_file_that_is_no_gzip_is_an_error(data):
    with pytest.raises(RolloutsError, match="the gzip data is broken after line 0"):
        list(read_rollouts(data(GOOD, "data.jsonl.gz")))


@pytest.mark.parametrize("name", ["big.jsonl", "big.jsonl.gz"])
def test_reading_a_big_file_keeps_one_line_at_a_time(tmp_path, name):
    path = tmp_path / name
    with RolloutsWriter(path) as writer:
        for number in range(1_000):
            writer.write(Rollout(Trajectory("p" * 10_000, f"{number}" * 3_000)))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_rollouts(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1_000
    assert peak < 2_000_000  # the lines together are nineteen million bytes
