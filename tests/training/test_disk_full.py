"""A run whose disk fills up says what to do, keeps what it had, and goes on when there is room again.

The disk is a limit on the size of any file that the run writes (RLIMIT_FSIZE), which needs no rights and holds for root
too. It is set by the reward, which runs in the process of the run, as soon as the first checkpoint is there.
"""

import pytest

from plaudit.errors import TrainingError
from plaudit.training import train
from plaudit.training.run_folder import Checkpoints
from tests.forked import ForkedCommand
from tests.training.full_disk import disk_full_after
from tests.training.runs import SMALL, curves, metrics, rollouts, small

REWARD = """
import os
import resource
from pathlib import Path


def sorts(response: str) -> float:
    run = os.environ.get("RUN_THAT_RUNS_OUT_OF_ROOM")
    if run and Path(run, "checkpoints", "step-000002").exists():
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["ROOM"]), hard))
    return len(set(response)) / 10 + len(response) / 100  # differs within nearly any group
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Overrides of a run with that reward."""
    path = tmp_path_factory.mktemp("reward") / "sorts.py"
    path.write_text(REWARD)
    return (f"training.reward_function={path}:sorts", "training.reward_backend=inline")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, told):
    """The folder of a run that always had room."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    train(small(folder, *told))
    return folder


def run_out_of_room(folder, *told, room):
    """`plaudit train` in a process of its own, in which no file gets longer than `room` after the first checkpoint."""
    environment = {"RUN_THAT_RUNS_OUT_OF_ROOM": str(folder), "ROOM": str(room)}
    command = ForkedCommand(["train", f"output_dir={folder}", *SMALL, *told], environment)
    assert command.wait() == 2, command.err
    return " ".join(command.err.split())  # without the line breaks of the terminal


CASES = {
    "no room for weights": (
        1_000_000,
        6,
        ("the checkpoint of step 4 could not be written", "training continues", "the one of step 2 is intact"),
    ),
    "no room for anything": (1, 2, ("the run stopped:", "File too large", "--resume continues it")),
}


@pytest.mark.parametrize(("room", "last_step", "messages"), CASES.values(), ids=CASES)
def test_a_full_disk_costs_no_checkpoint_and_the_run_is_resumed_to_equal_curves(
    tmp_path, told, whole, room, last_step, messages
):
    folder = tmp_path / "run"
    said = run_out_of_room(folder, *told, room=room)
    assert [message for message in messages if message not in said] == []
    assert metrics(folder)[-1]["step"] == last_step
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["step-000002"]
    assert Checkpoints(folder / "checkpoints").newest().step == 2
    assert (folder / "model" / "model.safetensors").exists() == (last_step == 6)  # what was learnt is not lost
    train(small(folder, *told), resume=True)
    assert curves(folder) == curves(whole)
    assert rollouts(folder) == rollouts(whole)
    assert (folder / "model" / "model.safetensors").exists()


def test_a_model_that_did_not_fit_on_the_disk_is_written_by_a_resumed_run(tmp_path):
    config = small(tmp_path / "run", "steps=2", "model.warm_start_steps=1", "eval.prompts=2")
    train(config)
    model = tmp_path / "run" / "model" / "model.safetensors"
    model.unlink()
    with (
        disk_full_after(100_000),
        pytest.raises(TrainingError, match=r"the run stopped: .*File too large.*--resume continues it"),
    ):
        train(config, resume=True)
    assert not model.exists()
    train(config, resume=True)
    assert model.stat().st_size > 100_000
