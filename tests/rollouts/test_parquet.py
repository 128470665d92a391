import datetime
import decimal
import os
import sys
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plaudit import RewardOutput, Trajectory
from plaudit.errors import MissingPackage, RolloutsError
from plaudit.rollouts import Rollout, RolloutsWriter, read_completed, read_rollouts
from plaudit.rollouts.parquet import ParquetSource, write_parquet
from tests.rollouts.test_rollout import OUTPUTS, TRAJECTORIES


def write(path, rollouts):
    with RolloutsWriter(path, overwrite=True) as writer:
        for rollout in rollouts:
            writer.write(rollout)


def is_unicode(text):
    return text.encode("utf-8", "ignore").decode() == text


PARQUET_TRAJECTORIES = TRAJECTORIES.filter(lambda trajectory: all(map(is_unicode, trajectory.columns)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.builds(Rollout, PARQUET_TRAJECTORIES, OUTPUTS), min_size=1, max_size=4))
def test_any_rollouts_come_back_equal_from_parquet(tmp_path, rows):
    path = tmp_path / "out.parquet"
    plain = [row.to_dict() for row in rows]
    write_parquet(lambda: iter(plain), str(path))
    source = ParquetSource(path)
    assert [source.decode(raw) for _, raw in source.raw_rows()] == plain


def test_rollouts_written_to_parquet_are_read(tmp_path):
    rollouts = [
        Rollout(Trajectory("p", "r", ground_truth=1, id=1, columns={"x": None}), RewardOutput(0.5)),
        Rollout(Trajectory([{"role": "user", "content": "q"}], "\ud800", ground_truth=[1.0], columns={"y": 2**70})),
        Rollout(Trajectory("p", "r", metadata={"a": {"b": [1, 1.0, None]}}, columns={"y": 1, "x": "text"})),
    ]
    write(tmp_path / "out.parquet", rollouts)
    assert list(read_rollouts(tmp_path / "out.parquet")) == rollouts
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_plain_columns_have_plain_types_for_other_readers(tmp_path):
    path = tmp_path / "out.parquet"
    write(path, [Rollout(Trajectory("p", "r", id=1, columns={"w": 0.5, "f": True, "n": {"a": 1}}))])
    types = {field.name: str(field.type) for field in pq.read_schema(path)}
    assert types == {"prompt": "string", "response": "string", "id": "int64", "w": "double", "f": "bool", "n": "string"}


def test_foreign_parquet_is_read_naturally(tmp_path):
    path = tmp_path / "data.parquet"
    day = datetime.datetime(2026, 5, 1, 12, 30)
    rows = [
        {
            "prompt": [{"role": "user", "content": "q"}],
            "completion": "r",
            "reward_model": {"ground_truth": "4", "style": "rule"},
            "when": day,
            "price": decimal.Decimal("1.50"),
            "raw": b"\xff",
            "loss": float("nan"),
            "scores": [1, 2],
        },
        {"prompt": [{"role": "user", "content": "q2"}], "completion": "r2"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = read_rollouts(path)
    assert first.trajectory == Trajectory(
        [{"role": "user", "content": "q"}],
        "r",
        ground_truth="4",
        columns={
            "reward_model": {"ground_truth": "4", "style": "rule"},
            "when": "2026-05-01T12:30:00",
            "price": "1.50",
            "raw": "/w==",
            "loss": None,
            "scores": [1, 2],
        },
    )
    assert second.trajectory.columns["scores"] is None
    first.to_line()


def test_a_bad_row_names_file_and_row(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"prompt": ["p", "p"], "response": ["r", None]}), path)
    with pytest.raises(RolloutsError, match=r"data\.parquet:2: response must be text, got NoneType"):
        list(read_rollouts(path))


def test_a_file_that_is_no_parquet_is_an_error(tmp_path):
    (tmp_path / "data.parquet").write_text("hello")
    with pytest.raises(RolloutsError, match="not readable as Parquet"):
        list(read_rollouts(tmp_path / "data.parquet"))


def test_parquet_without_rows_holds_no_rollouts(tmp_path):
    write(tmp_path / "out.parquet", [])
    with pytest.raises(RolloutsError, match="holds no rollouts"):
        list(read_rollouts(tmp_path / "out.parquet"))


@pytest.mark.parametrize("mode", ["append", "resume"])
def test_nothing_can_be_added_to_parquet(tmp_path, mode):
    with pytest.raises(RolloutsError, match=r"write out\.jsonl, which can be continued"):
        RolloutsWriter(tmp_path / "out.parquet", mode=mode)


def test_resuming_parquet_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(RolloutsError, match=r"resume needs \.jsonl"):
        read_completed(tmp_path / "out.parquet")


def test_an_interrupted_parquet_file_does_not_appear_and_its_lines_are_kept(tmp_path):
    path = tmp_path / "out.parquet"
    rollout = Rollout(Trajectory("p", "r"))
    with suppress(KeyboardInterrupt), RolloutsWriter(path) as writer:
        writer.write(rollout)
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["out.parquet.partial.jsonl"]
    assert list(read_rollouts(tmp_path / "out.parquet.partial.jsonl")) == [rollout]


def test_a_column_name_that_parquet_cannot_hold_is_an_error(tmp_path):
    writer = RolloutsWriter(tmp_path / "out.parquet")
    writer.write(Rollout(Trajectory("p", "r", columns={"\ud800": 1})))
    with pytest.raises(RolloutsError, match=r"a Parquet column cannot be called '\\ud800'; write \.jsonl instead"):
        writer.close()


@pytest.mark.parametrize("act", [RolloutsWriter, read_rollouts], ids=["writing", "reading"])
def test_parquet_without_pyarrow_names_the_package_to_install(tmp_path, monkeypatch, act):
    path = tmp_path / "data.parquet"
    if act is read_rollouts:
        path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match=r"pip install 'plaudit\[parquet\]'"):
        act(path)
