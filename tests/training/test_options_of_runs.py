"""Options that a whole run must carry: what moves survives a restart, and any model can be shown demonstrations."""

import json
import os
import signal

import pytest

from plaudit.errors import InvalidSettings
from plaudit.training import train
from plaudit.training.reporting.progress import NoProgress
from tests.training.runs import curves, metrics, small

MOVING = (
    "steps=4", "eval.every=0", "eval.prompts=2", "logging.samples=0", "logging.rollouts_every=0", "advantage=remax",
    "loss.kl_beta=0.1", "loss.kl_target=0.01", "loss.kl_horizon=50", "loss.reference_every=1",
    "loss.reference_mix=0.5", "loss.entropy_target=4", "loss.sft_weight=0.1", "sampling.min_p=0.01",
    "sampling.repetition_penalty=1.1", "training.max_tokens_per_piece=60",
)  # fmt: skip


class Told(NoProgress):
    """Counts supervised steps, and asks the run to stop at a step."""

    def __init__(self, stop_at: int = -1) -> None:
        self.warm_steps, self.stop_at = 0, stop_at

    def warm_start(self, step, steps, loss):
        self.warm_steps += 1

    def step(self, step, metrics):
        if step == self.stop_at:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    """A run in which everything moves."""
    return train(small(tmp_path_factory.mktemp("runs") / "moving", *MOVING))


def test_a_run_in_which_everything_moves_is_resumed_to_equal_curves(moving, tmp_path):
    config = small(tmp_path / "run", *MOVING)
    assert train(config, progress=Told(stop_at=2)).step == 2
    assert train(config, resume=True).after == moving.after
    assert curves(tmp_path / "run") == curves(moving.folder.path)
    told = metrics(tmp_path / "run")[1:]
    assert len({row["kl/weight"] for row in told}) == 4
    assert told[-1]["entropy/weight"] == pytest.approx(0.015)


def test_any_model_is_shown_demonstrations_before_it_is_trained(moving, tmp_path):
    shown = tmp_path / "shown.jsonl"
    shown.write_text("".join(json.dumps({"prompt": f"{n}=", "response": "".join(sorted(str(n)))}) + "\n"
                             for n in range(1000, 1050)))  # fmt: skip
    few = ("steps=0", "eval.prompts=2", "logging.samples=0", f"model.path={moving.folder.model}")
    with pytest.raises(InvalidSettings, match="set one of them"):
        train(small(tmp_path / "run", *few, f"data.demonstrations={shown}", "model.warm_start_steps=0"))
    progress = Told()
    told = [f"data.demonstrations={shown}", "model.warm_start_steps=2", "model.gradient_checkpointing=true"]
    train(small(tmp_path / "run", *few, *told), progress=progress)
    assert progress.warm_steps == 2
    unasked = Told()
    train(small(tmp_path / "other", *few, "model.warm_start_steps=null"), progress=unasked)
    assert unasked.warm_steps == 0
