"""A scored file is only continued with what it was made with."""

import pytest

from plaudit.errors import RolloutsError
from plaudit.rollouts import RunRecord, record_path

RECORD = RunRecord("MathReward()", "0123abcd", {"columns": ["response=text"]})


def test_a_record_comes_back_equal_and_lies_beside_its_file(tmp_path):
    path = record_path(tmp_path / "out.jsonl")
    assert path.name == "out.jsonl.run.json"
    RECORD.write(path)
    assert RunRecord.read(path) == RECORD
    RECORD.check(path, "out.jsonl")


def test_without_a_record_nothing_is_compared(tmp_path):
    RECORD.check(tmp_path / "none.run.json", "out.jsonl")


OTHERS = {
    "reward": (
        RunRecord("LengthReward()", "0123abcd", RECORD.options),
        r"out.jsonl was made with MathReward\(\), and this is LengthReward\(\); write to another place, or delete",
    ),
    "key": (RunRecord("MathReward()", "ffff", RECORD.options), "of the key 0123abcd, and this one has the key ffff"),
    "option": (
        RunRecord("MathReward()", "0123abcd", {"columns": []}),
        r"columns \['response=text'\], and this is columns \[\]",
    ),
    "new option": (
        RunRecord("MathReward()", "0123abcd", {**RECORD.options, "where": "a=1"}),
        "where None, and this is",
    ),
}


@pytest.mark.parametrize(("record", "message"), OTHERS.values(), ids=OTHERS)
def test_a_record_of_something_else_is_an_error_that_names_both(record, message, tmp_path):
    path = tmp_path / "out.jsonl.run.json"
    RECORD.write(path)
    with pytest.raises(RolloutsError, match=message):
        record.check(path, "out.jsonl")


def test_a_record_that_is_none_is_an_error(tmp_path):
    path = tmp_path / "out.jsonl.run.json"
    path.write_text("[]")
    with pytest.raises(RolloutsError, match="cannot be read as the record of a run"):
        RECORD.check(path, "out.jsonl")
