"""The table of what ran against the real packages, and the commands that use it."""

import runpy
import tomllib
from pathlib import Path

import pytest

from plaudit.cli import main
from plaudit.dialects import known_systems
from plaudit.exports.compat import compat_rows
from plaudit.exports.exporting import EXPORTS

PROJECT = Path(__file__).parents[2]


def test_the_page_of_systems_is_up_to_date():
    compat_page = runpy.run_path(str(PROJECT / "compat" / "page.py"))["compat_page"]
    assert (PROJECT / "docs" / "systems.md").read_text() == compat_page(), "run `make compat`, or write the page anew"


def test_every_system_has_a_row_and_claims_no_run_without_a_version():
    rows = compat_rows()
    assert {row.system for row in rows} == set(known_systems())
    for row in rows:
        cells = {row.imported, row.exported, row.groups, row.unscored}
        assert bool(row.version) == bool(row.date)
        assert row.version or cells <= {"contract", ""}


def test_every_environment_has_a_home():
    environments = tomllib.loads((PROJECT / "compat" / "environments.toml").read_text())
    assert {path.stem for path in (PROJECT / "compat" / "homes").glob("*.py")} - {"__init__"} == set(environments)


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(list(arguments))
    return exited.value.code or 0


def test_compat_prints_a_line_for_every_row(capfd):
    assert run("compat") == 0
    printed = capfd.readouterr().out
    assert all(any(line.startswith(row.system) for line in printed.splitlines()) for row in compat_rows())


@pytest.mark.parametrize("trainer", [name for name in EXPORTS if name != "inspect"])
def test_export_writes_a_file_that_compiles_and_prints_how_to_use_it(trainer, tmp_path, monkeypatch, capfd):
    (tmp_path / "rewards.py").write_text("def quality(response):\n    return 1.0\n")
    monkeypatch.chdir(tmp_path)
    assert run("export", "rewards.py:quality", trainer, "-o", "my_shim.py") == 0
    compile((tmp_path / "my_shim.py").read_text(), "my_shim.py", "exec")
    printed = capfd.readouterr()
    assert "my_shim" in printed.out
    assert "wrote my_shim.py" in printed.err


def test_a_shim_keeps_the_columns_that_were_chosen(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run("export", "math", "trl", "-o", "my_shim.py", "-c", "ground_truth=expected", "--workers", "1") == 0
    text = (tmp_path / "my_shim.py").read_text()
    assert "columns={'ground_truth': 'expected'}" in text
    names = {}
    exec(compile(text, "my_shim.py", "exec"), names)
    assert names["reward"](prompts=["2+2?"], completions=["4"], expected=["4"]) == [1.0]
    names["reward"].close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("math", "vrl", "-o", "a.py"), "no export for 'vrl'; did you mean 'verl'"),
        (("math", "verl", "-o", "my-shim.py"), "my-shim.py cannot be imported; call it for example verl_reward.py"),
        (("math", "verl", "-o", "there.py"), "there.py exists; --overwrite replaces it"),
        (("math", "trl", "-o", "out.py", "--deadline", "-1"), "deadline_s must be positive, got -1"),
        (("math", "trl", "-o", "out.py", "--on-unscored", "nona"), "did you mean 'none'?"),
        (
            ("math", "verl", "-o", "a.py", "--on-unscored", "nan"),
            "on_unscored for verl is one of mean, raise, got 'nan'",
        ),
    ],
)
def test_a_wrong_export_gives_a_remedy(arguments, message, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.py").write_text("")
    assert run("export", *arguments) == 2
    assert message in capfd.readouterr().err
    assert not (tmp_path / "a.py").exists()
