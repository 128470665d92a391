import json
import os
import subprocess
import sys

import plaudit as package


def test_version_is_the_packages(plaudit):
    assert plaudit("--version").out.startswith(f"plaudit {package.__version__} ")


def test_no_arguments_show_the_help_and_no_error(plaudit):
    ran = plaudit()
    assert (ran.code, "error" in ran.err) == (2, False)
    assert ran.out.strip() == plaudit("--help").out.strip()
    for command in ("score", "explain", "test", "check", "rewards", "serve"):
        assert command in ran.out


def test_the_convention_by_which_a_file_was_read_is_printed(plaudit, rollouts, tmp_path):
    (tmp_path / "reward_func.py").write_text(
        "def reward_func(queries, prompts, labels):\n    return {'rewards': [1.0] * len(queries)}\n"
    )
    ran = plaudit("score", "reward_func.py", rollouts)
    assert "OpenRLHF" in ran.err
    assert ran.code == 0


def test_importing_is_quick_for_the_command_line():
    code = "import sys, plaudit.cli; print([m for m in ('torch', 'numpy', 'pyarrow', 'pytest') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []


def test_every_command_explains_itself_with_a_short_option(plaudit):
    assert plaudit("-h").out == plaudit("--help").out
    for command in ("score", "explain", "test", "check", "train", "verify", "run-code", "doctor", "rewards"):
        ran = plaudit(command, "-h")
        assert (ran.code, f"Usage: plaudit {command}" in ran.out) == (0, True)


def test_the_shell_can_complete_commands(monkeypatch):
    environment = {"_PLAUDIT_COMPLETE": "complete_bash", "COMP_WORDS": "plaudit sc", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "plaudit"], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.stdout.split() == ["score"]
