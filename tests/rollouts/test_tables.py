"""Rollouts as tables of Arrow and pandas."""

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.rollouts import Rollout, RolloutsWriter, to_arrow, to_pandas

RUN = [
    Rollout(
        Trajectory("p", "r", ground_truth=["a"], group=1, columns={"level": 3, "reward": "mine"}),
        RewardOutput(0.5, score=1.0, reason="why", components={"form": RewardOutput(0.25)}),
    ),
    Rollout(Trajectory([{"role": "user", "content": "p"}], "r2"), RewardOutput.unscored(Status.TIMEOUT, "slow")),
]


def test_every_value_and_component_has_a_column():
    table = to_arrow(RUN)
    assert table["reward"].to_pylist() == [0.5, None]
    assert table["status"].to_pylist() == ["ok", "timeout"]
    assert table["component/form"].to_pylist() == [0.25, None]
    assert table["level"].to_pylist() == [3, None]
    assert table["column.reward"].to_pylist() == ["mine", None]
    assert table["ground_truth"].to_pylist() == ['["a"]', None]
    assert str(table.schema.field("reward").type) == "double"


def test_a_file_becomes_a_data_frame(tmp_path):
    with RolloutsWriter(tmp_path / "scored.jsonl") as writer:
        for rollout in RUN:
            writer.write(rollout)
    frame = to_pandas(tmp_path / "scored.jsonl")
    assert len(frame) == 2
    assert frame["reward"].mean() == pytest.approx(0.5)


def test_no_rollouts_are_an_empty_table():
    assert to_arrow([]).num_rows == 0
