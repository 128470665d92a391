"""Document 003: a reward of one's own on the command line, `log_rewards` and `save_reward_analysis`."""

import json
import os
import subprocess
import sys

SMALL = [
    "steps=3", "sampling.prompts_per_step=4", "sampling.samples_per_prompt=4", "model.warm_start_steps=15",
    "eval.prompts=4", "training.reward_workers=1",
]  # fmt: skip
REWARD = '''
def custom_reward_function(response: str, prompt: str, metadata: dict) -> float:
    """The share of digits that rise."""
    digits = [each for each in response if each.isdigit()]
    return sum(a <= b for a, b in zip(digits, digits[1:])) / 3
'''


def plaudit_train(folder, *arguments):
    command = [sys.executable, "-m", "plaudit", "train", *SMALL, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def test_the_commands_of_the_document_train_and_tell_of_rewards(tmp_path):
    (tmp_path / "my_rewards.py").write_text(REWARD)
    (tmp_path / "default.yaml").write_text("training:\n  reward_function: my_rewards.custom_reward_function\n")
    done = plaudit_train(
        tmp_path, "default.yaml", "output_dir=run", "training.log_rewards=true", "training.save_reward_analysis=true"
    )
    assert done.returncode == 0, done.stderr
    for step in (1, 2, 3):
        assert f"step {step}: rewards of 16 samples: " in done.stderr
    analysis = json.loads((tmp_path / "run" / "reward_analysis.json").read_text())
    assert {"skewness", "variance", "high", "low", "failures"} <= analysis.keys()
    assert analysis["summary"]["count"] == 48
    assert "Reward analysis" in (tmp_path / "run" / "reward_analysis.txt").read_text()


def test_the_reward_of_the_command_line_is_taken_with_a_leading_plus(tmp_path):
    (tmp_path / "my_rewards.py").write_text(REWARD)
    done = plaudit_train(tmp_path, "+training.reward_function=my_rewards.custom_reward_function", "--print-config")
    assert done.returncode == 0, done.stderr
    assert "reward_function: my_rewards.custom_reward_function" in done.stdout
