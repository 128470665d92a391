"""The test run itself: it ends and names the test, whatever a test does to its worker."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIES = "import os, signal\ndef test_before(): pass\ndef test_dies(): os.kill(os.getpid(), signal.SIGILL)\n"


def run_as_make_does(folder, files, *arguments):
    """Run files of tests with the options of the Makefile, on two workers."""
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    [options] = re.findall(r"^PYTEST_OPTIONS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    command = [sys.executable, "-m", "pytest", *options.replace("$(TEST_WORKERS)", "2").split(), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with open(folder / "output", "w") as output:  # a pipe would be open as long as any process that a test has left
        done = subprocess.run(
            [*command, "-p", "tests.workers"], cwd=folder, env=environment, stdout=output, timeout=240
        )
    return done.returncode, (folder / "output").read_text()


def test_a_test_that_kills_its_worker_fails_by_name_and_the_others_run(tmp_path):
    files = {f"test_{name}.py": f"{DIES}def test_after(): pass\n" for name in "abc"}
    code, printed = run_as_make_does(tmp_path, {**files, "test_d.py": "def test_fine(): pass\n"})
    assert code == 1, printed
    for name in "abc":
        assert f"the worker ended with signal SIGILL while running 'test_{name}.py::test_dies'" in printed
    assert "3 failed, 7 passed" in printed


def test_the_last_test_of_all_may_kill_its_worker(tmp_path):
    code, printed = run_as_make_does(tmp_path, {"test_only.py": DIES})
    assert code == 1, printed
    assert "while running 'test_only.py::test_dies'" in printed
    assert "1 failed, 1 passed" in printed


def test_a_test_that_hangs_fails_by_name(tmp_path):
    hangs = "import time\ndef test_hangs(): time.sleep(10_000)\ndef test_after(): pass\n"
    code, printed = run_as_make_does(tmp_path, {"test_hanging.py": hangs}, "--timeout", "1")
    assert code == 1, printed
    assert "FAILED test_hanging.py::test_hangs - Failed: Timeout" in printed
    assert "1 failed, 1 passed" in printed


def test_a_process_that_outlives_its_worker_does_not_hold_up_the_run(tmp_path):
    leaves = "import os, time\ndef test_leaves():\n    if os.fork() == 0:\n        time.sleep(50)\n    os._exit(7)\n"
    began = time.monotonic()
    _, printed = run_as_make_does(tmp_path, {"test_leaving.py": leaves, "test_fine.py": "def test_fine(): pass\n"})
    assert "the worker ended with exit code 7 while running 'test_leaving.py::test_leaves'" in printed
    assert "1 failed, 1 passed" in printed
    assert time.monotonic() - began < 45


def test_what_a_test_prints_and_warns_of_is_shown(tmp_path):
    text = "import warnings\ndef test_fails():\n    warnings.warn('a warning')\n    print('a line')\n    assert 0\n"
    _, printed = run_as_make_does(tmp_path, {"test_printing.py": text})
    assert "a line" in printed.partition("Captured stdout call")[2]
    assert "a warning" in printed.partition("warnings summary")[2]
