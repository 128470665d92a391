"""A run that requires a lock stops before its model is loaded, with what changed."""

import pytest

from plaudit.ci import read_project, write_lock
from plaudit.errors import InvalidSettings
from plaudit.training.config.reading import load_config
from plaudit.training.inputs import read_inputs
from tests.ci.projects import PYPROJECT, REWARD, write_project


def test_a_run_requires_the_locked_reward_and_data(tmp_path, monkeypatch):
    rows = "".join(f'{{"prompt": "{n} + 1?", "ground_truth": "{n + 1}"}}\n' for n in range(20))
    config = "training: {reward_function: reward.py:quality, reward_lock: reward.lock}\nmodel: {warm_start_steps: 0}\n"
    files = {"prompts__jsonl": rows, "pyproject__toml": f'{PYPROJECT}data = ["prompts.jsonl"]\n', "train__yaml": config}
    folder = write_project(tmp_path / "project", **files)
    write_lock(read_project(folder))
    monkeypatch.chdir(tmp_path)  # the lock and the reward are looked for beside the config
    settings = load_config(folder / "train.yaml", [f"data.path={folder}/prompts.jsonl"])
    read_inputs(settings)
    (folder / "prompts.jsonl").write_text(rows + rows)
    with pytest.raises(InvalidSettings, match="no data with the content of"):
        read_inputs(settings)
    (folder / "reward.py").write_text(REWARD.replace("0.0", "0.1"))
    with pytest.raises(InvalidSettings, match=r"file reward\.py changed; undo the change, or check the reward"):
        read_inputs(settings)
