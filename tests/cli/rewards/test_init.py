"""What `plaudit init` writes works at once."""

import subprocess
import sys

import pytest


@pytest.fixture
def project(plaudit, tmp_path, monkeypatch):
    assert plaudit("init", "new").code == 0
    monkeypatch.chdir(tmp_path / "new")
    return tmp_path / "new"


def test_the_cases_pass_and_the_contract_is_kept(plaudit, project):
    assert "5 of 5 cases passed" in plaudit("test", "reward.cases.yaml").out
    assert "nothing found" in plaudit("check", "reward.py:quality", "rollouts.jsonl").out


def test_the_audit_finds_nothing_that_its_reward_pays_for_wrongly(plaudit, project):
    ran = plaudit("audit", "reward.py:quality", "rollouts.jsonl")
    assert (ran.code, "no exploit" in ran.out) == (0, True)


def test_its_rollouts_are_scored_and_explained(plaudit, project):
    ran = plaudit("score", "reward.py:quality", "rollouts.jsonl", "--json", "-q")
    assert ran.json["statuses"] == {"ok": 12}
    assert 0 < ran.json["reward"]["mean"] < 1
    assert "'12 + 5 = 18' is not '17'" in plaudit("explain", "reward.py:quality", "rollouts.jsonl").out


def test_its_tests_pass(project):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", str(project)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout


def test_its_config_trains(plaudit, project):
    small = ["steps=1", "sampling.prompts_per_step=2", "sampling.samples_per_prompt=2", "model.warm_start_steps=1"]
    ran = plaudit("train", "train.yaml", *small, "eval.prompts=2", "--json", "-q")
    assert ran.code == 0, ran.err
    assert (project / "run" / "model").exists()


def test_init_overwrites_files_only_with_overwrite(plaudit, project):
    (project / "reward.py").write_text("precious\n")
    ran = plaudit("init")
    assert ran.code == 2
    assert "reward.py" in ran.err
    assert (project / "reward.py").read_text() == "precious\n"
    assert plaudit("init", "--overwrite").code == 0
    assert "precious" not in (project / "reward.py").read_text()
