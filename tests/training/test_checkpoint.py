"""Checkpoints are whole or not there, and the newest stay."""

import pytest
import torch

from plaudit.errors import TrainingError
from plaudit.training.run_folder import Checkpoints
from tests.training.full_disk import disk_full_after


def state(value, size=10):
    return {"weights": {"w": torch.full((size,), float(value))}, "step": value, "before": {"eval/score": 0.5}}


def test_a_loaded_checkpoint_equals_the_saved_one(tmp_path):
    Checkpoints(tmp_path / "checkpoints").save(3, state(3))
    newest = Checkpoints(tmp_path / "checkpoints").newest()
    assert newest is not None
    assert newest.step == 3
    loaded = newest.load()
    assert torch.equal(loaded["weights"]["w"], state(3)["weights"]["w"])
    assert loaded["before"] == {"eval/score": 0.5}


def test_only_the_newest_stay(tmp_path):
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (2, 4, 1_000_000):
        checkpoints.save(step, state(step))
    assert sorted(checkpoint.step for checkpoint in checkpoints.all()) == [4, 1_000_000]
    assert checkpoints.newest().step == 1_000_000


def test_a_full_disk_leaves_the_old_checkpoint_intact(tmp_path):
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.save(1, state(1))
    with (
        disk_full_after(100_000),
        pytest.raises(TrainingError, match=r"step 2 could not be written \(.*File too large\); .* step 1 is intact"),
    ):
        checkpoints.save(2, state(2, size=100_000))
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]
    assert checkpoints.newest().load()["step"] == 1


def test_half_a_checkpoint_is_not_taken_for_one(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(1, state(1))
    (tmp_path / "step-000002.partial").mkdir()
    assert checkpoints.newest().step == 1


def test_a_spoilt_checkpoint_gives_a_remedy(tmp_path):
    saved = Checkpoints(tmp_path).save(1, state(1))
    (saved.path / "state.pt").write_bytes(b"spoilt")
    with pytest.raises(TrainingError, match=r"cannot be read .* remove that folder"):
        saved.load()


def test_a_run_without_checkpoints_has_no_newest(tmp_path):
    assert Checkpoints(tmp_path / "none").newest() is None
