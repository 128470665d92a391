"""Options of whole runs: they survive a restart, and any model can be shown demonstrations."""

import json
import os
import signal

import pytest

from plaudit.errors import InvalidSettings
from plaudit.training import train
from plaudit.training.engine import Progress
from tests.training.runs import curves, small

MANY = (
    "steps=4", "eval.every=0", "eval.prompts=2", "logging.samples=0", "logging.rollouts_every=0", "advantage=gae",
    "loss.kl_beta=0.1", "loss.entropy_bonus=0.01", "loss.sft_weight=0.1", "sampling.min_p=0.01",
    "training.gradient_accumulation=2", "training.normalize_tasks=true",
)  # fmt: skip


class Told(Progress):
    """Counts supervised steps, and asks the run to stop at a step."""

    def __init__(self, stop_at: int = -1) -> None:
        self.warm_steps, self.stop_at = 0, stop_at

    def warm_start(self, step, steps, loss):
        self.warm_steps += 1

    def step(self, step, metrics):
        if step == self.stop_at:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def many_options(tmp_path_factory):
    """A run with many options."""
    return train(small(tmp_path_factory.mktemp("runs") / "many", *MANY))


def test_a_run_with_many_options_is_resumed_to_equal_curves(many_options, tmp_path):
    config = small(tmp_path / "run", *MANY)
    assert train(config, progress=Told(stop_at=2)).step == 2
    assert train(config, resume=True).after == many_options.after
    assert curves(tmp_path / "run") == curves(many_options.folder.path)


def test_any_model_is_shown_demonstrations_before_it_is_trained(many_options, tmp_path):
    shown = tmp_path / "shown.jsonl"
    shown.write_text("".join(json.dumps({"prompt": f"{n}=", "response": "".join(sorted(str(n)))}) + "\n"
                             for n in range(1000, 1050)))  # fmt: skip
    few = ("steps=0", "eval.prompts=2", "logging.samples=0", f"model.path={many_options.folder.model}")
    with pytest.raises(InvalidSettings, match="set one of them"):
        train(small(tmp_path / "run", *few, f"data.demonstrations={shown}", "model.warm_start_steps=0"))
    progress = Told()
    told = [f"data.demonstrations={shown}", "model.warm_start_steps=2", "model.gradient_checkpointing=true"]
    train(small(tmp_path / "run", *few, *told), progress=progress)
    assert progress.warm_steps == 2
    unasked = Told()
    train(small(tmp_path / "other", *few, "model.warm_start_steps=null"), progress=unasked)
    assert unasked.warm_steps == 0
