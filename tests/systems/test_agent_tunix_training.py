"""Document 003: a reward of one's own on the command line, `log_rewards` and `save_reward_analysis`."""

import json
import sys
from collections.abc import Callable

import pytest

from plaudit.cli import main

SMALL = [
    "steps=2", "sampling.prompts_per_step=4", "sampling.samples_per_prompt=4", "model.warm_start_steps=2",
    "eval.prompts=4", "training.reward_workers=1", "logging.report=false",
]  # fmt: skip
REWARD = '''
def custom_reward_function(response: str, prompt: str, metadata: dict) -> float:
    """The share of digits that rise."""
    digits = [each for each in response if each.isdigit()]
    return sum(a <= b for a, b in zip(digits, digits[1:])) / 3
'''


@pytest.fixture
def plaudit_train(tmp_path, monkeypatch) -> Callable[..., None]:
    """The command in a folder that holds the reward; it must succeed."""
    (tmp_path / "my_rewards.py").write_text(REWARD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "my_rewards", None)  # which puts back at the end what was there before
    del sys.modules["my_rewards"]

    def run(*arguments: str) -> None:
        with pytest.raises(SystemExit) as exited:
            main(["train", *SMALL, *arguments])
        assert exited.value.code == 0

    return run


def test_the_commands_of_the_document_train_and_tell_of_rewards(plaudit_train, tmp_path, capfd):
    (tmp_path / "default.yaml").write_text("training:\n  reward_function: my_rewards.custom_reward_function\n")
    plaudit_train("default.yaml", "output_dir=run", "training.log_rewards=true", "training.save_reward_analysis=true")
    told = capfd.readouterr().err
    for step in (1, 2):
        assert f"step {step}: rewards of 16 samples: " in told
    analysis = json.loads((tmp_path / "run" / "reward_analysis.json").read_text())
    assert {"high", "low", "failures"} <= analysis["patterns"].keys()
    assert {"skewness", "std"} <= analysis["summary"]["reward"].keys()
    assert analysis["summary"]["count"] == 32
    text = (tmp_path / "run" / "reward_analysis.txt").read_text()
    assert "Reward analysis" in text
    assert "variance" in text


def test_the_reward_of_the_command_line_is_taken_with_a_leading_plus(plaudit_train, capfd):
    plaudit_train("+training.reward_function=my_rewards.custom_reward_function", "--print-config")
    assert "reward_function: my_rewards.custom_reward_function" in capfd.readouterr().out
