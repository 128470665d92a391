"""`plaudit run` executes scripts that import packages which are not installed."""

import subprocess
import sys
import textwrap

import pytest

IMPORTS = """
    from flux.rewards import RewardFunction
    from twinkle.reward import MathReward
    from agent_tunix.rewards import check_answer
    from openrlhf.utils.agent import AgentExecutorBase
"""


@pytest.fixture
def script(tmp_path):
    def write(source, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return path

    return write


def test_a_script_imports_stubbed_packages_and_prints_to_standard_output(plaudit, script):
    script("helper = 'beside it'", "helpers.py")
    script(
        IMPORTS
        + """
    import sys
    import helpers
    if __name__ == "__main__":
        print(check_answer("The answer is 4.", "4"), helpers.helper, sys.argv)
    """
    )
    ran = plaudit("run", "script.py", "--debug", "-q")
    assert (ran.code, ran.out) == (0, "1.0 beside it ['script.py', '--debug', '-q']\n")


def test_nothing_of_the_script_is_left_when_it_has_ended(plaudit, script):
    before = list(sys.argv), list(sys.path), list(sys.meta_path)
    script(IMPORTS)
    plaudit("run", "script.py")
    assert (list(sys.argv), list(sys.path), list(sys.meta_path)) == before
    assert "flux" not in sys.modules


def test_a_module_runs_as_with_python_m(plaudit, script):
    script("import flux.rewards\nprint(__name__)", "my_module.py")
    assert plaudit("run", "-m", "my_module").out == "__main__\n"


def test_an_error_of_the_script_is_shown_from_the_script_on(plaudit, script):
    script("def fail():\n    return 1 / 0\nfail()")
    ran = plaudit("run", "script.py")
    assert ran.code == 1
    assert ran.err.splitlines()[:2] == ["Traceback (most recent call last):", '  File "script.py", line 3, in <module>']
    assert ran.err.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_the_exit_code_of_the_script_is_that_of_the_command(plaudit, script):
    script("import sys\nsys.exit(3)")
    assert plaudit("run", "script.py").code == 3


def test_a_missing_script_is_an_error_that_names_it(plaudit):
    ran = plaudit("run", "absent.py")
    assert ran.code == 2
    assert "absent.py" in ran.err


def test_a_name_that_a_package_of_the_script_has_comes_with_the_import_to_write(plaudit, script):
    script("from flux.rewards import CompositeReward\nLengthReward(target=200)")
    ran = plaudit("run", "script.py")
    assert "NameError: name 'LengthReward' is not defined; write: from flux.rewards import LengthReward" in ran.err


def test_install_stubs_makes_the_packages_importable_in_any_process(script):
    path = script("import plaudit\nplaudit.install_stubs()\nplaudit.install_stubs()\n" + textwrap.dedent(IMPORTS))
    subprocess.run([sys.executable, path], check=True, timeout=60)
