"""reward.lock: the same in every checkout, and every change is named."""

import json
import shutil

import pytest

from plaudit.ci import read_project, require_lock, write_lock
from plaudit.engine import reward_key
from plaudit.errors import InvalidSettings
from plaudit.loading import load
from tests.ci.projects import PYPROJECT, REWARD, write_project

LOCKED = PYPROJECT + 'data = ["prompts.jsonl"]\n'


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("project"), pyproject__toml=LOCKED, prompts__jsonl='{"prompt": 1}\n')
    (folder / "helper.py").write_text("LIMIT = 3\n")
    (folder / "reward.py").write_text(f"import helper\n\n{REWARD}")
    write_lock(read_project(folder))
    return folder


def test_a_lock_holds_the_key_of_the_cache_the_data_and_a_card(project):
    entry = json.loads((project / "reward.lock").read_text())["rewards"]["quality"]
    assert entry["key"] == reward_key(load(f"{project}/reward.py:quality"))
    assert set(entry["files"]) == {"reward.py", "helper.py"}
    assert set(entry["data"]) == {"reward.cases.yaml", "rollouts.jsonl", "prompts.jsonl"}
    assert entry["card"]["doc"] == "1.0 for the right number at the end."
    assert str(project) not in (project / "reward.lock").read_text()


def test_a_checkout_elsewhere_and_with_windows_line_ends_is_the_same(project, tmp_path):
    shutil.copytree(project, tmp_path / "copy")
    for file in (tmp_path / "copy").glob("*.*"):
        if file.name != "reward.lock":
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    write_lock(read_project(tmp_path / "copy"))
    assert (tmp_path / "copy" / "reward.lock").read_bytes() == (project / "reward.lock").read_bytes()
    reward = load(f"{tmp_path}/copy/reward.py:quality")
    require_lock(project / "reward.lock", reward, str(tmp_path / "copy" / "prompts.jsonl"))


CHANGES = {
    "its file": ("reward.py", REWARD.replace("0.0", "0.1"), "file reward.py changed"),
    "a module that it imports": ("helper.py", "LIMIT = 4\n", "file helper.py changed"),
    "a new module": ("reward.py", f"import helper, json\nimport other\n{REWARD}", "file other.py is new"),
    "the lock's Python": ("reward.lock", ('"python": "', '"python": "0.'), "Python 0."),
    "the lock's plaudit": ("reward.lock", ('"plaudit": "', '"plaudit": "0.0.'), "plaudit 0.0."),
}


@pytest.mark.parametrize(("file", "text", "message"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_named_with_a_remedy(project, tmp_path, file, text, message):
    folder = tmp_path / "copy"
    shutil.copytree(project, folder)
    (folder / "other.py").write_text("")
    path = folder / file
    path.write_text(path.read_text().replace(*text) if isinstance(text, tuple) else text)
    with pytest.raises(InvalidSettings, match=message) as raised:
        require_lock(folder / "reward.lock", load(f"{folder}/reward.py:quality"))
    assert "plaudit lock" in str(raised.value)


def test_other_data_and_other_rewards_are_refused(project, tmp_path):
    reward = load(f"{project}/reward.py:quality")
    (tmp_path / "prompts.jsonl").write_text('{"prompt": 2}\n')
    with pytest.raises(InvalidSettings, match="no data with the content of"):
        require_lock(project / "reward.lock", reward, str(tmp_path / "prompts.jsonl"))
    with pytest.raises(InvalidSettings, match=r"no reward like MathReward \(it has quality\)"):
        require_lock(project / "reward.lock", load("math"))
    with pytest.raises(InvalidSettings, match="`plaudit lock` writes it"):
        require_lock(tmp_path / "reward.lock", reward)
    for broken in ("", "{}", '{"version": 1, "rewards": {"a": 1}}', '{"version": 2, "rewards": {}}'):
        (tmp_path / "reward.lock").write_text(broken)
        with pytest.raises(InvalidSettings, match="write it again with `plaudit lock`"):
            require_lock(tmp_path / "reward.lock", reward)
