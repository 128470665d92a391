"""Rewards in training scripts and notebooks: what the script cannot do here does not keep its rewards from loading."""

import os

import pytest

from plaudit import Trajectory, load, score
from plaudit.errors import RewardNotLoaded

SCRIPT = """
import re
import absent_trainer
from absent_trainer import Model, Config as Settings
from absent_kit import *

model, tokenizer = Model.from_pretrained("big", dtype=absent_trainer.bfloat16)
ANSWER = re.compile(r"<answer>(.*?)</answer>")
RULES = {"bonus": 0.5}
client = 1 / 0


def right(completions, answer, config: Settings | None = None, **kwargs):
    return [found_in(text) for text in completions]


def found_in(text):
    return 1.0 if ANSWER.search(text) else 0.0


def needs_model(completions, **kwargs):
    return [encode(text) for text in completions]


def encode(text):
    return float(len(tokenizer(text)))


def needs_star(completions, **kwargs):
    return [starred(text) for text in completions]


def needs_client_for_some(completions, **kwargs):
    return [client(text) if "ask" in text else 0.5 for text in completions]


class Trainer(Model):
    def train(self):
        pass


trainer = Trainer(model, reward_funcs=[right])
trainer.train()
RULES["bonus"] = trainer.bonus


def needs_rules(completions, **kwargs):
    return [RULES["bonus"] for _ in completions]
"""


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "grpo.py"
    file.write_text(SCRIPT)
    return file


@pytest.fixture
def samples():
    return [Trajectory("p", "<answer>4</answer>", ground_truth="4"), Trajectory("p", "ask", ground_truth="4")]


def test_a_reward_that_needs_nothing_absent_scores_as_at_home(script, samples):
    with pytest.warns(UserWarning, match=r"grpo.py, line 3 \(and \d+ more\) could not run here.*absent_trainer"):
        reward = load(f"{script}:right")
    assert [output.reward for output in score(reward, samples)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "package"),
    [("needs_model", "absent_trainer"), ("needs_star", "absent_kit"), ("Trainer", "absent_trainer")],
)
def test_a_reward_that_needs_an_absent_package_is_refused_with_its_name(script, name, package):
    with pytest.raises(RewardNotLoaded, match=rf"{name} failed: ModuleNotFoundError: No module named '{package}'"):
        load(f"{script}:{name}")


def test_a_reward_that_may_use_what_could_not_be_computed_is_refused(script):
    with pytest.raises(RewardNotLoaded, match=r"line 10: `client = 1 / 0`\); needs_client_for_some uses client"):
        load(f"{script}:needs_client_for_some")


def test_a_reward_that_reads_an_object_of_a_failed_statement_is_refused(script):
    with pytest.raises(RewardNotLoaded, match="absent_trainer"):
        load(f"{script}:needs_rules")


def test_an_exception_that_a_file_raises_is_a_load_error(tmp_path):
    (tmp_path / "strict.py").write_text("raise SystemExit('GPU only')\n\ndef reward(response):\n    return 1.0\n")
    with pytest.raises(RewardNotLoaded, match="GPU only"):
        load(f"{tmp_path}/strict.py")


def test_a_main_function_that_cannot_be_defined_does_not_hide_the_only_reward(tmp_path):
    (tmp_path / "run.py").write_text(
        "import absent_config\n\n@absent_config.main()\ndef main(config):\n    pass\n\n"
        "def compute_score(solution_str, ground_truth):\n    return 1.0\n"
    )
    with pytest.warns(UserWarning, match="absent_config"):
        assert load(f"{tmp_path}/run.py").name == "compute_score"


def test_a_file_in_a_copy_of_a_trainer_loads_where_the_package_does_not(tmp_path):
    folder = tmp_path / "forked_trainer" / "scores"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('GPU only')\n")
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text("def half():\n    return 0.5\n")
    source = "from .parts import half\n\ndef compute_score(solution_str, ground_truth):\n    return half()\n"
    (folder / "gsm8k.py").write_text(source)
    with pytest.warns(UserWarning, match="forked_trainer.scores cannot be imported here.*GPU only"):
        reward = load(f"{folder}/gsm8k.py")
    assert reward([Trajectory("p", "r", ground_truth="t")]) == [0.5]


def test_a_neighbour_may_import_absent_packages_that_the_reward_does_not_use(tmp_path):
    (tmp_path / "data_kit.py").write_text(
        "import absent_loader\n\nMARK = 'ANSWER'\n\ndef rows():\n    return absent_loader.load()\n"
    )
    (tmp_path / "scores.py").write_text(
        "from data_kit import MARK, rows\n\ndef marked(response):\n    return float(MARK in response)\n\n"
        "def ranked(response):\n    return float(rows().index(response))\n"
    )
    assert load(f"{tmp_path}/scores.py:marked")([Trajectory("p", "ANSWER 4")]) == [1.0]
    with pytest.raises(RewardNotLoaded, match=r"'absent_loader' .*data_kit.py, line 1: .*pip install absent_loader"):
        load(f"{tmp_path}/scores.py:ranked")


def test_any_other_failure_of_a_neighbour_is_a_failure_of_the_import(tmp_path):
    (tmp_path / "table_kit.py").write_text("import absent_loader\nTABLE = absent_loader.load()\nMARK = 'ANSWER'\n")
    (tmp_path / "scores.py").write_text(
        "from table_kit import MARK\n\ndef marked(response):\n    return float(MARK in response)\n\n"
        "def short(response):\n    return 1.0\n"
    )
    with pytest.raises(RewardNotLoaded, match=r"No module named 'absent_loader'.*line 1: `from table_kit import MARK`"):
        load(f"{tmp_path}/scores.py:marked")
    with pytest.warns(UserWarning, match="absent_loader"):
        assert load(f"{tmp_path}/scores.py:short")([Trajectory("p", "r")]) == [1.0]


def test_names_that_a_package_makes_on_demand_are_found(tmp_path, monkeypatch):
    (tmp_path / "lazy_rewards.py").write_text(
        "import sys, types\n\nclass Lazy(types.ModuleType):\n    def __getattr__(self, name):\n"
        "        if name != 'asked':\n            raise AttributeError(name)\n"
        "        return lambda response: 1.0\n\nsys.modules[__name__].__class__ = Lazy\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load("lazy_rewards:asked")([Trajectory("p", "r")]) == [1.0]
    with pytest.raises(RewardNotLoaded, match="no 'other' in lazy_rewards"):
        load("lazy_rewards:other")


def test_rewards_load_in_a_folder_that_was_deleted(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert load("length(target=3)").name
    with pytest.raises(RewardNotLoaded, match="working folder was deleted"):
        load("rewards.py:quality")
    os.chdir(tmp_path)


def test_a_script_reads_its_own_command_line_and_asserts_about_it_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["plaudit", "score", "--step", "9"])
    path = tmp_path / "script.py"
    path.write_text(
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--step', type=int, default=3)\n"
        "args = parser.parse_args()\nparser.add_argument('data')\nmore = parser.parse_args()\nassert more.data\n\n"
        "def mine(completions, **kwargs): return [float(args.step) for _ in completions]\n"
    )
    with pytest.warns(UserWarning, match="line 7 could not run here"):
        assert load(f"{path}:mine")([Trajectory("q", "a")]) == [3.0]
