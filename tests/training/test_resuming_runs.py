"""A run that was killed or stopped goes on to the same numbers as one that was not."""

import signal
import time

import pytest

from plaudit.errors import TrainingError
from plaudit.training import train
from plaudit.training.run_folder import Checkpoints
from tests.forked import ForkedCommand
from tests.training.runs import SMALL, curves, metrics, rollouts, small

ASYNC = ("training.async_train=true", "training.max_staleness=2", "filter.by=mean", "loss.kl_beta=0.01")
TASKS = (
    "tasks={sort_digits: 2, five: {task: sort_digits, options: {digits: 5}}}",
    "advantage=rloo",
)


def start_training(folder, *options):
    return ForkedCommand(["train", f"output_dir={folder}", *SMALL, *options, "--quiet"])


def wait_for_step(folder, step, process):
    while process.poll() is None:
        if (folder / "metrics.jsonl").exists() and len((folder / "metrics.jsonl").read_bytes().splitlines()) > step:
            return
        time.sleep(0.02)
    raise AssertionError(f"the run ended with {process.returncode} before step {step}")


@pytest.mark.parametrize("options", [(), (*ASYNC, *TASKS)], ids=["in turn", "async, several tasks by a curriculum"])
def test_a_run_that_was_killed_is_resumed_to_equal_curves(tmp_path, options):
    longer = ("steps=8", "checkpoint.every=3", *options)
    train(small(tmp_path / "whole", *longer))
    killed = start_training(tmp_path / "killed", *longer)
    wait_for_step(tmp_path / "killed", 5, killed)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert Checkpoints(tmp_path / "killed" / "checkpoints").newest().step < 8
    train(small(tmp_path / "killed", *longer), resume=True)
    assert curves(tmp_path / "killed") == curves(tmp_path / "whole")
    assert rollouts(tmp_path / "killed") == rollouts(tmp_path / "whole")


def test_sigterm_ends_a_run_with_a_checkpoint_and_its_own_exit_code(tmp_path):
    run = start_training(tmp_path / "run", "steps=10000", "checkpoint.every=0", "eval.every=0")
    wait_for_step(tmp_path / "run", 2, run)
    run.send_signal(signal.SIGTERM)
    assert run.wait() == 128 + signal.SIGTERM
    newest = Checkpoints(tmp_path / "run" / "checkpoints").newest()
    assert newest.step == metrics(tmp_path / "run")[-1]["step"]


def test_a_run_killed_before_its_first_checkpoint_begins_anew(tmp_path):
    config = small(tmp_path / "run", "steps=1", "checkpoint.every=0")
    train(config)
    for checkpoint in Checkpoints(tmp_path / "run" / "checkpoints").all():
        (checkpoint.path / "state.pt").unlink()
        checkpoint.path.rmdir()
    train(config, resume=True)
    assert [row["step"] for row in metrics(tmp_path / "run")] == [0, 1]


def test_resuming_a_run_that_has_ended_changes_nothing(tmp_path):
    config = small(tmp_path / "run", "steps=2")
    first = train(config)
    told = metrics(tmp_path / "run")
    again = train(config, resume=True)
    assert (again.step, again.before, again.after) == (first.step, first.before, first.after)
    assert metrics(tmp_path / "run") == told


def test_resuming_with_another_config_is_refused_and_says_what_differs(tmp_path):
    train(small(tmp_path / "run", "steps=1"))
    with pytest.raises(TrainingError, match=r"not the config .*optimizer.lr: 0.001 → 0.5"):
        train(small(tmp_path / "run", "steps=1", "optimizer.lr=0.5"), resume=True)
    train(small(tmp_path / "run", "steps=1", "checkpoint.keep=5"), resume=True)


def test_a_finished_run_continues_with_more_steps(tmp_path):
    train(small(tmp_path / "run", "steps=2"))
    outcome = train(small(tmp_path / "run", "steps=4"), resume=True)
    assert outcome.step == 4
    assert [row["step"] for row in metrics(tmp_path / "run")] == [0, 1, 2, 3, 4]
    with pytest.raises(TrainingError, match=r"steps=3 is less than the 4 .* longer, not shorter"):
        train(small(tmp_path / "run", "steps=3"), resume=True)


def test_there_must_be_a_run_to_resume(tmp_path):
    with pytest.raises(TrainingError, match=r"there is no run in .* to resume; begin one without --resume"):
        train(small(tmp_path / "run", "steps=1"), resume=True)
    assert not (tmp_path / "run").exists()
