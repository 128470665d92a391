"""The released version out of git: which one it is, and how its files are written."""

import pytest

from plaudit.ci.project import NoRelease, check_out, find_release
from plaudit.errors import InvalidSettings
from tests.ci.projects import git, release, write_project


def test_the_newest_matching_tag_of_the_history_is_taken(tmp_path):
    folder = write_project(tmp_path)
    release(folder, "v1.9")
    release(folder, "v1.10")
    release(folder, "data-3")
    git(folder, "checkout", "--quiet", "-b", "other")
    release(folder, "v2.0")
    git(folder, "checkout", "--quiet", "main")
    assert find_release(folder, "v*").ref == "v1.10"
    assert find_release(folder, "v*", "v2.0").ref == "v2.0"
    with pytest.raises(NoRelease, match="no tag matches 'w\\*'; in a shallow clone"):
        find_release(folder, "w*")
    for unknown in ("nope", "--output=x"):
        with pytest.raises(InvalidSettings, match="git has no commit"):
            find_release(folder, "v*", unknown)


def test_no_repository_and_no_commit_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(NoRelease, match="not a git repository"):
        find_release(write_project(tmp_path / "a"), "*")
    git(write_project(tmp_path / "b"), "init", "--quiet")
    with pytest.raises(NoRelease, match="the repository has no commit"):
        find_release(tmp_path / "b", "*")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoRelease, match="git is not installed"):
        find_release(tmp_path / "b", "*")


def test_a_project_in_a_subfolder_is_checked_out_with_its_repository_and_nothing_else_changes(tmp_path, monkeypatch):
    folder = write_project(tmp_path / "repository" / "rewards")
    (tmp_path / "repository" / ".gitattributes").write_text("*.py text eol=crlf\n")
    release(tmp_path / "repository")
    (folder / "reward.py").write_text("broken")
    git(tmp_path / "repository", "add", "--all")
    monkeypatch.setenv("GIT_DIR", "nowhere")  # as in a hook
    monkeypatch.setenv("GIT_INDEX_FILE", "nowhere")
    before = (tmp_path / "repository" / ".git" / "index").read_bytes()
    chosen = find_release(folder, "*")
    old = check_out(chosen, folder, tmp_path)
    assert chosen.is_dirty
    assert old == tmp_path / "tree" / "rewards"
    assert b"words[-1] == ground_truth)\r\n" in (old / "reward.py").read_bytes()
    assert (folder / "reward.py").read_text() == "broken"
    assert (tmp_path / "repository" / ".git" / "index").read_bytes() == before


def test_a_folder_that_the_release_lacks_is_named(tmp_path):
    write_project(tmp_path)
    release(tmp_path)
    later = write_project(tmp_path / "later")
    (tmp_path / "out").mkdir()
    with pytest.raises(NoRelease, match=r"v1\.0 has no folder later"):
        check_out(find_release(later, "*"), later, tmp_path / "out")
