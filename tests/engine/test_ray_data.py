"""A Ray Data dataset is scored as a stream of blocks, with failures as statuses."""

import json

import pytest
from pyarrow.parquet import read_table

from plaudit.engine import score_ray_dataset
from plaudit.errors import InvalidSettings
from tests.engine.contract_rewards import Rank, length_or_hang


@pytest.fixture
def ray_data(local_ray):
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray.data


def test_a_folder_of_files_comes_back_with_rewards_beside_its_columns(ray_data, tmp_path):
    for number in range(2):
        lines = [{"question": "p", "completion": "x" * size, "row": [number, size]} for size in range(4)]
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    scored = score_ray_dataset(length_or_hang, ray_data.read_json(str(tmp_path), concurrency=1), workers=1)
    scored.write_parquet(str(tmp_path / "scored"), concurrency=1)
    rows = read_table(tmp_path / "scored").to_pylist()
    assert {tuple(row["row"]): row["reward"] for row in rows} == {
        (number, size): size / 10 for number in range(2) for size in range(4)
    }
    assert {row["status"] for row in rows} == {"ok"}
    assert json.loads(rows[0]["reward_output"])["reward"] == rows[0]["reward"]


def test_a_sample_that_hangs_or_holds_no_response_costs_itself_alone(ray_data):
    rows = [{"prompt": "p", "response": response} for response in ("a", "hang", None, "abc")]
    dataset = score_ray_dataset(length_or_hang, ray_data.from_items(rows), workers=1, deadline_s=0.5)
    taken = {row["response"]: row for row in dataset.take_all()}
    assert [taken[response]["status"] for response in ("a", "hang", None, "abc")] == ["ok", "timeout", "error", "ok"]
    assert [taken[response]["reward"] for response in ("a", "hang", None, "abc")] == [0.1, None, None, 0.3]
    assert "deadline of 0.5 s" in taken["hang"]["reason"]


def test_rewards_that_need_whole_groups_are_refused_with_the_remedy(ray_data):
    with pytest.raises(InvalidSettings, match="use score_dataset"):
        score_ray_dataset(Rank(), ray_data.from_items([{"prompt": "p", "response": "r"}]))


def test_a_column_that_would_be_overwritten_is_named(ray_data):
    with pytest.raises(InvalidSettings, match="column 'reward' already"):
        score_ray_dataset(length_or_hang, ray_data.from_items([{"prompt": "p", "response": "r", "reward": 1.0}]))
