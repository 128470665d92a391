"""The recipes in examples/ are what a person starts from: they read, their data fit, and their rewards judge."""

import json
import re
from pathlib import Path

import pytest

from plaudit import Trajectory, load, score
from plaudit.cli import main
from plaudit.training import load_config
from plaudit.training.data.config_task import load_task
from tests.training.runs import metrics

ROOT = Path(__file__).parents[2]
RECIPES = sorted(path.parent.name for path in (ROOT / "examples" / "recipes").glob("*/config.yaml"))
SHORT = ("steps=2", "sampling.prompts_per_step=2", "sampling.samples_per_prompt=4", "model.warm_start_steps=2",
         "eval.prompts=2", "eval.every=0", "checkpoint.every=0", "logging.samples=0",
         "logging.report=false")  # fmt: skip
FENCE = "`" * 3
RESPONSES = {
    "math": ("12", "13", {"ground_truth": "12"}),
    "code": (
        f"{FENCE}python\ndef double(x):\n    return 2 * x\n{FENCE}",
        "def double(x):\n    return x + 1",
        {"ground_truth": ["assert double(3) == 6", "assert double(0) == 0"]},
    ),
    "format_length": ("<answer>sun sun</answer>", "sun sun", {"columns": {"words": 2}}),
}


@pytest.fixture(autouse=True)
def _from_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_recipes_are_those_that_the_page_lists():
    page = (ROOT / "examples" / "recipes" / "README.md").read_text()
    assert RECIPES == ["agent", "code", "format_length", "math"]
    assert all(f"examples/recipes/{name}/config.yaml" in page for name in RECIPES)
    shown = re.findall(r"\]\((\w+/\w+\.png)\)", page)
    assert shown
    assert all((ROOT / "examples" / "recipes" / path).is_file() for path in shown)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipes_config_and_data_fit_each_other(name):
    config = load_config(f"examples/recipes/{name}/config.yaml")
    task = load_task(config, config.training.reward_function)
    assert len(task.prompts) >= 2 * config.sampling.prompts_per_step
    assert task.held_out
    assert not set(task.prompts.keys) & set(task.held_out.keys)
    assert all(row.ground_truth is not None for row in task.prompts)


@pytest.mark.parametrize("name", RESPONSES)
def test_the_reward_of_a_recipe_ranks_good_responses_above_bad_ones(name):
    good, bad, told = RESPONSES[name]
    reward = load(load_config(f"examples/recipes/{name}/config.yaml").training.reward_function)
    better, worse = score(reward, [Trajectory("?", response, **told) for response in (good, bad)])
    assert better.reward == better.score == 1.0
    assert worse.reward < better.reward
    assert worse.score == 0.0


@pytest.mark.parametrize("name", ["agent", "format_length"])
def test_a_recipe_of_the_embedded_model_takes_steps(name, tmp_path, capsys):
    inline = [] if name == "agent" else ["training.reward_backend=inline"]
    with pytest.raises(SystemExit) as exited:
        main(["train", f"examples/recipes/{name}/config.yaml", f"output_dir={tmp_path}/run", *SHORT, *inline, "--json"])
    assert exited.value.code == 0
    assert json.loads(capsys.readouterr().out)["step"] == 2
    rows = metrics(tmp_path / "run")
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert all("reward" in row for row in rows[1:])
